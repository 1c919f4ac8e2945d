package release

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// inOrderOf puts some plugins first, in that order.
func inOrderOf(plugins []filter.Plugin, names ...string) []filter.Plugin {
	var first []filter.Plugin
	for _, name := range names {
		if i := slices.IndexFunc(plugins, func(p filter.Plugin) bool { return p.Name() == name }); i >= 0 {
			first = append(first, plugins[i])
		}
	}
	rest := slices.DeleteFunc(slices.Clone(plugins), func(p filter.Plugin) bool { return slices.Contains(names, p.Name()) })
	return append(first, rest...)
}

// generalPredicates judges some plugins together, where the first of them is: all
// that fail are named, and if one cannot be resolved by preemption, all cannot.
// They say nothing before nodes are looked at.
func generalPredicates(plugins []filter.Plugin, names ...string) []filter.Plugin {
	among := func(p filter.Plugin) bool { return slices.Contains(names, p.Name()) }
	together := slices.DeleteFunc(slices.Clone(plugins), func(p filter.Plugin) bool { return !among(p) })
	apart := slices.DeleteFunc(slices.Clone(plugins), among)
	return slices.Insert(apart, slices.IndexFunc(plugins, among), filter.Plugin(predicates(together)))
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
