package answers

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// Choice is one allowed answer.
type Choice struct {
	Node    string
	Outcome *model.Outcome
	// DecidedBy is the criterion that decided for the node; model.Tie; or
	// model.OnlyCandidate.
	DecidedBy string
}

// Choices are all allowed answers: which node may be nominated, with which
// victims. None means that preemption does not help.
func (s *Set) Choices() []Choice {
	var choices []Choice
	if len(s.worlds) == 0 {
		return nil
	}
	for _, w := range s.allWorlds() {
		candidates := s.candidatesIn(w)
		if len(s.worlds) == 1 && s.oneWayEach(candidates) {
			return s.choicesOfRanked(candidates)
		}
		for _, c := range candidates {
			for _, way := range c.ways {
				by, ok := s.mayPick(c, way, candidates)
				if ok && !slices.ContainsFunc(choices, func(k Choice) bool {
					return k.Node == c.node && w.runs[c.node].same(s.Cycle, k.Outcome, way.after) && s.rules.sameFirst(k.Outcome, way.after)
				}) {
					choices = append(choices, Choice{c.node, way.after, by})
				}
			}
		}
	}
	return choices
}

// oneWayEach tells whether each candidate can turn out in one way only, and no extender
// has a say.
func (s *Set) oneWayEach(candidates []*candidate) bool {
	return !s.Cycle.ExtendersPreempt() && !slices.ContainsFunc(candidates, func(c *candidate) bool { return len(c.ways) > 1 })
}

// choicesOfRanked are Choices where candidates turn out in one way each. It is what
// mayPick comes to then, without comparing each of thousands of nodes with each other.
func (s *Set) choicesOfRanked(candidates []*candidate) []Choice {
	ranked := slices.Clone(candidates)
	slices.SortStableFunc(ranked, func(a, b *candidate) int {
		c, _ := s.Cycle.Compare(a.ways[0].after, b.ways[0].after)
		return c
	})
	allViolate := !slices.ContainsFunc(candidates, func(c *candidate) bool { return !c.mayViolate() })
	by := map[*candidate]string{} // of those that may be picked
	n, need := len(ranked), min(s.NumCandidates, len(ranked))
	for first := 0; first < n && n-first >= need && need > 0; {
		after, at := first, len(s.Cycle.Criteria)
		for after < n && s.tie(ranked[first], ranked[after]) {
			after++
		}
		if after == first+1 && after < n {
			_, at = s.Cycle.Compare(ranked[first].ways[0].after, ranked[after].ways[0].after)
		}
		for _, c := range ranked[first:after] {
			switch {
			case c.mayViolate() && !allViolate:
			case n == 1:
				by[c] = model.OnlyCandidate
			case at == len(s.Cycle.Criteria):
				by[c] = model.Tie
			default:
				by[c] = s.Cycle.Criteria[at].Name
			}
		}
		first = after
	}
	var choices []Choice
	for _, c := range candidates {
		if decidedBy, ok := by[c]; ok {
			choices = append(choices, Choice{c.node, c.ways[0].after, decidedBy})
		}
	}
	return choices
}

func (s *Set) tie(a, b *candidate) bool {
	c, _ := s.Cycle.Compare(a.ways[0].after, b.ways[0].after)
	return c == 0
}

// Candidates are the names of the potential nodes where preemption helps, with
// the budgets and the equally important pods in the cluster's order: best first,
// nodes that tie by name.
func (s *Set) Candidates() []string {
	var names []string
	for _, name := range s.PotentialNodes {
		if run := s.run(name); run != nil && run.IsCandidate() {
			names = append(names, name)
		}
	}
	// PotentialNodes are sorted.
	slices.SortStableFunc(names, func(a, b string) int {
		c, _ := s.Cycle.Compare(s.run(a).Listed, s.run(b).Listed)
		return c
	})
	return names
}

// candidate is a node with all the ways in which it may turn out.
type candidate struct {
	node string
	ways []way
}

// way is an outcome before the extenders, and after: nil is dropped by them. aborts
// says that they fail over it.
type way struct {
	before, after *model.Outcome
	aborts        bool
}

func (w way) violates() bool { return w.before.Violations > 0 }

func (c *candidate) mayViolate() bool { return slices.ContainsFunc(c.ways, way.violates) }

