package podgroups

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
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
	// failed are the beginnings that no order goes on from.
	failed map[string]bool
}

// beginning is that of an order: the units in it, what is left of the budgets after them, and how often the victims among them
// violate one. Of the units left, violating should violate a budget, and others should not.
type beginning struct {
	order, violating, others []*unit.Unit
	left                     []int32
	violations               int
}

// find is such an order of units that were given back one after another; nil if there is none, or if it takes too long to
// find.
func (o *orders) find(tried []*unit.Unit) []*unit.Unit {
	budgets := make([]int32, len(o.s.First.Budgets))
	for i, b := range o.s.First.Budgets {
		budgets[i] = b.Status.DisruptionsAllowed
	}
	for split := range len(tried) + 1 {
		o.failed = map[string]bool{}
		if order := o.merge(beginning{order: []*unit.Unit{}, violating: tried[:split], others: tried[split:], left: budgets}); order != nil {
			return order
		}
	}
	return nil
}

// merge continues an order with those that violate and the others, each in their turn, so that just those that should
// violate do. Beginnings that are alike but for the order of their units go on alike: each is tried once.
func (o *orders) merge(b beginning) (found []*unit.Unit) {
	if len(b.violating)+len(b.others) == 0 {
		if o.violations >= 0 && b.violations != o.violations {
			return nil
		}
		return b.order
	}
	key := fmt.Sprint(len(b.violating), len(b.others), b.left, b.violations)
	if o.failed[key] {
		return nil
	}
	if o.steps--; o.steps < 0 {
		return nil
	}
	compare := 0
	switch {
	case len(b.others) == 0:
		compare = -1
	case len(b.violating) == 0:
		compare = 1
	default:
		compare = o.s.OfPods.Importance(b.violating[0], b.others[0])
	}
	if compare <= 0 {
		after := b
		after.violating = b.violating[1:]
		found = o.next(after, b.violating[0], true)
	}
	if found == nil && compare >= 0 {
		after := b
		after.others = b.others[1:]
		found = o.next(after, b.others[0], false)
	}
	o.failed[key] = found == nil
	return found
}

// next continues an order with a unit, if that is no more important than the one before it, and, with its pods charged in some
// order, violates as it should.
func (o *orders) next(b beginning, u *unit.Unit, violates bool) []*unit.Unit {
	if n := len(b.order); n > 0 && o.s.OfPods.Importance(b.order[n-1], u) > 0 {
		return nil
	}
	for _, pods := range o.s.chargings(u) {
		after, violations := b, 0
		after.order, after.left = append(slices.Clip(b.order), u), slices.Clone(b.left)
		for _, p := range pods {
			if o.s.First.TakeBudgets(after.left, o.s.First.ProtectedBy(p)) >= 0 {
				violations++
			}
		}
		if (violations > 0) != violates {
			continue
		}
		if slices.Contains(o.victims, u) {
			after.violations += violations
		}
		if found := o.merge(after); found != nil {
			return found
		}
	}
	return nil
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
