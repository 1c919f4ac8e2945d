package model

import "slices"

// Choice is one allowed answer.
type Choice struct {
	Node    string
	Outcome *Outcome
	// DecidedBy is the criterion that decided for the node; Tie; or
	// OnlyCandidate.
	DecidedBy string
}

// Choices are all allowed answers: which node may be nominated, with which
// victims. None means that preemption does not help.
func (d *Decision) Choices() []Choice {
	var choices []Choice
	if len(d.worlds) == 0 {
		return nil
	}
	for _, w := range d.allWorlds() {
		candidates := d.candidatesIn(w)
		for _, c := range candidates {
			for i, o := range c.after {
				by, ok := d.q.mayPick(c, i, candidates, d.Shortlist)
				known := slices.ContainsFunc(choices, func(k Choice) bool { return k.Node == c.node && k.Outcome.same(o) })
				if ok && !known {
					choices = append(choices, Choice{c.node, o, by})
				}
			}
		}
	}
	return choices
}

// mayBe is a candidate with all that it may turn out to be: before the extenders,
// and after, where nil is dropped by them; aborts says that they fail over it.
type mayBe struct {
	node          string
	before, after []*Outcome
	aborts        []bool
}

// candidatesIn are the candidates for one order of the budget list. What an
// extender does to one of them does not depend on the others, but for an error.
func (d *Decision) candidatesIn(w *world) []*mayBe {
	var candidates []*mayBe
	for _, name := range d.PotentialNodes {
		run := w.runs[name]
		d.q.enumerate(run, w.order)
		if !run.isCandidate() {
			continue
		}
		c := &mayBe{node: name, before: run.outcomes, after: run.outcomes, aborts: make([]bool, len(run.outcomes))}
		if d.q.extendersPreempt() {
			c.after = make([]*Outcome, len(run.outcomes))
			for i, o := range run.outcomes {
				left, fails := d.q.extend(map[string]*Outcome{name: o})
				c.after[i], c.aborts[i] = left[name], fails != ""
			}
		}
		candidates = append(candidates, c)
	}
	return candidates
}

// mayPickNone tells whether the extenders may leave nothing to pick from, and
// whether an error of theirs may end the preemption.
func mayPickNone(candidates []*mayBe, shortlist int) (nothing, fails bool) {
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
	enough := shortlist > 0 && len(candidates) > 0 && dropped >= min(shortlist, len(candidates))
	return enough && (clean || allViolating), fails && shortlist > 0
}

// mayPick tells whether a candidate may be chosen with outcome i. Candidates are
// tried in any order until the shortlist is long enough and holds one without
// violations, so all it takes is enough other candidates that can turn out no
// better, or be dropped by extenders. The order of equally important pods is free
// on each node, so one such outcome of a candidate suffices. A choice with
// violations needs in addition one of them without, which the extenders spoil, or
// that no candidate is without: the search goes on until it finds one
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (q *question) mayPick(c *mayBe, i int, candidates []*mayBe, shortlist int) (decidedBy string, ok bool) {
	o := c.after[i]
	if shortlist == 0 || o == nil {
		return "", false
	}
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
		nearest, worse := [2]int{len(q.rules.criteria), len(q.rules.criteria)}, [2]bool{}
		lives := [2]bool{}
		for j, theirs := range other.after {
			v := other.before[j].Violations > 0
			violating = violating || v
			if other.aborts[j] {
				continue
			}
			cmp, n := -1, len(q.rules.criteria)
			if theirs != nil {
				cmp, n = q.rules.compare(o, theirs)
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
	k, need := 0, min(shortlist, len(candidates))-1
	switch {
	case !violates:
	case others && fits[1] >= need:
		k = 1
	case clean && q.extendersPreempt():
		need = max(need, 1)
	default:
		return "", false
	}
	switch {
	case fits[k] < need:
		return "", false
	case !compared[k] && (len(candidates) == 1 || q.extendersPreempt()):
		return OnlyCandidate, true
	case at[k] < 0 || at[k] == len(q.rules.criteria):
		return Tie, true
	default:
		return q.rules.criteria[at[k]].Name, true
	}
}
