package release

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
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
	var all predicateStates
	for _, p := range ps {
		if st, _ := p.PreFilter(s); st != nil {
			all = append(all, predicateState{p.Name(), st})
		}
	}
	return all, filter.Answer{}
}

type predicateStates []predicateState

type predicateState struct {
	name string
	filter.State
}

func (all predicateStates) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	var failed *filter.Verdict
	var named []string
	for _, st := range all {
		if next := st.Fits(n, v); next != nil {
			if failed == nil {
				failed = &filter.Verdict{}
			}
			named = append(named, st.name)
			failed.Plugin = strings.Join(named, ",")
			failed.Unresolvable = failed.Unresolvable || next.Unresolvable
			failed.Reasons = append(failed.Reasons, next.Reasons...)
		}
	}
	return failed
}

func (all predicateStates) Alike(a, b *filter.Pod) bool {
	return !slices.ContainsFunc(all, func(st predicateState) bool { return !st.Alike(a, b) })
}
