//go:build browser

package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Each page is within the window at every width, and axe-core finds nothing, in both themes.
func TestEachPage(t *testing.T) {
	for _, name := range names() {
		for _, theme := range []string{"light", "dark"} {
			for _, s := range []size{{390, 844}, desktop, {2560, 1440}} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, theme, s.width), func(t *testing.T) {
					p := open(t, name, theme, s)
					require.LessOrEqual(t, eval[int](p, "document.documentElement.scrollWidth"), int(s.width), "it does not scroll sideways")
					p.shoot(fmt.Sprintf("%s-%s-%d", name, theme, s.width))
					if s.width != 2560 {
						p.accessible()
					}
				})
			}
		}
	}
}

// Each stage is as accessible as the first one.
func TestEachStage(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		for _, name := range []string{"cycle", "group-preempts"} {
			stages := eval[[]string](open(t, name, theme, desktop), "[...document.querySelectorAll('.stage')].map(s => s.dataset.name)")
			require.Greater(t, len(stages), 4)
			for _, at := range stages {
				t.Run(theme+"/"+name+"/"+at, func(t *testing.T) {
					p := open(t, name+"#stage-"+at, theme, desktop)
					require.Equal(t, at, eval[string](p, "document.querySelector('[data-staged]').dataset.stage"))
					p.accessible()
					p.shoot(fmt.Sprintf("%s-%s-at-%s", name, theme, at))
				})
			}
		}
	}
}

// shoot saves a picture, if PICTURES names a folder.
func (p *tab) shoot(name string) {
	folder := os.Getenv("PICTURES")
	if folder == "" {
		return
	}
	var picture []byte
	p.run(chromedp.CaptureScreenshot(&picture))
	picture, err := small(picture)
	require.NoError(p, err)
	require.NoError(p, os.MkdirAll(folder, 0o755))
	require.NoError(p, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
}

// violation is one of axe-core.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible holds the page against all rules of axe-core for WCAG 2.2 AA, and its best practices.
func (p *tab) accessible() {
	p.Helper()
	p.run(chromedp.Evaluate(axe, nil))
	for _, v := range eval[[]violation](p, "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))") {
		p.Errorf("%s: %s\n%v", v.ID, v.Help, v.Nodes)
	}
}

const (
	current = "document.querySelector('[data-steps] [aria-current]').hash"
	visible = "[...document.querySelectorAll('.stage')].filter(s => s.getClientRects().length > 0).map(s => s.id)"
	focused = "(document.activeElement.querySelector(':scope > title, .nname') ?? document.activeElement).textContent.split('\\n')[0]"
	details = "document.querySelector('[data-detail]').innerText"
)

// The stages can be walked with keys and buttons.
func TestSteps(t *testing.T) {
	p := open(t, "cycle", "light", desktop)
	require.Equal(t, []string{"stage-filter"}, eval[[]string](p, visible))
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "eligible"}, {kb.ArrowRight, "potential"}, {kb.ArrowLeft, "eligible"}, {kb.End, "actuate"}, {kb.ArrowRight, "actuate"}, {kb.ArrowLeft, "pick"}, {kb.Home, "filter"}, {kb.ArrowLeft, "filter"},
	} {
		p.run(chromedp.KeyEvent(step.key))
		require.Equal(t, "#stage-"+step.want, eval[string](p, current))
		require.Equal(t, []string{"stage-" + step.want}, eval[[]string](p, visible))
	}
	p.run(chromedp.Click(`button[aria-label="Next"]`, chromedp.ByQuery), chromedp.Click(`button[aria-label="Next"]`, chromedp.ByQuery), chromedp.Click(`button[aria-label="Previous"]`, chromedp.ByQuery))
	require.Equal(t, "#stage-eligible", eval[string](p, current))
	p.run(chromedp.Click(`[data-steps] a[href="#stage-pick"]`, chromedp.ByQuery))
	require.Equal(t, "#stage-pick", eval[string](p, current))
}

// Marks of victims are shown from the dry run on, and what is after preemption from the pick on.
func TestMarks(t *testing.T) {
	p := open(t, "cycle", "light", desktop)
	seen := func(what string) bool {
		return eval[bool](p, fmt.Sprintf("[...document.querySelectorAll('.map %s')].some(e => e.getClientRects().length > 0)", what))
	}
	require.False(t, seen(".nodes .victim .mark"))
	require.False(t, seen(".bar.after"))
	p.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	require.True(t, seen(".nodes .victim .mark"))
	require.False(t, seen(".bar.after"))
	p.run(chromedp.KeyEvent(kb.End))
	require.True(t, seen(".bar.after"))
	require.True(t, seen(".tag.picked"))
}

