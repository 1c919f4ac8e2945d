// Package variation holds metamorphic promises about timelines: how a timeline ends is held
// against how a variation of it ends. They need no model of what the end has to be.
package variation

import (
	"context"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// Relation is a promise about two timelines, of which one is a variation of the other.
type Relation struct {
	// Name identifies the relation. No property of package lifetime has it.
	Name string
	// Promise says or quotes what was promised, Source says where.
	Promise, Source string
	// Lies name what a lying scheduler does in the tests, which show that the relation notices.
	Lies []string
	// Vary is the other timeline; nil if there is nothing to compare.
	Vary func(l *lifetime.Life) *timeline.Timeline
	// Compare returns how the promise was broken, as findings about l. Both lives came to rest.
	Compare func(l, other *lifetime.Life) []lifetime.Finding
}

// All are all relations.
func All() []Relation { return []Relation{anyOrder(), noLoss()} }

// Is tells whether a relation has a name.
func Is(name string) bool {
	return slices.ContainsFunc(All(), func(r Relation) bool { return r.Name == name })
}

// NoEnd is the kind of the finding that a variation does not come to rest: the scheduler breaks
// down, or goes on for ever.
const NoEnd = "no end"

// Live runs a timeline through a scheduler.
type Live func(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error)

// Run runs a timeline, and asks all properties about it and, if related, all relations. Each
// relation that has something to compare takes one more run.
func Run(ctx context.Context, live Live, t *timeline.Timeline, related bool) (*lifetime.Life, []lifetime.Finding, error) {
	trace, err := live(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	l := &lifetime.Life{Timeline: t, Trace: trace}
	findings := lifetime.Check(l)
	if !related {
		return l, findings, nil
	}
	for _, r := range All() {
		more, _, err := r.Check(ctx, live, l, findings)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		findings = append(findings, more...)
	}
	return l, findings, nil
}

// Check asks a relation about a life of which the findings are known. It reports whether there
// was something to compare. Of a scheduler that knows pod groups it is not asked: how a group is placed is left open, and
// two lives may part by that.
//
// Where a known finding shows in one of the two lives and not in the other, that is why they end
// differently.
func (r *Relation) Check(ctx context.Context, live Live, l *lifetime.Life, of []lifetime.Finding) (findings []lifetime.Finding, asked bool, err error) {
	if !ended(l) || together.On(l.Timeline) {
		return nil, false, nil
	}
	t := r.Vary(l)
	if t == nil {
		return nil, false, nil
	}
	trace, err := live(ctx, t)
	if err != nil {
		return nil, false, err
	}
	other := &lifetime.Life{Timeline: t, Trace: trace}
	if ended(other) {
		findings = r.Compare(l, other)
	} else {
		findings = []lifetime.Finding{{Kind: NoEnd, Entry: len(l.Trace.Entries), Detail: "the timeline comes to rest, and its variation does not"}}
	}
	if len(findings) == 0 {
		return nil, true, nil
	}
	known := different(of, lifetime.Check(other))
	for i := range findings {
		findings[i].Property, findings[i].Known = r.Name, known
	}
	return findings, true, nil
}

func ended(l *lifetime.Life) bool { return l.Trace.Quiet != nil && l.Trace.Flushed != nil }

// different are the known findings that show in one of two lives only, or to different pods.
func different(a, b []lifetime.Finding) (ids []string) {
	type shown struct{ id, property, pod string }
	of := func(findings []lifetime.Finding) map[shown]bool {
		all := map[shown]bool{}
		for _, f := range findings {
			for _, id := range f.Known {
				all[shown{id, f.Property, f.Pod}] = true
			}
		}
		return all
	}
	inA, inB := of(a), of(b)
	for s := range inA {
		if !inB[s] {
			ids = append(ids, s.id)
		}
	}
	for s := range inB {
		if !inA[s] {
			ids = append(ids, s.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// state is how a pod is in the end, without names and with them.
func state(p timeline.PodState) (kind, words string) {
	switch {
	case !p.Exists:
		return "gone", "gone"
	case p.Node != "":
		return "bound", "bound to " + p.Node
	case p.Nominated != "":
		return "nominated", "nominated to " + p.Nominated
	}
	return "pending", "pending"
}

// existing are the pods that there are at rest, by name.
func existing(l *lifetime.Life) map[string]timeline.PodState {
	all := map[string]timeline.PodState{}
	for _, p := range l.Trace.Quiet.Pods {
		if p.Exists {
			all[p.Name] = p
		}
	}
	return all
}
