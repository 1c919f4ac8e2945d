package diff

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
	"github.com/preemptcheck/preemptcheck/properties/releasediff/lives"
)

// Timelines are what is different between two releases in timelines.
type Timelines struct {
	// Timelines is how many there were, Compared on how many of them both could be run, and
	// Different how many of these go otherwise.
	Timelines int `json:"timelines"`
	Compared  int `json:"compared"`
	Different int `json:"different"`
	// CannotRun says of releases that they run no timelines. Why counts the reasons why some
	// timelines could not be run.
	CannotRun []string       `json:"cannotRun,omitempty"`
	Why       map[string]int `json:"why,omitempty"`
	// Given are those that were given and go otherwise, or could not be compared.
	Given []*GivenTimeline `json:"given,omitempty"`
	// Kinds are what is different, the most frequent first. Each timeline counts for the kinds
	// of differences that its others follow from.
	Kinds []*TimelineKind `json:"kinds,omitempty"`
}

// GivenTimeline is what two releases make of a timeline of a file.
type GivenTimeline struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Why says why it could not be compared.
	Why         string               `json:"why,omitempty"`
	Differences []TimelineDifference `json:"differences,omitempty"`
}

// TimelineDifference is one thing that users see otherwise in a timeline.
type TimelineDifference struct {
	Kind     string `json:"kind"`
	FromDoes string `json:"fromDoes"`
	ToDoes   string `json:"toDoes"`
}

// TimelineKind is a kind of differences. Example is a small timeline that shows it; nil if
// the timelines were given.
type TimelineKind struct {
	Kind string `json:"kind"`
	// Finding is the known finding that shows in one of the two, Upstream its issue. Promise is
	// what it breaks, and Source where that is promised.
	Finding   string           `json:"finding,omitempty"`
	Upstream  string           `json:"upstream,omitempty"`
	Promise   string           `json:"promise,omitempty"`
	Source    string           `json:"source,omitempty"`
	Timelines int              `json:"timelines"`
	Example   *TimelineExample `json:"example,omitempty"`

	smallest *timeline.Timeline
	number   uint64
}

// TimelineExample is a timeline that was made small.
type TimelineExample struct {
	TimelineDifference
	Reproduce string `json:"reproduce"`
	// Besides are the kinds of what else is different.
	Besides []string      `json:"besides,omitempty"`
	Size    minimize.Size `json:"size"`
	// NotMinimal says why it may not be the smallest.
	NotMinimal string `json:"notMinimal,omitempty"`
	// Objects are a line for each object at the start, and for each pod that a step creates.
	// Steps are the lines of the steps, and Case is all of it.
	Objects []string `json:"objects"`
	Steps   []string `json:"steps"`
	Case    string   `json:"case"`
	Saved   string   `json:"saved,omitempty"`
}

// lifeDiffer compares timelines in two releases.
type lifeDiffer struct {
	*differ
	mu    sync.Mutex
	found Timelines
	kinds map[string]*TimelineKind
}

// lives compares timelines in the two releases; nil if there are none to compare.
func (d *differ) lives() *lifeDiffer {
	if d.options.Timeline == nil && !slices.ContainsFunc(d.options.Cases, isTimeline) {
		return nil
	}
	l := &lifeDiffer{differ: d, kinds: map[string]*TimelineKind{}}
	for _, side := range []releasediff.Side{d.comparer.From, d.comparer.To} {
		if side.Life == nil {
			l.found.CannotRun = append(l.found.CannotRun, side.NoLife)
		}
	}
	return l
}

func isTimeline(c *corpus.Case) bool { return c.Timeline != nil }

// compare compares one timeline.
func (l *lifeDiffer) compare(ctx context.Context, t *timeline.Timeline) (*lives.Comparison, error) {
	return lives.Compare(ctx, l.comparer.From.Life, l.comparer.To.Life, t)
}

// generated compares the timeline that is drawn besides the cluster of a number, if there is one.
func (l *lifeDiffer) generated(ctx context.Context, n uint64) {
	if l == nil || len(l.found.CannotRun) > 0 {
		return
	}
	t, err := l.options.Timeline(n)
	if t == nil && err == nil {
		return
	}
	var c *lives.Comparison
	if err == nil {
		c, err = l.compare(ctx, t)
	}
	if ctx.Err() == nil {
		l.add(t, c, err, n)
	}
}

// given compares the timelines of files.
func (l *lifeDiffer) given(ctx context.Context) {
	if l == nil {
		return
	}
	for n, given := range l.options.Cases {
		if given.Timeline == nil || ctx.Err() != nil {
			continue
		}
		out := &GivenTimeline{Name: given.Name, File: given.File}
		if len(l.found.CannotRun) > 0 {
			l.found.Timelines++
			out.Why = strings.Join(l.found.CannotRun, "; ")
			l.found.Given = append(l.found.Given, out)
			continue
		}
		c, err := l.compare(ctx, given.Timeline)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			out.Why = words.FirstLine(err.Error())
		default:
			for _, d := range c.Differences {
				out.Differences = append(out.Differences, TimelineDifference{d.Kind, d.Did[0], d.Did[1]})
			}
		}
		l.add(given.Timeline, c, err, uint64(n))
		if out.Why != "" || len(out.Differences) > 0 {
			l.found.Given = append(l.found.Given, out)
		}
	}
}