// The keys go through nodes and pods, from one stop for Tab, and the panel tells of each.
func TestFocus(t *testing.T) {
	p := open(t, "budget", "light", desktop)
	require.Equal(t, 1, eval[int](p, "document.querySelectorAll('.map [data-rove] [tabindex=\"0\"]').length"))
	p.run(chromedp.Focus(`.map [data-rove] [tabindex="0"]`, chromedp.ByQuery))
	require.Equal(t, "node-1", eval[string](p, focused))
	require.Contains(t, eval[string](p, details), "Insufficient cpu")
	stage := eval[string](p, current)
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	require.Equal(t, "default/h", eval[string](p, focused))
	require.Contains(t, eval[string](p, details), "priority 20")
	require.Contains(t, eval[string](p, details), "reprieved")
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	require.Equal(t, "default/l", eval[string](p, focused))
	require.Contains(t, eval[string](p, details), "violates the budget default/foo")
	p.run(chromedp.KeyEvent(kb.ArrowDown))
	require.Equal(t, "node-2", eval[string](p, focused))
	p.run(chromedp.KeyEvent(kb.ArrowUp))
	require.Equal(t, "node-1", eval[string](p, focused))
	require.Equal(t, stage, eval[string](p, current), "the arrows do not walk the stages meanwhile")
	require.Equal(t, 1, eval[int](p, "document.querySelectorAll('.map [data-rove] [tabindex=\"0\"]').length"))
}

// Who points at a pod is told of it, in whatever bar.
func TestHover(t *testing.T) {
	p := open(t, "budget", "light", desktop)
	for _, bar := range []int{0, 1} {
		at := eval[[]float64](p, fmt.Sprintf("(() => { const r = document.querySelectorAll('.map .node')[1].querySelectorAll('.bar:not(.after)')[%d].querySelector('.victim rect').getBoundingClientRect(); return [r.x + 5, r.y + 5] })()", bar))
		p.run(chromedp.MouseEvent("mouseMoved", 1, 1), chromedp.MouseEvent("mouseMoved", at[0], at[1]))
		require.Contains(t, eval[string](p, details), "default/other", "bar %d", bar)
	}
}

// A table is sorted by a column, both ways, and says so.
func TestSort(t *testing.T) {
	p := open(t, "cycle", "light", desktop)
	const column = "[...document.querySelectorAll('table[data-sortable] tbody tr')].map(r => r.cells[1].textContent.trim().split(' ')[0])"
	head := `table[data-sortable] thead th:nth-child(2) button`
	p.run(chromedp.Click(head, chromedp.ByQuery))
	require.Equal(t, []string{"node1", "node2", "node3", "node4"}, eval[[]string](p, column))
	require.Equal(t, "ascending", eval[string](p, "document.querySelector('table[data-sortable] thead th:nth-child(2)').ariaSort"))
	p.run(chromedp.Click(head, chromedp.ByQuery))
	require.Equal(t, []string{"node4", "node3", "node2", "node1"}, eval[[]string](p, column))
	require.Equal(t, "descending", eval[string](p, "document.querySelector('table[data-sortable] thead th:nth-child(2)').ariaSort"))
	p.run(chromedp.Click(`table[data-sortable] thead th:nth-child(1) button`, chromedp.ByQuery))
	require.Equal(t, []float64{1, 2, 3, 4}, eval[[]float64](p, "[...document.querySelectorAll('table[data-sortable] tbody tr')].map(r => Number(r.cells[0].textContent))"))
	require.Equal(t, 1, eval[int](p, "document.querySelectorAll('table[data-sortable] [aria-sort]').length"))
}

// The theme is that of the system, until the button is pressed.
func TestTheme(t *testing.T) {
	const background = "getComputedStyle(document.body).backgroundColor"
	light, dark := eval[string](open(t, "cycle", "light", desktop), background), eval[string](open(t, "cycle", "dark", desktop), background)
	require.NotEqual(t, light, dark)
	p := open(t, "cycle", "light", desktop)
	p.run(chromedp.Click("button.theme", chromedp.ByQuery))
	require.Equal(t, dark, eval[string](p, background))
	p.run(chromedp.Click("button.theme", chromedp.ByQuery))
	require.Equal(t, light, eval[string](p, background))
	p.run(chromedp.Evaluate("localStorage.clear()", nil))
}

