package mutant

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// ofSettings misread the settings of the scheduler, its extenders among them.
var ofSettings = []mutation[model.Settings]{
	{"candidates: dry runs begin at the next node", func(s *model.Settings) {
		next := int32(s.Offset() + 1)
		s.DryRunOffset = &next
	}},
	{"candidates: the offset does not matter", func(s *model.Settings) { s.DryRunOffset = nil }},
	{"profiles: the second has the arguments of the first", func(s *model.Settings) {
		if s.SecondProfile != nil {
			s.SecondProfile.MinCandidateNodesPercentage, s.SecondProfile.MinCandidateNodesAbsolute = s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute
		}
	}},
	{"extenders: never asked about nodes", eachExtender(func(e *model.Extender) { e.Filter = nil })},
	{"extenders: interest ignored", eachExtender(func(e *model.Extender) { e.ManagedResources = nil })},
	{"extenders: no error is ignorable", inOrder(func(e *model.Extender) { e.Ignorable = false })},
	{"extenders: errors never end anything", inOrder(func(e *model.Extender) { e.Ignorable = true })},
	{"extenders: asked in the order configured", eachExtender(withoutErrors)},
	{"extenders: changed victims ignored", eachChange(func(c *model.VictimChange) { c.Reverses, c.Keeps = false, nil })},
	{"extenders: their count of violations ignored", eachChange(func(c *model.VictimChange) { c.Violations = nil })},
	{"extenders: no node is unresolvable", eachExtender(func(e *model.Extender) {
		if f := e.Filter; f != nil {
			f.Rejects = slices.Concat(f.Rejects, f.Excludes, f.Omits)
			f.Excludes, f.Omits = nil, nil
		}
	})},
	{"extenders: every node is unresolvable", eachExtender(func(e *model.Extender) {
		if f := e.Filter; f != nil {
			f.Excludes, f.Rejects = slices.Concat(f.Excludes, f.Rejects), nil
		}
	})},
}

func eachExtender(change func(e *model.Extender)) func(*model.Settings) {
	return func(s *model.Settings) {
		for i := range s.Extenders {
			change(&s.Extenders[i])
		}
	}
}

func eachChange(change func(c *model.VictimChange)) func(*model.Settings) {
	return eachExtender(func(e *model.Extender) {
		if e.Preempt != nil {
			for i := range e.Preempt.Changes {
				change(&e.Preempt.Changes[i])
			}
		}
	})
}

// inOrder changes extenders that are in the order in which they are asked, which
// depends on which may be ignored.
func inOrder(change func(e *model.Extender)) func(*model.Settings) {
	rank := func(e model.Extender) int {
		if e.Ignorable {
			return 1
		}
		return 0
	}
	return func(s *model.Settings) {
		slices.SortStableFunc(s.Extenders, func(a, b model.Extender) int { return rank(a) - rank(b) })
		eachExtender(change)(s)
	}
}

// withoutErrors turns the errors of an extender that may be ignored into what
// ignoring them comes to, so that it need not be ignorable.
func withoutErrors(e *model.Extender) {
	if !e.Ignorable {
		return
	}
	e.Ignorable = false
	if e.Filter != nil && e.Filter.Fails {
		e.Filter = nil
	}
	if e.Preempt == nil {
		return
	}
	if e.Preempt.Fails != "" {
		e.Preempt = nil
		return
	}
	for _, c := range e.Preempt.Changes {
		if c.Keeps != nil && *c.Keeps == 0 {
			e.Preempt.Drops = append(e.Preempt.Drops, c.Node)
		}
	}
}

// ofSearch misread after how many nodes the search for nodes ends, and what becomes of those
// that it did not come to.
var ofSearch = []breaks{
	{"search: one node fewer is enough", toFind(func(percentage *int32, nodes int) int {
		if n := model.NodesToFind(percentage, nodes); n < nodes {
			return n - 1
		}
		return nodes
	})},
	{"search: half of a hundred nodes is enough", toFind(func(percentage *int32, nodes int) int { return min(model.NodesToFind(percentage, nodes), 50) })},
	{"search: the percentage ignored", toFind(func(_ *int32, nodes int) int { return model.NodesToFind(nil, nodes) })},
	{"search: it never ends early", toFind(func(_ *int32, nodes int) int { return nodes })},
	{"search: preemption may help where nobody looked", func(r *answers.Rules) {
		r.LeftOut = func(cy *model.Cycle) *model.Verdict {
			v := model.LeftOut(cy)
			v.Unresolvable = len(cy.PreFiltered.Blamed) > 0 || len(cy.Nodes) <= 100
			return v
		}
	}},
}

func toFind(number func(percentage *int32, nodes int) int) func(*answers.Rules) {
	return func(r *answers.Rules) { r.NodesToFind = number }
}
