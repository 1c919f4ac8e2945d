package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// firstOf puts some filter plugins first, in that order.
func firstOf(names ...string) func(*answers.Rules) {
	return func(r *answers.Rules) {
		place := func(p filter.Plugin) int {
			if i := slices.Index(names, p.Name()); i >= 0 {
				return i
			}
			return len(names)
		}
		r.Plugins = slices.Clone(r.Plugins)
		slices.SortStableFunc(r.Plugins, func(a, b filter.Plugin) int { return place(a) - place(b) })
	}
}

// asGeneralPredicates judges some filter plugins together, where the first of them
// is: all that fail are named, and if one cannot be resolved by preemption, all
// cannot. They say nothing before nodes are looked at.
func asGeneralPredicates(names ...string) func(*answers.Rules) {
	return func(r *answers.Rules) {
		var together predicates
		var others []filter.Plugin
		at := 0
		for _, p := range r.Plugins {
			if slices.Contains(names, p.Name()) {
				if together = append(together, p); len(together) == 1 {
					at = len(others)
				}
			} else {
				others = append(others, p)
			}
		}
		r.Plugins = slices.Insert(others, at, filter.Plugin(together))
	}
}

// predicates are plugins that are judged together.
type predicates []filter.Plugin

func (predicates) Name() string { return "GeneralPredicates" }

func (ps predicates) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	states := make([]filter.State, len(ps)) // some of which may be nil
	for i, p := range ps {
		states[i], _ = p.PreFilter(s)
	}
	return variant.Judge{
		Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
			var failed *filter.Verdict
			for i, st := range states {
				if st == nil {
					continue
				}
				next := st.Fits(n, v)
				switch {
				case next == nil:
				case failed == nil:
					failed = next
					failed.Plugin = ps[i].Name()
				default:
					failed.Plugin += "," + ps[i].Name()
					failed.Unresolvable = failed.Unresolvable || next.Unresolvable
					failed.Reasons = append(failed.Reasons, next.Reasons...)
				}
			}
			return failed
		},
		Same: func(a, b *filter.Pod) bool {
			return !slices.ContainsFunc(states, func(st filter.State) bool { return st != nil && !st.Alike(a, b) })
		},
	}, filter.Answer{}
}
