package mutant

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// ofSettings misread the settings of the scheduler, its extenders among them.
func ofSettings(misreads func(name string, distort func(s *model.Settings))) {
	misreads("candidates: dry runs begin at the next node", func(s *model.Settings) {
		next := int32(s.Offset() + 1)
		s.DryRunOffset = &next
	})
	misreads("candidates: the offset does not matter", func(s *model.Settings) { s.DryRunOffset = nil })
	misreads("profiles: the second has the arguments of the first", func(s *model.Settings) {
		if s.SecondProfile != nil {
			s.SecondProfile.MinCandidateNodesPercentage, s.SecondProfile.MinCandidateNodesAbsolute = s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute
		}
	})
	each := func(name string, distort func(e *model.Extender)) {
		misreads("extenders: "+name, func(s *model.Settings) {
			for i := range s.Extenders {
				distort(&s.Extenders[i])
			}
		})
	}
	inOrder := func(name string, distort func(e *model.Extender)) {
		misreads("extenders: "+name, func(s *model.Settings) {
			// The order in which they are asked depends on which may be ignored.
			slices.SortStableFunc(s.Extenders, func(a, b model.Extender) int { return rank(a) - rank(b) })
			for i := range s.Extenders {
				distort(&s.Extenders[i])
			}
		})
	}
	each("never asked about nodes", func(e *model.Extender) { e.Filter = nil })
	each("interest ignored", func(e *model.Extender) { e.ManagedResources = nil })
	inOrder("no error is ignorable", func(e *model.Extender) { e.Ignorable = false })
	inOrder("errors never end anything", func(e *model.Extender) { e.Ignorable = true })
	each("asked in the order configured", func(e *model.Extender) {
		if e.Ignorable {
			withoutErrors(e)
		}
	})
	each("changed victims ignored", func(e *model.Extender) {
		eachChange(e, func(c *model.VictimChange) { c.Reverses, c.Keeps = false, nil })
	})
	each("their count of violations ignored", func(e *model.Extender) {
		eachChange(e, func(c *model.VictimChange) { c.Violations = nil })
	})
	each("no node is unresolvable", func(e *model.Extender) {
		if f := e.Filter; f != nil {
			f.Rejects = slices.Concat(f.Rejects, f.Excludes, f.Omits)
			f.Excludes, f.Omits = nil, nil
		}
	})
	each("every node is unresolvable", func(e *model.Extender) {
		if f := e.Filter; f != nil {
			f.Excludes, f.Rejects = slices.Concat(f.Excludes, f.Rejects), nil
		}
	})
}

func rank(e model.Extender) int {
	if e.Ignorable {
		return 1
	}
	return 0
}

// withoutErrors turns the errors of an extender that may be ignored into what
// ignoring them comes to, so that it need not be ignorable.
func withoutErrors(e *model.Extender) {
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

func eachChange(e *model.Extender, change func(c *model.VictimChange)) {
	if e.Preempt != nil {
		for i := range e.Preempt.Changes {
			change(&e.Preempt.Changes[i])
		}
	}
}
