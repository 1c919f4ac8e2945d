// Package lanes is the page of a timeline: lanes for the scheduler's queue, for what happens, for the scheduler's
// cycles, preemptions and calls, for each pod and for the room of each node, over the scheduler's clock.
package lanes

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
)

// MaxMoments is how many sentences of a story are shown, MaxLanes how many pods and how many nodes have a lane.
const (
	MaxMoments = 1500
	MaxLanes   = 40
)

// laneHeight is in pixels.
const laneHeight = 30

// view is what the template shows.
type view struct {
	*story.Story
	Width, Height int
	axis          *axis
	Lanes         []lane
	Moments       []moment
	More          int // moments that are not shown
	LeftOut       string
	Parts         []story.Part
	Rows          []waitRow
}

// lane is a row of the drawing.
type lane struct {
	Name, Kind string
	Y, H       int
	Bars       []bar
	Marks      []mark
}

type bar struct {
	X, W, Y, H  int
	Class, Text string
	Title       string
}

// Base is the baseline of the text in a bar; 0 if it is too low for one.
func (b bar) Base() int {
	if b.H <= 12 {
		return 0
	}
	return b.H/2 + 4
}

type mark struct {
	X     int
	Class string
	Sign  string
	Title string
}

// moment is a sentence with its place.
type moment struct {
	X    int
	At   string
	Step int // 0 if it is that of the one before
	Text string
	Kind string
}

type waitRow struct {
	story.Wait
	Parts []string
}

//go:embed lanes.html
var source string

var body = template.Must(template.New("lanes").Funcs(template.FuncMap{"seconds": seconds, "places": func() any { return places }, "add": func(a, b int) int { return a + b }}).Parse(source))

func seconds(s float64) string { return fmt.Sprintf("%.3f s", s) }

// Write writes the page of a life, which the story tells.
func Write(w io.Writer, l *lifetime.Life, findings []lifetime.Finding, told *story.Story) error {
	v := &view{Story: told}
	v.moments(l.Trace)
	d := newDrawing(l, v)
	d.draw()
	v.waits()
	html, err := page.Render(body, "lanes", v)
	if err != nil {
		return err
	}
	name := told.Name
	if name == "" {
		name = "A timeline"
	}
	doc := &page.Document{
		Title: name, Kind: "Timeline", Body: html, Data: told, Verdict: verdict(findings, told),
		Facts: []page.Fact{{Name: "Scheduler", Value: "kube-scheduler " + told.System}, {Name: "Steps", Value: fmt.Sprint(len(l.Timeline.Steps))}},
	}
	if told.File != "" {
		doc.Facts = append(doc.Facts, page.Fact{Name: "From", Value: told.File})
	}
	return doc.Write(w)
}

func verdict(findings []lifetime.Finding, told *story.Story) *page.Verdict {
	v := &page.Verdict{Mood: page.Good, Text: "It goes as promised."}
	if len(findings) == 0 {
		return v
	}
	v.Mood, v.Text = page.Unclear, "Not as promised, by known findings."
	if len(lifetime.Unexplained(findings)) > 0 {
		v.Mood, v.Text = page.Bad, "Not as promised, and no known finding explains it."
	}
	v.Lines = append(slices.Clone(told.Findings), told.Why...)
	return v
}

// moments places the sentences on the axis.
func (v *view) moments(trace *timeline.Trace) {
	shown := v.Told[:min(len(v.Told), MaxMoments)]
	v.More = len(v.Told) - len(shown)
	times := make([]float64, len(shown))
	for i, s := range shown {
		times[i] = s.At
	}
	v.axis = newAxis(times)
	x, step := left, 0
	for i, s := range shown {
		x = v.axis.x[i]
		m := moment{X: x, At: seconds(s.At), Text: s.Text, Kind: "time"}
		if s.Step != step {
			step, m.Step = s.Step, s.Step
		}
		if s.Entry >= 0 {
			m.Kind = kindOf(trace.Entries[s.Entry].What)
		}
		v.Moments = append(v.Moments, m)
	}
	v.Width = x + 8*slot
}

// Axis is for the template.
func (v *view) Axis() *axis { return v.axis }

// AxisHeight is how high the axis above the lanes is; that below them is as high.
func (v *view) AxisHeight() int { return axisHeight }

// Queue tells whether there is a lane of the queue.
func (v *view) Queue() bool { return len(v.Lanes) > 0 && v.Lanes[0].Name == "queue" }

// kindOf is the lane of an entry.
func kindOf(what timeline.What) string {
	switch what {
	case timeline.Popped, timeline.Fits, timeline.Unfit, timeline.Decided, timeline.Requeued, timeline.Tried:
		return "cycle"
	case timeline.Begins, timeline.Ends:
		return "preemption"
	case timeline.Called:
		return "call"
	case timeline.Stored, timeline.Handled, timeline.Told, timeline.Relisted, timeline.TakenOver:
		return "told"
	}
	return "cluster"
}

func (v *view) waits() {
	seen := map[story.Part]bool{}
	for _, w := range v.Story.Waits {
		for part := range w.For {
			seen[part] = true
		}
	}
	for part := range seen {
		v.Parts = append(v.Parts, part)
	}
	slices.Sort(v.Parts)
	for _, w := range v.Story.Waits {
		r := waitRow{Wait: w}
		for _, part := range v.Parts {
			text := "–"
			if s, ok := w.For[part]; ok {
				text = seconds(s)
			}
			r.Parts = append(r.Parts, text)
		}
		v.Rows = append(v.Rows, r)
	}
}

// leaveOut says that some have no lane.
func (v *view) leaveOut(n int, what string) {
	if n > 0 {
		v.LeftOut = strings.TrimPrefix(v.LeftOut+" "+words.Plural(n, what)+" more have no lane.", " ")
	}
}
