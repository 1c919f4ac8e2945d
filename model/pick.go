package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Criterion is a rule by which one candidate is preferred to another. The
// criteria are applied in turn, each to the candidates that the earlier ones
// left tied.
type Criterion struct {
	Name string
	// compare is negative if a is preferred.
	compare func(a, b *Outcome) int
}

// defaultCriteria are the criteria of pickOneNodeForPreemption, from its doc
// comment (preemption.go:324@v1.37.1). Candidates that tie on all of them are
// equally good: any may be chosen.
func defaultCriteria() []Criterion {
	return []Criterion{
		{"fewest budget violations", func(a, b *Outcome) int { return cmp.Compare(a.Violations, b.Violations) }},
		{"lowest highest-priority victim", func(a, b *Outcome) int { return cmp.Compare(a.highest(), b.highest()) }},
		{"smallest sum of priorities", func(a, b *Outcome) int { return cmp.Compare(a.sum(), b.sum()) }},
		{"fewest victims", func(a, b *Outcome) int { return cmp.Compare(len(a.victims), len(b.victims)) }},
		{"latest start of the highest-priority victims", func(a, b *Outcome) int { return cmp.Compare(b.earliestStart(), a.earliestStart()) }},
	}
}

// How a pick was decided when it was not by a criterion.
const (
	OnlyCandidate = "only candidate"
	Tie           = "tie"
)

// highest is the highest priority of a victim. Victims are in order of importance,
// so that is the first one's, unless an extender has put them in another.
func (o *Outcome) highest() int32 {
	highest := o.victims[0].priority
	for _, p := range o.victims {
		highest = max(highest, p.priority)
	}
	return highest
}

// firstVictimIsHighest are the criteria with the first victim's priority for the
// highest.
func firstVictimIsHighest(criteria []Criterion) []Criterion {
	out := slices.Clone(criteria)
	for i := range out {
		if out[i].Name == defaultCriteria()[1].Name {
			out[i].compare = func(a, b *Outcome) int { return cmp.Compare(a.victims[0].priority, b.victims[0].priority) }
		}
	}
	return out
}

// sum adds up the priorities, each shifted to be non-negative, so that more
// victims never make a better sum (preemption.go:361@v1.37.1).
func (o *Outcome) sum() int64 {
	var sum int64
	for _, p := range o.victims {
		sum += int64(p.priority) - math.MinInt32
	}
	return sum
}

// earliestStart is when the first of the highest-priority victims started.
func (o *Outcome) earliestStart() int64 {
	highest, earliest := int32(math.MinInt32), int64(math.MaxInt64)
	for _, p := range o.victims {
		switch start := p.start.UnixNano(); {
		case p.priority > highest:
			highest, earliest = p.priority, start
		case p.priority == highest:
			earliest = min(earliest, start)
		}
	}
	return earliest
}

// compare is negative if a is the better outcome, 0 if the criteria see no
// difference. at is the index of the criterion that tells them apart.
func (r *Rules) compare(a, b *Outcome) (c, at int) {
	for i := range r.criteria {
		if c := r.criteria[i].compare(a, b); c != 0 {
			return c, i
		}
	}
	return 0, len(r.criteria)
}

// best reduces candidates to those that the criteria leave, and says what
// decided: the criterion after which one was left, Tie, or OnlyCandidate.
func (r *Rules) best(candidates map[string]*Outcome) (nodes []string, decidedBy string) {
	if len(candidates) == 1 {
		for name := range candidates {
			return []string{name}, OnlyCandidate
		}
	}
	decisive := -1
	var top *Outcome
	for name, o := range candidates {
		c := -1
		if top != nil {
			c, _ = r.compare(o, top)
		}
		if c < 0 {
			top, nodes = o, nodes[:0]
		}
		if c <= 0 {
			nodes = append(nodes, name)
		}
	}
	if len(nodes) != 1 {
		return nodes, Tie
	}
	for name, o := range candidates {
		if name != nodes[0] {
			_, at := r.compare(top, o)
			decisive = max(decisive, at)
		}
	}
	return nodes, r.criteria[decisive].Name
}

// shortlist is the number of candidates after which no more nodes need to be
// tried, given how many there are to try: a percentage of the cluster's nodes,
// but at least an absolute number and at most all there are to try
// (DefaultPreemptionArgs, types_pluginargs.go:31@v0.37.1). A share of less than
// one node counts as one: the settings choose how long to search, not whether.
func (q *question) shortlist(potential int) int {
	if !q.rules.shortlists {
		return potential
	}
	profile := q.cluster.Settings.profile(q.preemptor.Spec.SchedulerName)
	percentage, absolute := DefaultMinCandidateNodesPercentage, DefaultMinCandidateNodesAbsolute
	if s := profile.MinCandidateNodesPercentage; s != nil {
		percentage = *s
	}
	if s := profile.MinCandidateNodesAbsolute; s != nil {
		absolute = *s
	}
	of := len(q.nodes)
	if q.rules.percentageOfPotentialNodes {
		of = potential
	}
	return min(max(of*int(percentage)/100, int(absolute), q.rules.minShortlist), potential)
}

// CriterionNames are the names of the documented criteria, in turn.
func CriterionNames() []string {
	var names []string
	for _, c := range defaultCriteria() {
		names = append(names, c.Name)
	}
	return names
}

// DecidedBy says what decided between the candidates observed: the name of a
// criterion, Tie, or OnlyCandidate. It is "" if o shows no candidates, or none
// that the Decision knows.
func (d *Decision) DecidedBy(o *Observation) string {
	candidates := map[string]*Outcome{}
	names, runs := o.Candidates, o.DryRuns
	if o.AfterExtenders != nil {
		names, runs = slices.Collect(maps.Keys(o.AfterExtenders)), o.AfterExtenders
	}
	for _, name := range names {
		if d.q.byName[name] == nil {
			return ""
		}
		outcome := &Outcome{Violations: runs[name].Violations, victims: d.pods(name, runs[name].Victims)}
		if len(outcome.victims) == 0 {
			return ""
		}
		candidates[name] = outcome
	}
	if len(candidates) == 0 {
		return ""
	}
	_, by := d.q.rules.best(candidates)
	return by
}