// candidatesIn are the candidates for one order of the budget list. What an
// extender does to one of them does not depend on the others, but for an error.
func (s *Set) candidatesIn(w *world) []*candidate {
	var candidates []*candidate
	for _, name := range s.PotentialNodes {
		run := w.runs[name]
		run.enumerate(s.Cycle, w.order)
		if !run.IsCandidate() {
			continue
		}
		outcomes := slices.DeleteFunc(slices.Clone(run.withAnyFirst(s.rules)), func(o *model.Outcome) bool { return len(o.Pods) == 0 }) // they are errors
		c := &candidate{name, make([]way, len(outcomes))}
		for i, o := range outcomes {
			c.ways[i] = way{o, o, false}
			if s.Cycle.ExtendersPreempt() {
				left, failed := s.Cycle.CallExtenders(map[string]*model.Outcome{name: o})
				c.ways[i] = way{o, left[name], failed != ""}
			}
		}
		candidates = append(candidates, c)
	}
	return candidates
}

// picksNone is mayPickNone for any order of the budget list.
func (s *Set) picksNone() (nothing, fails bool) {
	for _, w := range s.allWorlds() {
		n, f := s.mayPickNone(s.candidatesIn(w))
		nothing, fails = nothing || n, fails || f
	}
	return nothing, fails
}

// mayPickNone tells whether the extenders may leave nothing to pick from, and
// whether an error of theirs may end the preemption.
func (s *Set) mayPickNone(candidates []*candidate) (nothing, fails bool) {
	dropped, clean, allViolating := 0, false, true
	for _, c := range candidates {
		drops := false
		for _, w := range c.ways {
			fails = fails || w.aborts
			if w.after == nil && !w.aborts {
				drops, clean = true, clean || !w.violates()
			}
		}
		if drops {
			dropped++
		}
		allViolating = allViolating && c.mayViolate()
	}
	enough := s.NumCandidates > 0 && len(candidates) > 0 && dropped >= min(s.NumCandidates, len(candidates))
	return enough && (clean || allViolating), fails && s.NumCandidates > 0
}

// mayPick tells whether a candidate that turns out in that way may be chosen.
// Candidates are tried in any order until the shortlist is long enough and holds one
// without violations, so all it takes is enough other candidates that can turn out
// no better, or be dropped by extenders. The order of equally important pods is free
// on each node, so one such way of a candidate suffices. A choice with violations
// needs in addition one of them without, which the extenders spoil, or that no
// candidate is without: the search goes on until it finds one
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (s *Set) mayPick(c *candidate, turnsOut way, candidates []*candidate) (decidedBy string, ok bool) {
	if s.NumCandidates == 0 || turnsOut.after == nil {
		return "", false
	}
	extended, need := s.Cycle.ExtendersPreempt(), min(s.NumCandidates, len(candidates))-1
	rivals := func(counts func(way) bool) (number, at int) { return s.rivals(c, turnsOut.after, candidates, counts) }
	fit, at := rivals(func(way) bool { return true })
	if turnsOut.violates() {
		violating, atViolating := rivals(way.violates)
		clean, _ := rivals(func(w way) bool { return !w.violates() })
		switch {
		case violating >= need && !slices.ContainsFunc(candidates, func(other *candidate) bool { return !other.mayViolate() }):
			fit, at = violating, atViolating
		case clean > 0 && extended:
			need = max(need, 1)
		default:
			return "", false
		}
	}
	switch {
	case fit < need:
		return "", false
	case at < 0 && (len(candidates) == 1 || extended):
		return model.OnlyCandidate, true
	case at < 0 || at == len(s.Cycle.Criteria):
		return model.Tie, true
	}
	return s.Cycle.Criteria[at].Name, true
}

// rivals is how many of the other candidates can turn out no better than an outcome
// of c, in one of the ways that count, or be dropped. at is the last criterion that
// it takes to tell them apart; -1 if none is left to compare.
func (s *Set) rivals(c *candidate, o *model.Outcome, candidates []*candidate, counts func(way) bool) (number, at int) {
	at = -1
	for _, other := range candidates {
		if other == c {
			continue
		}
		fits, left, nearest := false, false, len(s.Cycle.Criteria)
		for _, w := range other.ways {
			switch {
			case w.aborts || !counts(w):
			case w.after == nil:
				fits = true
			default:
				if c, n := s.Cycle.Compare(o, w.after); c <= 0 {
					fits, left, nearest = true, true, min(nearest, n)
				}
			}
		}
		if fits {
			number++
		}
		if left {
			at = max(at, nearest)
		}
	}
	return number, at
}
