package model

import (
	"slices"
	"strings"
)

// general are filters with those of some plugins judged together, where the first
// of them is: all that fail are named, and if one cannot be resolved by preemption,
// all cannot.
func general(filters []Filter, plugins ...string) []Filter {
	among := func(f Filter) bool { return slices.Contains(plugins, f.Plugin) }
	together := slices.DeleteFunc(slices.Clone(filters), func(f Filter) bool { return !among(f) })
	apart := slices.DeleteFunc(slices.Clone(filters), among)
	fails := func(q *question, n *node, v view) *Verdict {
		var failed *Verdict
		var named []string
		for _, f := range together {
			if next := f.fails(q, n, v); next != nil {
				if failed == nil {
					failed = &Verdict{}
				}
				named = append(named, f.Plugin)
				failed.Plugin = strings.Join(named, ",")
				failed.Unresolvable = failed.Unresolvable || next.Unresolvable
				failed.Reasons = append(failed.Reasons, next.Reasons...)
			}
		}
		return failed
	}
	return slices.Insert(apart, slices.IndexFunc(filters, among), Filter{Plugin: "GeneralPredicates", fails: fails})
}
