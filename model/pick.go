package model

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Criterion is a rule by which one candidate is preferred to another. The
// criteria are applied in turn, each to the candidates that the earlier ones
// left tied.
type Criterion struct {
	Name string
	// Compare is negative if a is preferred, and 0 if the criterion sees no
	// difference.
	Compare func(a, b *Outcome) int
}

// DefaultCriteria are the criteria of pickOneNodeForPreemption, from its doc
// comment (preemption.go:324@v1.37.1). Candidates that tie on all of them are
// equally good: any may be chosen.
func DefaultCriteria() []Criterion {
	return []Criterion{
		{"fewest budget violations", func(a, b *Outcome) int { return cmp.Compare(a.Violations, b.Violations) }},
		{"lowest highest-priority victim", func(a, b *Outcome) int { return cmp.Compare(a.HighestPriority(), b.HighestPriority()) }},
		{"smallest sum of priorities", func(a, b *Outcome) int { return cmp.Compare(a.SumOfPriorities(), b.SumOfPriorities()) }},
		{"fewest victims", func(a, b *Outcome) int { return cmp.Compare(len(a.Pods), len(b.Pods)) }},
		{"latest start of the highest-priority victims", func(a, b *Outcome) int { return cmp.Compare(b.EarliestStart(), a.EarliestStart()) }},
	}
}

// How a pick was decided when it was not by a criterion.
const (
	OnlyCandidate = "only candidate"
	Tie           = "tie"
)

// Compare is negative if a is the better outcome, 0 if the criteria see no
// difference. at is the index of the criterion that tells them apart.
func (a *Algorithm) Compare(x, y *Outcome) (c, at int) {
	for i := range a.Criteria {
		if c := a.Criteria[i].Compare(x, y); c != 0 {
			return c, i
		}
	}
	return 0, len(a.Criteria)
}

// Pick reduces candidates to those that the criteria leave, of which any may be
// chosen, by name, and says what decided: the criterion after which one was left,
// Tie, or OnlyCandidate. There is at least one.
func (a *Algorithm) Pick(candidates map[string]*Outcome) (nodes []string, decidedBy string) {
	names := slices.Sorted(maps.Keys(candidates))
	slices.SortStableFunc(names, func(x, y string) int {
		c, _ := a.Compare(candidates[x], candidates[y])
		return c
	})
	if len(names) == 1 {
		return names, OnlyCandidate
	}
	for i, name := range names { // best first
		c, at := a.Compare(candidates[names[0]], candidates[name])
		switch {
		case c != 0 && i == 1:
			return names[:1], a.Criteria[at].Name
		case c != 0:
			return names[:i], Tie
		}
	}
	return names, Tie
}

// HighestPriority is the highest priority of a victim. Victims are in order of
// importance, so that is the first one's, unless an extender has changed the order.
func (o *Outcome) HighestPriority() int32 {
	highest := o.Pods[0].Priority
	for _, p := range o.Pods {
		highest = max(highest, p.Priority)
	}
	return highest
}

// SumOfPriorities adds up the priorities, each counted from the lowest possible
// one, so that more victims never make a better sum (preemption.go:361@v1.37.1).
func (o *Outcome) SumOfPriorities() int64 {
	var sum int64
	for _, p := range o.Pods {
		sum += int64(p.Priority) - math.MinInt32
	}
	return sum
}

// EarliestStart is when the first of the highest-priority victims started, in
// nanoseconds since 1970.
func (o *Outcome) EarliestStart() int64 {
	highest, earliest := int32(math.MinInt32), int64(math.MaxInt64)
	for _, p := range o.Pods {
		switch start := p.Start.UnixNano(); {
		case p.Priority > highest:
			highest, earliest = p.Priority, start
		case p.Priority == highest:
			earliest = min(earliest, start)
		}
	}
	return earliest
}

// PodsNamed are the pods with the given keys, in that order, of the units that have a
// pod on a node; pods that are not there are left out.
func (cy *Cycle) PodsNamed(node string, keys []string) []*filter.Pod {
	var pods []*filter.Pod
	for _, key := range keys {
		for _, u := range cy.Units.On(cy.Node(node)) {
			for _, p := range u.Pods {
				if p.Key == key {
					pods = append(pods, p)
				}
			}
		}
	}
	return pods
}
