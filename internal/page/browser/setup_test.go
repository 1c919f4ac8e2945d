//go:build browser

package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// The files of the pages, and Chromium.
var (
	dir     string
	browser context.Context
	axe     string // the source of axe-core
)

// shown are the pages, and the commands that write them.
var shown = []struct {
	name string
	args []string
}{
	{"cycle", []string{"explain", "corpus/cases/each-criterion-names-another-node.yaml"}},
	{"budget", []string{"explain", "corpus/cases/budget-is-spent-by-a-reprieved-pod.yaml"}},
	{"disagrees", []string{"explain", "corpus/cases/finding-empty-selector.yaml"}},
	{"no-help", []string{"explain", "corpus/cases/contradictory-affinity-preempts-nobody.yaml"}},
	{"crash", []string{"explain", "corpus/cases/finding-class-annotation-crashes-score.yaml"}},
	{"units", []string{"explain", "corpus/cases/composite-group-goes-as-a-whole.yaml"}},
	{"group", []string{"explain", "corpus/cases/finding-members-stay-nominated.yaml"}},
	{"group-preempts", []string{"explain", "corpus/cases/composite-group-in-one-zone-and-racks.yaml"}},
	{"timeline", []string{"explain", "corpus/timelines/kubernetes-106780.yaml"}},
	{"timeline-of-finding", []string{"explain", "corpus/timelines/finding-gated-by-vain-preemption.yaml"}},
	{"check", []string{"check", "corpus/cases"}},
	{"findings", []string{"findings"}},
	{"arrivals", []string{"explain", "cmd/preemptcheck/app/testdata/arrivals/cluster.yaml", "-f", "cmd/preemptcheck/app/testdata/arrivals/several.yaml"}},
	{"exposure", []string{"exposure", "cmd/preemptcheck/app/testdata/exposure/cluster.yaml"}},
	{"campaign", []string{"report", "CAMPAIGN"}},
	{"200-nodes", []string{"explain", "200.yaml"}},
	{"5000-nodes", []string{"explain", "5000.yaml"}},
	{"crowded", []string{"explain", "crowd-200.yaml"}},
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if dir = os.Getenv("PAGES"); dir == "" {
		if dir, err = os.MkdirTemp("", "pages"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	source, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		return 0, fmt.Errorf("AXE has to name axe.min.js of the npm package axe-core, as make browser does: %w", err)
	}
	axe = string(source)
	if err := write(); err != nil {
		return 0, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(cmp.Or(os.Getenv("CHROMIUM"), "chromium")), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1440, 1000),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Run(ctx); err != nil {
		return 0, fmt.Errorf("chromium (its path can be given by CHROMIUM): %w", err)
	}
	browser = ctx
	return m.Run(), nil
}

// write writes all pages, by the program.
func write() error {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "preemptcheck")
	call := func(out, name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		var said bytes.Buffer
		cmd.Stderr = &said
		text, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !(asExit(err, &exit) && exit.ExitCode() == 1) { // 1 is that something was found
			if !(asExit(err, &exit) && exit.ExitCode() == 2 && len(text) > 0) { // 2 is that something is not known
				return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
			}
		}
		if out == "" {
			return nil
		}
		return os.WriteFile(out, text, 0o644)
	}
	if err := call("", "go", "build", "-o", program, "./cmd/preemptcheck"); err != nil {
		return err
	}
	for name, size := range map[string]mk.Size{"200.yaml": {Nodes: 200, Bound: 2000, Pending: 1}, "5000.yaml": {Nodes: 5000, Bound: 50_000, Pending: 1}, "crowd-200.yaml": {Nodes: 200, Bound: 50_000, Pending: 1}} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := mk.WriteLarge(f, size); err != nil {
			return err
		}
		f.Close()
	}
	campaign := filepath.Join(dir, "campaign")
	os.RemoveAll(campaign)
	if err := call("", program, "fuzz", "--cases", "400", "--seed", "7", "--out", campaign); err != nil {
		return err
	}
	for _, p := range shown {
		args := slices.Clone(p.args)
		for i, a := range args {
			switch {
			case a == "CAMPAIGN":
				args[i] = campaign
			case strings.HasSuffix(a, "00.yaml"):
				args[i] = filepath.Join(dir, a)
			}
		}
		if err := call(file(p.name), program, append(args, "-o", "html")...); err != nil {
			return err
		}
	}
	for _, name := range []string{"5000.yaml", "crowd-200.yaml"} {
		os.Remove(filepath.Join(dir, name))
	}
	for name, write := range map[string]func(io.Writer) error{
		"diff":   func(w io.Writer) error { return reports.Diff(w, different()) },
		"matrix": func(w io.Writer) error { return reports.Matrix(w, matrix()) },
	} {
		out, err := os.Create(file(name))
		if err != nil {
			return err
		}
		defer out.Close()
		if err := write(out); err != nil {
			return err
		}
	}
	return nil
}

