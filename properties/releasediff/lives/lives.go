// Package lives tells how a timeline goes otherwise in another release, as users see it: which
// promises one of the two schedulers breaks and the other keeps, how pods end, who was
// preempted, and who was nominated.
//
// In which queue a pod waits, how often it is tried, and what a cycle says of a pod that does
// not fit is left to each release. So is which of several pods that are alike gets the room, and
// which of several nodes a pod goes to that fits on them.
package lives

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Comparison is what two releases make of one timeline.
type Comparison struct {
	Lives [2]*lifetime.Life
	// Differences are what users see otherwise; none if they see nothing. Broken promises come
	// first, then ends, preemptions and nominations.
	Differences []Difference
}

// Difference is one thing that users see otherwise.
type Difference struct {
	// Kind says what is different, in words that do not depend on the timeline.
	Kind string
	// Finding is the known finding that shows in one of the two; nil if it is none, and Promise,
	// which it breaks, "". Source is where the promise is made that one of the two breaks.
	Finding         *ledger.Entry
	Promise, Source string
	// Did are what each of the two did.
	Did [2]string

	level level
}

// level says what a difference is about. What is of a later level often follows from what is of
// an earlier one.
type level int

const (
	ofPromises level = iota
	ofEnds
	ofPreemptions
	ofNominations
)

// Compare runs a timeline through both schedulers. An error means that one of them could not be
// asked.
func Compare(ctx context.Context, from, to reference.LifeSystem, t *timeline.Timeline) (*Comparison, error) {
	c := &Comparison{}
	running, ctx := errgroup.WithContext(ctx)
	for i, system := range []reference.LifeSystem{from, to} {
		running.Go(func() error {
			trace, err := system.Live(ctx, t)
			if err != nil {
				return fmt.Errorf("%s: %w", system.Name(), err)
			}
			c.Lives[i] = &lifetime.Life{Timeline: t, Trace: trace}
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		return nil, err
	}
	c.compare()
	return c, nil
}

func (c *Comparison) compare() {
	c.promises()
	if c.chosen() || c.Lives[0].Trace.Quiet == nil || c.Lives[1].Trace.Quiet == nil {
		return // what follows is the end of another way, or there is none
	}
	alike := alike(c.Lives[0].Timeline)
	c.ends(alike)
	c.expectations()
	c.preemptions(alike)
	c.nominations(alike)
}

// Main are the differences that the others follow from, as far as levels tell: those of the
// first level that has any.
func (c *Comparison) Main() (main []Difference) {
	for _, d := range c.Differences {
		if d.level == c.Differences[0].level {
			main = append(main, d)
		}
	}
	return main
}

// Has tells whether a difference of a kind is among the main ones.
func (c *Comparison) Has(kind string) bool {
	for _, d := range c.Main() {
		if d.Kind == kind {
			return true
		}
	}
	return false
}

func (c *Comparison) add(l level, kind, from, to string) {
	c.Differences = append(c.Differences, Difference{Kind: kind, Did: [2]string{from, to}, level: l})
}

// cause is in which way a promise was broken: a known finding, or a property and how.
type cause struct{ known, property, kind string }

// promises adds the causes by which just one of the two breaks promises.
func (c *Comparison) promises() {
	var broken [2]map[cause]string // with a sentence
	var order []cause
	for i, l := range c.Lives {
		broken[i] = map[cause]string{}
		for _, f := range lifetime.Check(l) {
			causes := []cause{{property: f.Property, kind: f.Kind}}
			if len(f.Known) > 0 {
				causes = nil
				for _, id := range f.Known {
					causes = append(causes, cause{known: id})
				}
			}
			for _, by := range causes {
				if broken[i][by] == "" {
					broken[i][by] = f.Property + ": " + f.Detail
					order = append(order, by)
				}
			}
		}
	}
	promised := map[string]lifetime.Property{}
	for _, p := range lifetime.All() {
		promised[p.Name] = p
	}
	for _, by := range order {
		in := [2]bool{broken[0][by] != "", broken[1][by] != ""}
		if in[0] == in[1] {
			continue
		}
		p := promised[by.property]
		d := Difference{Kind: c.describe(by, p.Promise, in[1]), Source: p.Source, level: ofPromises}
		if e, ok := ledger.LookUp(by.known); ok {
			e = e.Public()
			d.Finding, d.Promise, d.Source = &e, e.Promise, e.Source
		}
		for i := range in {
			d.Did[i] = "does not break that promise here"
			if in[i] {
				d.Did[i] = broken[i][by]
			}
		}
		c.Differences = append(c.Differences, d)
	}
}

// describe names a cause by which the second release breaks a promise, or the first one.
func (c *Comparison) describe(by cause, promise string, second bool) string {
	e, ok := ledger.LookUp(by.known)
	if !ok {
		return fmt.Sprintf("%s: %s (%s: %s)", ifElse(second, "broken now", "kept now"), promise, by.property, by.kind)
	}
	title := e.Public().Title
	switch here, there := ifElse(second, 1, 0), ifElse(second, 0, 1); {
	case !c.release(here).In(e.Releases) || c.release(there).In(e.Releases):
		return fmt.Sprintf("shows in %s only, though both have it: %s", c.release(here), title)
	case second:
		return "new: " + title
	}
	return "fixed: " + title
}

func (c *Comparison) release(i int) release.Release { return c.Lives[i].Release() }

// expectations adds the steps of the timeline whose expectations just one of the two meets. What
// is expected of queues does not count.
func (c *Comparison) expectations() {
	var unmet [2]map[int]string
	for i, l := range c.Lives {
		unmet[i] = map[int]string{}
		for _, u := range l.Trace.Unmet {
			unmet[i][u.Step] = u.Was
		}
	}
	for n, s := range c.Lives[0].Timeline.Steps {
		was := [2]string{unmet[0][n], unmet[1][n]}
		if s.Expect == nil || s.Expect.Queue != nil || (was[0] == "") == (was[1] == "") {
			continue
		}
		for i := range was {
			if was[i] == "" {
				was[i] = s.Expect.String()
			}
		}
		c.add(ofEnds, ifElse(unmet[1][n] == "", "what a step expects is met now", "what a step expects is not met any more"),
			fmt.Sprintf("at step %d %s", n+1, was[0]), fmt.Sprintf("at step %d %s", n+1, was[1]))
	}
}

func ifElse[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}