// add counts a timeline.
func (l *lifeDiffer) add(t *timeline.Timeline, c *lives.Comparison, err error, n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Timelines++
	if err != nil {
		if l.found.Why == nil {
			l.found.Why = map[string]int{}
		}
		l.found.Why[words.FirstLine(err.Error())]++
		return
	}
	l.found.Compared++
	if len(c.Differences) > 0 {
		l.found.Different++
	}
	counted := map[string]bool{}
	for _, d := range c.Main() {
		if counted[d.Kind] {
			continue
		}
		counted[d.Kind] = true
		k := l.kinds[d.Kind]
		if k == nil {
			k = &TimelineKind{Kind: d.Kind, Promise: d.Promise, Source: d.Source}
			if d.Finding != nil {
				k.Finding, k.Upstream = d.Finding.ID, d.Finding.Upstream
			}
			l.kinds[d.Kind] = k
		}
		k.Timelines++
		if k.smallest == nil || cmp.Or(cmp.Compare(weight(t), weight(k.smallest)), cmp.Compare(n, k.number)) < 0 {
			k.smallest, k.number = t, n
		}
	}
}

// weight is about how long it takes to make a timeline small.
func weight(t *timeline.Timeline) int {
	return len(t.Steps) + len(t.Cluster.Nodes) + len(t.Cluster.Pods)
}

// report is what was found, with a small timeline of each kind if they were generated.
func (l *lifeDiffer) report() (*Timelines, error) {
	if l == nil {
		return nil, nil
	}
	kinds := slices.SortedFunc(maps.Values(l.kinds), func(a, b *TimelineKind) int {
		return cmp.Or(cmp.Compare(b.Timelines, a.Timelines), cmp.Compare(a.Kind, b.Kind))
	})
	for i, k := range kinds {
		if l.options.Timeline == nil {
			continue
		}
		l.progress(float64(i)/float64(len(kinds)), func() string { return fmt.Sprintf("making %d of %s small", i+1, words.Plural(len(kinds), "timeline")) })
		if err := l.example(k); err != nil {
			return nil, err
		}
	}
	l.found.Kinds = kinds
	return &l.found, nil
}

// example makes the smallest timeline of a kind smaller.
func (l *lifeDiffer) example(k *TimelineKind) error {
	e := &TimelineExample{Reproduce: l.reproduceTimeline(k.number)}
	k.Example = e
	ctx, cancel := context.WithTimeout(l.stopped, maxShrinking)
	defer cancel()
	var last *lives.Comparison
	small := steps.Minimise(ctx, k.smallest, func(ctx context.Context, t *timeline.Timeline) bool {
		c, err := l.compare(ctx, t)
		if err != nil || !c.Has(k.Kind) {
			return false
		}
		last = c
		return true
	})
	switch {
	case l.stopped.Err() != nil:
		e.NotMinimal = "interrupted"
	case !small.Minimal:
		e.NotMinimal = "it took too long"
	}
	if last == nil || last.Lives[0].Timeline != small.Timeline { // nothing could be dropped
		var err error
		if last, err = l.compare(context.WithoutCancel(ctx), small.Timeline); err != nil || !last.Has(k.Kind) {
			e.NotMinimal = "it does not show each time"
			return l.write(k, small.Timeline)
		}
	}
	for _, d := range last.Differences {
		if d.Kind == k.Kind && e.Kind == "" {
			e.TimelineDifference = TimelineDifference{d.Kind, d.Did[0], d.Did[1]}
		} else if d.Kind != k.Kind && !slices.Contains(e.Besides, d.Kind) {
			e.Besides = append(e.Besides, d.Kind)
		}
	}
	return l.write(k, small.Timeline)
}

func (l *lifeDiffer) reproduceTimeline(n uint64) string {
	if l.options.ReproduceTimeline == nil {
		return ""
	}
	return l.options.ReproduceTimeline(l.comparer.From.String(), l.comparer.To.String(), n)
}

// write makes a timeline of the corpus of an example, and saves it if that is asked for.
func (l *lifeDiffer) write(k *TimelineKind, t *timeline.Timeline) error {
	e := k.Example
	size := steps.SizeOf(t)
	e.Size = minimize.Size{Nodes: size.Nodes, Pods: size.Pods, Steps: size.Steps}
	e.Objects = slices.Concat(story.Start(t.Cluster), story.Created(t))
	from, to := l.comparer.From.String(), l.comparer.To.String()
	c := &corpus.Case{
		Name:        words.Slug(fmt.Sprintf("%s to %s %s", from, to, k.Kind)),
		Description: fmt.Sprintf("%s.\n%s: %s.\n%s: %s.", k.Kind, from, e.FromDoes, to, e.ToDoes),
		Origin:      "minimised from: " + e.Reproduce,
		Cluster:     t.Cluster, Timeline: t,
	}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		return err
	}
	e.Case = written.String()
	e.Steps = stepsOf(e.Case)
	if l.options.Dir == "" {
		return nil
	}
	path, err := corpus.Save(l.options.Dir, c)
	e.Saved = path
	return err
}

// stepsOf are the lines of the steps of a timeline that was written.
func stepsOf(text string) (lines []string) {
	document, _, _ := strings.Cut(text, "\n---\n")
	_, list, _ := strings.Cut(document, "\nsteps:\n")
	for line := range strings.Lines(list) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}