// Who wants no motion gets none.
func TestReducedMotion(t *testing.T) {
	p := open(t, "cycle", "light", desktop)
	const moves = "getComputedStyle(document.querySelector('[data-stage] .bar')).transitionDuration"
	require.NotEqual(t, "0s", eval[string](p, moves))
	p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}))
	require.Equal(t, "0s", eval[string](p, moves))
}

// On paper all stages are there, and no buttons.
func TestPrint(t *testing.T) {
	p := open(t, "cycle", "dark", desktop)
	p.run(chromedp.Click("button.theme", chromedp.ByQuery), chromedp.Click("button.theme", chromedp.ByQuery)) // dark by choice, too
	const paper = "getComputedStyle(document.documentElement).getPropertyValue('--p0')"
	dark := eval[string](p, paper)
	p.run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	require.NotEqual(t, dark, eval[string](p, paper), "paper is light")
	for _, what := range []string{".victim .mark", ".victim .sign", ".bar.after", ".tag.picked"} {
		require.True(t, eval[bool](p, fmt.Sprintf("[...document.querySelectorAll('.nodes %s')].some(e => e.getClientRects().length > 0)", what)), what)
	}
	require.Equal(t, []string{"stage-filter", "stage-eligible", "stage-potential", "stage-dryrun", "stage-candidates", "stage-pick", "stage-actuate"}, eval[[]string](p, visible))
	require.Zero(t, eval[int](p, "[...document.querySelectorAll('.steps, button.theme, .detail')].filter(e => e.getClientRects().length > 0).length"))
	require.Equal(t, "rgb(255, 255, 255)", eval[string](p, "getComputedStyle(document.body).backgroundColor"))
	p.shoot("printed")
	p.run(chromedp.Evaluate("localStorage.clear()", nil))
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		paper, _, err := page.PrintToPDF().Do(ctx)
		require.True(t, strings.HasPrefix(string(paper), "%PDF"))
		return err
	}))
}

// The moments of a timeline can be walked, and the line goes along.
func TestMoments(t *testing.T) {
	p := open(t, "timeline", "light", desktop)
	const at = "document.querySelector('[data-moments] [aria-current]').dataset.x === document.querySelector('[data-cursor]').getAttribute('x1')"
	const which = "[...document.querySelector('[data-moments]').children].findIndex(c => c.hasAttribute('aria-current'))"
	last := eval[int](p, "document.querySelector('[data-moments]').children.length - 1")
	for _, step := range []struct {
		key  string
		want int
	}{{kb.ArrowRight, 1}, {kb.ArrowRight, 2}, {kb.ArrowLeft, 1}, {kb.End, last}, {kb.Home, 0}} {
		p.run(chromedp.KeyEvent(step.key))
		require.Equal(t, step.want, eval[int](p, which))
		require.True(t, eval[bool](p, at))
	}
	p.run(chromedp.Focus(`[data-lanes] [tabindex="0"]`, chromedp.ByQuery))
	first := eval[string](p, focused)
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	require.NotEqual(t, first, eval[string](p, focused))
	require.Equal(t, 0, eval[int](p, which))
}