// matrix is what became of two cases with two schedulers.
func matrix() *replay.Matrix {
	agrees, found := &replay.Judgement{Outcome: "preempts 1 on node-1", Result: replay.Agrees}, &replay.Judgement{Result: replay.Found, Details: []string{"why"}}
	return &replay.Matrix{References: []string{"v1.37.1", "v1.31.0"}, Differ: 1, Cases: []replay.Row{
		{Name: "alike", Judgements: []*replay.Judgement{agrees, agrees}}, {Name: "unlike", Judgements: []*replay.Judgement{agrees, found}}, {Name: "no-time", Judgements: []*replay.Judgement{agrees, nil}},
	}}
}

// different is a report of two releases, whose schedulers need not be built for it.
func different() *diff.Report {
	text, _ := os.ReadFile("../../../corpus/cases/fewest-violations-decides.yaml")
	return &diff.Report{From: "v1.31.0", To: "v1.37.1", Command: "preemptcheck diff --from v1.31.0 --to v1.37.1", Generated: true, Comparisons: []*diff.Pair{{
		From: "v1.31.0", To: "v1.37.1", Clusters: 100, Verdicts: map[releasediff.Verdict]uint64{releasediff.Different: 3, releasediff.Same: 97},
		Ways: []*diff.Way{{
			Change: &releasediff.Change{Title: "A change", Before: "It was so.", After: "It is so.", Source: "KEP-0"}, Clusters: 3,
			Kinds: []*diff.Difference{{Kind: "another node", Clusters: 3, FromDoes: "nominates node-2", ToDoes: "nominates node-1", Cluster: "node node-1", Case: string(text), Reproduce: "preemptcheck generate"}},
		}, {Clusters: 1}},
	}}}
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

func file(name string) string { return filepath.Join(dir, name+".html") }

func names() (all []string) {
	for _, p := range shown {
		all = append(all, p.name)
	}
	return append(all, "diff", "matrix")
}

// tab is a page in Chromium. That it asks nobody for anything, and that the browser has nothing to say
// against it, is tested when it is closed.
type tab struct {
	testing.TB
	context.Context
	mu       sync.Mutex
	requests []string
	said     []string
}

// size is that of a window.
type size struct{ width, height int64 }

var desktop = size{1440, 1000}

// open opens a page.
func open(t testing.TB, name, theme string, s size) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	p := &tab{TB: t, Context: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			p.requests = append(p.requests, e.Request.URL)
		case *runtime.EventExceptionThrown:
			p.said = append(p.said, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.said = append(p.said, fmt.Sprint("console: ", e.Type))
		case *log.EventEntryAdded:
			p.said = append(p.said, e.Entry.Text)
		}
	})
	address := (&url.URL{Scheme: "file", Path: file(strings.Split(name, "#")[0])}).String()
	if _, at, ok := strings.Cut(name, "#"); ok {
		address += "#" + at
	}
	t.Cleanup(func() {
		stop()
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Equal(t, []string{strings.Split(address, "#")[0]}, p.requests, "the page asks for nothing but itself")
		require.Empty(t, p.said)
	})
	p.run(network.Enable(), log.Enable(), runtime.Enable(), chromedp.EmulateViewport(s.width, s.height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
		chromedp.Navigate(address), chromedp.WaitReady("html[data-ready]"))
	return p
}

func (p *tab) run(actions ...chromedp.Action) {
	p.Helper()
	require.NoError(p, chromedp.Run(p, actions...))
}

// eval is the value of an expression, as JSON has it.
func eval[T any](p *tab, expression string) (value T) {
	p.Helper()
	var raw json.RawMessage
	p.run(chromedp.Evaluate(expression, &raw, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.NoError(p, json.Unmarshal(raw, &value), expression)
	return value
}
