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
		for _, c := range candidates {
			for i, o := range c.after {
				by, ok := s.mayPick(c, i, candidates)
				known := slices.ContainsFunc(choices, func(k Choice) bool { return k.Node == c.node && w.runs[c.node].same(s.Cycle, k.Outcome, o) })
				if ok && !known {
					choices = append(choices, Choice{c.node, o, by})
				}
			}
		}
	}
	return choices
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

// candidate is a node with all outcomes that it may have: before the extenders,
// and after, where nil is dropped by them; aborts says that they fail over it.
type candidate struct {
	node          string
	before, after []*model.Outcome
	aborts        []bool
}

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
		c := &candidate{node: name, before: run.outcomes, after: run.outcomes, aborts: make([]bool, len(run.outcomes))}
		if s.Cycle.ExtendersPreempt() {
			c.after = make([]*model.Outcome, len(run.outcomes))
			for i, o := range run.outcomes {
				left, failed := s.Cycle.CallExtenders(map[string]*model.Outcome{name: o})
				c.after[i], c.aborts[i] = left[name], failed != ""
			}
		}
		candidates = append(candidates, c)
	}
	return candidates
}

// mayPickNone tells whether the extenders may leave nothing to pick from, and
// whether an error of theirs may end the preemption.
func (s *Set) mayPickNone(candidates []*candidate) (nothing, fails bool) {
	dropped, clean, allViolating := 0, false, true
	for _, c := range candidates {
		drops, violating := false, false
		for i, o := range c.after {
			fails = fails || c.aborts[i]
			violating = violating || c.before[i].Violations > 0
			if o == nil && !c.aborts[i] {
				drops = true
				clean = clean || c.before[i].Violations == 0
			}
		}
		if drops {
			dropped++
		}
		allViolating = allViolating && violating
	}
	enough := s.NumCandidates > 0 && len(candidates) > 0 && dropped >= min(s.NumCandidates, len(candidates))
	return enough && (clean || allViolating), fails && s.NumCandidates > 0
}

// mayPick tells whether a candidate may be chosen with outcome i. Candidates are
// tried in any order until the shortlist is long enough and holds one without
// violations, so all it takes is enough other candidates that can turn out no
// better, or be dropped by extenders. The order of equally important pods is free
// on each node, so one such outcome of a candidate suffices. A choice with
// violations needs in addition one of them without, which the extenders spoil, or
// that no candidate is without: the search goes on until it finds one
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (s *Set) mayPick(c *candidate, i int, candidates []*candidate) (decidedBy string, ok bool) {
	o := c.after[i]
	if s.NumCandidates == 0 || o == nil {
		return "", false
	}
	criteria := s.Cycle.Criteria
	violates := c.before[i].Violations > 0
	fits := [2]int{}             // how many others there may be: any, and with violations
	at := [2]int{-1, -1}         // the criterion that decides
	compared := [2]bool{}        // with any
	clean, others := false, true // one without violations will do; all may have some
	for _, other := range candidates {
		if other == c {
			continue
		}
		violating := false
		nearest, worse := [2]int{len(criteria), len(criteria)}, [2]bool{}
		lives := [2]bool{}
		for j, theirs := range other.after {
			v := other.before[j].Violations > 0
			violating = violating || v
			if other.aborts[j] {
				continue
			}
			cmp, n := -1, len(criteria)
			if theirs != nil {
				cmp, n = s.Cycle.Compare(o, theirs)
			}
			if cmp > 0 {
				continue
			}
			clean = clean || !v
			for k := range worse {
				if k == 1 && !v {
					continue
				}
				if !worse[k] || n < nearest[k] {
					nearest[k] = n
				}
				worse[k], lives[k] = true, lives[k] || theirs != nil
			}
		}
		others = others && violating
		for k := range fits {
			if worse[k] {
				fits[k]++
			}
			if lives[k] {
				at[k], compared[k] = max(at[k], nearest[k]), true
			}
		}
	}
	k, need := 0, min(s.NumCandidates, len(candidates))-1
	switch {
	case !violates:
	case others && fits[1] >= need:
		k = 1
	case clean && s.Cycle.ExtendersPreempt():
		need = max(need, 1)
	default:
		return "", false
	}
	switch {
	case fits[k] < need:
		return "", false
	case !compared[k] && (len(candidates) == 1 || s.Cycle.ExtendersPreempt()):
		return model.OnlyCandidate, true
	case at[k] < 0 || at[k] == len(criteria):
		return model.Tie, true
	default:
		return criteria[at[k]].Name, true
	}
}