// The lane of the queue tells of its pods when pointed at, and when walked to; its parts are told apart by text and pattern.
func TestQueueOfTimeline(t *testing.T) {
	p := open(t, "timeline", "light", desktop)
	at := eval[[]float64](p, "(() => { const r = document.querySelector('.lsvg .qunschedulable').getBoundingClientRect(); return [r.x + 5, r.y + 5] })()")
	p.run(chromedp.MouseEvent("mouseMoved", 1, 1), chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	require.Contains(t, eval[string](p, details), "queue: 1 unschedulable")
	require.Contains(t, eval[string](p, details), "default/p1")
	p.run(chromedp.Focus(`[data-lanes] [data-rove] [tabindex="0"]`, chromedp.ByQuery))
	require.Equal(t, "queue: 1 active", eval[string](p, focused))
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	require.Equal(t, "queue: 1 in flight", eval[string](p, focused))
	require.Contains(t, eval[string](p, details), "default/p1")
	require.Contains(t, eval[string](p, "getComputedStyle(document.querySelector('.lsvg .qunschedulable')).fill"), "#qslant")
	require.Contains(t, eval[[]string](p, "[...document.querySelectorAll('.lsvg > .axis-of-time .length')].map(e => e.textContent)"), "5 min")
	heights := "[...document.querySelectorAll('.lname')].map(e => e.getBoundingClientRect().bottom - document.querySelector('.lsvg').getBoundingClientRect().top)"
	lines := "[...document.querySelectorAll('.lsvg .under')].map(e => e.getBoundingClientRect().bottom - document.querySelector('.lsvg').getBoundingClientRect().top)"
	names, lanes := eval[[]float64](p, heights)[1:], eval[[]float64](p, lines)
	require.InDeltaSlice(t, lanes, names, 2, "the names are beside their lanes")
}

// Findings are shown by class, and by what is looked for.
func TestFilter(t *testing.T) {
	p := open(t, "findings", "light", desktop)
	const count = "[...document.querySelectorAll('[data-found]')].filter(e => e.getClientRects().length > 0).length"
	all := eval[int](p, count)
	require.Greater(t, all, 50)
	p.run(chromedp.Click(`[data-filter][value="defect"]`, chromedp.ByQuery))
	some := eval[int](p, count)
	require.Less(t, some, all)
	require.Positive(t, some)
	p.run(chromedp.Click(`[data-filter][value="defect"]`, chromedp.ByQuery), chromedp.SendKeys("input[data-search]", "empty-selector", chromedp.ByQuery))
	require.Equal(t, 1, eval[int](p, count))
}

// Large clusters are small files, and soon there.
func TestLarge(t *testing.T) {
	for _, name := range []string{"200-nodes", "5000-nodes", "crowded"} {
		t.Run(name, func(t *testing.T) {
			info, err := os.Stat(file(name))
			require.NoError(t, err)
			require.LessOrEqual(t, info.Size(), int64(5_000_000))
			p := open(t, name, "light", desktop)
			ready := eval[float64](p, "Number(document.documentElement.dataset.ready)")
			painted := eval[float64](p, "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))")
			begun := time.Now()
			p.run(chromedp.KeyEvent(kb.ArrowRight))
			require.Equal(t, "#stage-eligible", eval[string](p, current))
			eval[float64](p, "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(1))))")
			t.Logf("%s: %d bytes, script done after %.0f ms, drawn after %.0f ms at most, a step takes %d ms; %d boxes, %d pods", name, info.Size(), ready, painted, time.Since(begun).Milliseconds(),
				eval[int](p, "document.querySelectorAll('.node').length"), eval[int](p, "document.querySelectorAll('.pod[data-item]').length"))
			require.Less(t, ready, 2000.0)
			require.Less(t, time.Since(begun), 2*time.Second)
		})
	}
}

// The pictures of docs/pictures are made here, if PICTURES names a folder.
func TestPictures(t *testing.T) {
	for _, shot := range []struct {
		name, page, theme string
		size              size
	}{
		{"disagrees", "disagrees#stage-filter", "light", size{1280, 860}},
		{"cycle-dry-run", "cycle#stage-dryrun", "dark", size{1280, 760}},
		{"cycle-narrow", "budget#stage-pick", "light", size{390, 844}},
		{"200-nodes", "200-nodes#stage-pick", "light", size{1600, 900}},
		{"timeline", "timeline", "light", size{1280, 1000}},
		{"findings", "findings", "dark", size{1280, 860}},
		{"campaign", "campaign", "light", size{1280, 640}},
	} {
		t.Run(shot.name, func(t *testing.T) {
			p := open(t, shot.page, shot.theme, shot.size)
			if shot.name == "disagrees" {
				p.run(chromedp.Evaluate("scrollTo(0, 0)", nil))
			}
			if shot.name == "cycle-dry-run" {
				p.run(chromedp.Evaluate("document.querySelector('.nodes .victim').focus()", nil))
			}
			if shot.name == "timeline" {
				for range 6 {
					p.run(chromedp.KeyEvent(kb.ArrowRight))
				}
			}
			p.shoot("docs-" + shot.name)
		})
	}
}

// The stage that one is at is in sight, also on a phone.
func TestStepIsInSight(t *testing.T) {
	p := open(t, "cycle", "light", size{390, 844})
	for range 6 {
		p.run(chromedp.KeyEvent(kb.ArrowRight))
		require.True(t, eval[bool](p, "(() => { const a = document.querySelector('[data-steps] [aria-current]').getBoundingClientRect(), l = document.querySelector('[data-steps] ol').getBoundingClientRect(); return a.left >= l.left - 1 && a.right <= l.right + 1 })()"), eval[string](p, current))
	}
}
