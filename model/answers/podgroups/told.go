package podgroups

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// OrderOf is an order of the units that may be preempted, from the most important one down, in which they are given back as
// was observed; nil if there is none, or if it takes too long to find.
func (s *Set) OrderOf(g *model.GroupCycle, possible []*unit.Unit) []*unit.Unit {
	var tried, victims []*unit.Unit
	for _, try := range g.Tried {
		at := slices.IndexFunc(possible, func(u *unit.Unit) bool { return slices.Equal(podsOf(u), try.Pods) })
		if at < 0 || slices.Contains(tried, possible[at]) {
			return nil
		}
		if tried = append(tried, possible[at]); !try.GivenBack {
			victims = append(victims, possible[at])
		}
	}
	if len(tried) < len(possible) {
		return nil
	}
	search := orders{s: s, violations: g.Violations, victims: victims, steps: maxOrders}
	return search.find(tried)
}
