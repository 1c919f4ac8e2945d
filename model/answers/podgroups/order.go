package podgroups

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// maxOrders is how many beginnings of orders of equally important units are tried.
const maxOrders = 5040

// admitsOrder: units whose eviction violates a budget are given back first, and then the others, the most important first.
// Which violate depends on the order in which equally important ones are charged to the budgets: any may be it.
func (s *Set) admitsOrder(g *model.GroupCycle, tried, victims []*unit.Unit) *answers.Disagreement {
	search := orders{s: s, violations: g.Violations, victims: victims, steps: maxOrders}
	if search.find(tried) != nil {
		return nil
	}
	dis := disagree(model.StageReprieve, "", "order", "violating units first, and the more important first", fmt.Sprintf("%v, %d violations", unitsOf(tried), g.Violations))
	large := func(u *unit.Unit) bool { return len(u.Pods) > maxPods && s.overlaps(u) }
	dis.Undecided = search.steps <= 0 || slices.ContainsFunc(tried, large)
	return dis
}

// orders looks for an order of units, from the most important one down, by which the victims violate budgets as often as
// was observed; below 0: that was not observed.
type orders struct {
	s          *Set
	violations int
	victims    []*unit.Unit
	steps      int
	// charged are the units with their pods in the order in which they are charged.
	charged map[*unit.Unit]*unit.Unit
}

// find is such an order of units that were given back one after another; nil if there is none, or if it takes too long to
// find.
func (o *orders) find(tried []*unit.Unit) []*unit.Unit {
	for split := range len(tried) + 1 {
		if order := o.merge([]*unit.Unit{}, tried[:split], tried[split:]); order != nil {
			return order
		}
	}
	return nil
}

// merge continues an order with those that violate and the others, each in their turn, so that just those that should
// violate do.
func (o *orders) merge(order, violating, others []*unit.Unit) []*unit.Unit {
	if o.steps--; o.steps < 0 {
		return nil
	}
	if len(violating)+len(others) == 0 {
		return o.accept(order)
	}
	compare := 0
	switch {
	case len(others) == 0:
		compare = -1
	case len(violating) == 0:
		compare = 1
	default:
		compare = o.s.OfPods.Importance(violating[0], others[0])
	}
	var found []*unit.Unit
	if compare <= 0 {
		found = o.next(order, violating[0], true, violating[1:], others)
	}
	if found == nil && compare >= 0 {
		found = o.next(order, others[0], false, violating, others[1:])
	}
	return found
}

// next continues an order with a unit, with its pods charged in some order, and the others after it.
func (o *orders) next(order []*unit.Unit, u *unit.Unit, violates bool, violating, others []*unit.Unit) []*unit.Unit {
	for _, pods := range o.s.chargings(u) {
		if o.charged == nil {
			o.charged = map[*unit.Unit]*unit.Unit{}
		}
		o.charged[u] = variant.Changed(u, func(u *unit.Unit) { u.Pods = pods })
		if !o.mayCome(order, u, violates) {
			continue
		}
		if found := o.merge(append(slices.Clip(order), u), violating, others); found != nil {
			return found
		}
	}
	return nil
}

// accept returns an order if its victims violate budgets as often as was observed.
func (o *orders) accept(order []*unit.Unit) []*unit.Unit {
	sum := 0
	for i, violations := range o.charge(order) {
		if slices.Contains(o.victims, order[i]) {
			sum += violations
		}
	}
	if o.violations >= 0 && sum != o.violations {
		return nil
	}
	return order
}

// charge counts, for each unit of an order, the pods that violate a budget.
func (o *orders) charge(order []*unit.Unit) []int {
	charged := make([]*unit.Unit, len(order))
	for i, u := range order {
		charged[i] = o.charged[u]
	}
	violations, _ := o.s.First.Violations(charged, nil)
	return violations
}

// maxPods is up to how many pods of a unit are tried in all orders.
const maxPods = 4

// chargings are the orders in which the pods of a unit may be charged to the budgets: any. They come to the same unless
// budgets overlap on one of them.
func (s *Set) chargings(u *unit.Unit) [][]*filter.Pod {
	if len(u.Pods) > maxPods || !s.overlaps(u) {
		return [][]*filter.Pod{u.Pods}
	}
	return permutations(u.Pods)
}

// overlaps tells whether several budgets protect a pod of a unit of several.
func (s *Set) overlaps(u *unit.Unit) bool {
	return len(u.Pods) > 1 && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return len(s.First.ProtectedBy(p)) > 1 })
}

func permutations(pods []*filter.Pod) (all [][]*filter.Pod) {
	if len(pods) <= 1 {
		return [][]*filter.Pod{pods}
	}
	for i := range pods {
		for _, rest := range permutations(slices.Delete(slices.Clone(pods), i, i+1)) {
			all = append(all, append([]*filter.Pod{pods[i]}, rest...))
		}
	}
	return all
}

// mayCome tells whether a unit may come next: it is no more important than the one before it, and violates as it should.
func (o *orders) mayCome(order []*unit.Unit, u *unit.Unit, violates bool) bool {
	if n := len(order); n > 0 && o.s.OfPods.Importance(order[n-1], u) > 0 {
		return false
	}
	return o.charge(append(slices.Clip(order), u))[len(order)] > 0 == violates
}
