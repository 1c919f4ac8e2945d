package answers

import (
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// maxOrders bounds how many orders of equally important, distinguishable units
// are tried on a node: those of 7 such pods, for example.
const maxOrders = 5040

// run is a dry run with the outcomes of all orders of equally important units.
type run struct {
	*model.DryRunOnNode
	outcomes []*model.Outcome
	// exact is false when there are more orders than maxOrders: outcomes then holds
	// only that of the listed order.
	exact bool

	first      func(*filter.Pod) int32 // as Rules.First
	reprieves  Reprieves               // as Rules.Reprieves
	groups     [][]*unit.Unit          // the possible victims, by importance; a group is equally important
	enumerated bool
}

func (r *run) begin(cy *model.Cycle) {
	r.exact = true
	if r.Listed == nil {
		return
	}
	for i, u := range r.Possible {
		if i == 0 || cy.Importance(r.Possible[i-1], u) != 0 {
			r.groups = append(r.groups, nil)
		}
		last := len(r.groups) - 1
		r.groups[last] = append(r.groups[last], u)
	}
	if r.Failed == nil {
		r.outcomes = []*model.Outcome{r.Listed}
	}
}

// unitOf is the possible victim that a pod belongs to, with the position of its group
// of equally important ones, or -1.
func (r *run) unitOf(p *filter.Pod) (u *unit.Unit, rank int) {
	for rank, group := range r.groups {
		for _, u := range group {
			if slices.Contains(u.Pods, p) {
				return u, rank
			}
		}
	}
	return nil, -1
}

// orders is how many distinguishable orders of equally important units there are,
// or more than maxOrders.
func (r *run) orders(cy *model.Cycle) int {
	orders := 1
	times := func(n int) (few bool) {
		if n <= maxOrders {
			n *= orders
		}
		orders = n
		return orders <= maxOrders
	}
	for _, group := range r.groups {
		if !times(arrangements(r.kindsOf(cy, group))) {
			return orders
		}
		for _, u := range group {
			if !times(arrangements(takersOf(cy, u))) {
				return orders
			}
		}
	}
	return orders
}

// takersOf numbers the pods of a unit so that those which take from the same budgets
// share a number: nobody promises the order of the pods of a unit. All share one if as
// many violate a budget in whatever order.
func takersOf(cy *model.Cycle, u *unit.Unit) []int {
	kinds, overlap := make([]int, len(u.Pods)), false
	if !slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return len(cy.ProtectedBy(p)) > 1 }) {
		return kinds
	}
	for i, p := range u.Pods {
		own := cy.ProtectedBy(p)
		kinds[i] = slices.IndexFunc(u.Pods, func(q *filter.Pod) bool { return slices.Equal(own, cy.ProtectedBy(q)) })
		overlap = overlap || slices.ContainsFunc(u.Pods[:i], func(q *filter.Pod) bool {
			its := cy.ProtectedBy(q)
			return !slices.Equal(own, its) && slices.ContainsFunc(own, func(b int) bool { return slices.Contains(its, b) })
		})
	}
	if !overlap {
		clear(kinds)
	}
	return kinds
}

// enumerate fills in the outcomes of every other order of equally important
// units. Units that can stand in for each other are not told apart.
func (r *run) enumerate(cy *model.Cycle, budgetOrder []int) {
	if r.enumerated || r.Failed != nil {
		return
	}
	r.enumerated = true
	switch orders := r.orders(cy); {
	case orders > maxOrders:
		r.exact = false
		return
	case orders == 1 && r.reprieves == nil:
		return
	}
	same := r.same
	if cy.ExtendersPreempt() { // which see the victims in their order
		same = r.equal
	}
	var sequence []*unit.Unit
	var next func(g int)
	next = func(g int) {
		if g == len(r.groups) {
			eachOrderOfPods(cy, sequence, func(units []*unit.Unit) {
				for _, o := range r.reprieved(cy, units, budgetOrder) {
					if !slices.ContainsFunc(r.outcomes, func(other *model.Outcome) bool { return same(cy, o, other) }) {
						r.outcomes = append(r.outcomes, o)
					}
				}
			})
			return
		}
		arrange(r.groups[g], r.kindsOf(cy, r.groups[g]), func(arranged []*unit.Unit) {
			sequence = append(sequence, arranged...)
			next(g + 1)
			sequence = sequence[:len(sequence)-len(arranged)]
		})
	}
	next(0)
}

// reprieved are the outcomes with the possible victims in an order.
func (r *run) reprieved(cy *model.Cycle, units []*unit.Unit, budgetOrder []int) []*model.Outcome {
	if r.reprieves != nil {
		return r.reprieves(cy, r.DryRunOnNode, units, budgetOrder)
	}
	return []*model.Outcome{cy.Reprieve(cy, r.DryRunOnNode, units, budgetOrder)}
}

// without is the outcome without victims, or nil.
func (r *run) without() *model.Outcome {
	if i := slices.IndexFunc(r.outcomes, func(o *model.Outcome) bool { return len(o.Pods) == 0 }); i >= 0 {
		return r.outcomes[i]
	}
	return nil
}

// withAnyFirst are the outcomes, each with any victim first that may be: of a unit as important as that of the first, any pod.
// Those of which the rules see the same are not told apart.
func (r *run) withAnyFirst(rules *Rules) []*model.Outcome {
	if rules.First == nil {
		return r.outcomes
	}
	var all []*model.Outcome
	for _, o := range r.outcomes {
		all = append(all, o)
		if len(o.Pods) == 0 {
			continue
		}
		seen := len(all) - 1
		_, rank := r.unitOf(o.Pods[0])
		for i, p := range o.Pods {
			if _, its := r.unitOf(p); its != rank || slices.ContainsFunc(all[seen:], func(other *model.Outcome) bool { return rules.First(other.Pods[0]) == rules.First(p) }) {
				continue
			}
			first := *o
			first.Pods = slices.Concat(o.Pods[i:i+1], o.Pods[:i], o.Pods[i+1:])
			first.Victims = slices.Concat(o.Victims[i:i+1], o.Victims[:i], o.Victims[i+1:])
			all = append(all, &first)
		}
	}
	return all
}

// eachOrderOfPods calls visit with the units, with the pods of each in each
// distinguishable order.
func eachOrderOfPods(cy *model.Cycle, units []*unit.Unit, visit func([]*unit.Unit)) {
	several := func(u *unit.Unit) bool { return arrangements(takersOf(cy, u)) > 1 }
	i := slices.IndexFunc(units, several)
	if i < 0 {
		visit(units)
		return
	}
	arrange(units[i].Pods, takersOf(cy, units[i]), func(pods []*filter.Pod) {
		ordered := *units[i]
		ordered.Pods = slices.Clone(pods)
		eachOrderOfPods(cy, units[i+1:], func(rest []*unit.Unit) {
			visit(slices.Concat(units[:i], []*unit.Unit{&ordered}, rest))
		})
	})
}

// same tells whether two outcomes are alike but for pods that can stand in for
// each other.
func (r *run) same(cy *model.Cycle, a, b *model.Outcome) bool {
	if a.Violations != b.Violations || len(a.Pods) != len(b.Pods) {
		return false
	}
	for i := range a.Pods {
		_, x := r.unitOf(a.Pods[i])
		if _, y := r.unitOf(b.Pods[i]); x != y {
			return false
		}
	}
	return r.samePods(cy, a.Pods, b.Pods)
}

// equal is same, with the pods in the same order.
func (r *run) equal(cy *model.Cycle, a, b *model.Outcome) bool {
	return r.same(cy, a, b) && slices.EqualFunc(a.Pods, b.Pods, func(p, q *filter.Pod) bool { return r.alike(cy, p, q) })
}

// samePods tells whether the pods of both lists can be paired so that each pair is
// equally important and interchangeable.
func (r *run) samePods(cy *model.Cycle, a, b []*filter.Pod) bool {
	if len(a) != len(b) {
		return false
	}
	paired := make([]bool, len(b))
next:
	for _, p := range a {
		for j, other := range b {
			if !paired[j] && r.alike(cy, p, other) {
				paired[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

// alike tells whether two possible victims are the same pod, or equally important
// and interchangeable.
func (r *run) alike(cy *model.Cycle, p, q *filter.Pod) bool {
	if p == q {
		return true
	}
	a, x := r.unitOf(p)
	b, y := r.unitOf(q)
	return a != nil && x == y && r.interchangeable(cy, a, b)
}

// interchangeable tells whether two equally important units can stand in for each
// other in everything that decides who becomes a victim, and in what the criteria see of a first victim. That is asked of units of
// one pod only.
func (r *run) interchangeable(cy *model.Cycle, a, b *unit.Unit) bool {
	if len(a.Pods) > 1 || len(b.Pods) > 1 {
		return a == b
	}
	p, q := a.Pods[0], b.Pods[0]
	alike := slices.Equal(cy.ProtectedBy(p), cy.ProtectedBy(q)) && (r.first == nil || r.first(p) == r.first(q))
	cy.States(func(s filter.State) { alike = alike && s.Alike(p, q) })
	return alike
}

// kindsOf numbers the units of a group so that just interchangeable ones share a
// number.
func (r *run) kindsOf(cy *model.Cycle, group []*unit.Unit) []int {
	kinds := make([]int, len(group))
	for i, u := range group {
		kinds[i] = i
		if first := slices.IndexFunc(group[:i], func(other *unit.Unit) bool { return r.interchangeable(cy, u, other) }); first >= 0 {
			kinds[i] = kinds[first]
		}
	}
	return kinds
}

// arrangements counts the distinguishable orders of a group, or more than
// maxOrders if it is more than that.
func arrangements(kinds []int) int {
	seen := map[int]int{}
	count := 1
	for i, k := range kinds {
		seen[k]++
		// Multiplying by i+1 and dividing by the multiplicity keeps count a
		// multinomial coefficient, so the division is exact.
		count = count * (i + 1) / seen[k]
		if count > maxOrders*len(kinds) {
			return count
		}
	}
	return count
}

// arrange calls visit with each distinguishable order of group, the given one
// first. Items of one kind are not told apart.
func arrange[T any](group []T, kinds []int, visit func([]T)) {
	used := make([]bool, len(group))
	arranged := make([]T, 0, len(group))
	var extend func()
	extend = func() {
		if len(arranged) == len(group) {
			visit(arranged)
			return
		}
		var tried []int
		for i := range group {
			if used[i] || slices.Contains(tried, kinds[i]) {
				continue
			}
			tried = append(tried, kinds[i])
			used[i] = true
			arranged = append(arranged, group[i])
			extend()
			arranged = arranged[:len(arranged)-1]
			used[i] = false
		}
	}
	extend()
}

// maxBudgetOrders bounds how many orders of the budget list are tried.
const maxBudgetOrders = 120

// budgetOrders are the orders of the budget list that can lead to different
// answers, the cluster's own (nil) first. Only the mutual order of budgets that
// protect one and the same possible victim matters. exact is false when there
// are more than maxBudgetOrders: then only the first is returned.
func budgetOrders(cy *model.Cycle) (orders [][]int, exact bool) {
	orders = [][]int{nil}
	for _, members := range overlappingBudgets(cy) {
		count := len(orders)
		for i := 2; i <= len(members); i++ {
			if count *= i; count > maxBudgetOrders {
				return [][]int{nil}, false
			}
		}
		var wider [][]int
		arrange(members, members, func(arranged []int) {
			for _, o := range orders {
				wider = append(wider, slices.Concat(o, arranged))
			}
		})
		orders = wider
	}
	if len(orders) > 1 {
		orders[0] = nil
	}
	return orders, true
}

// overlappingBudgets are the groups of two budgets and more that protect one and
// the same possible victim, directly or through others of the group.
func overlappingBudgets(cy *model.Cycle) [][]int {
	group := make([]int, len(cy.Budgets))
	for i := range group {
		group[i] = i
	}
	for _, n := range cy.Nodes {
		for _, u := range cy.Units.On(n) {
			if cy.MayPreempt(cy, u) {
				for _, p := range u.Pods {
					join(group, cy.ProtectedBy(p))
				}
			}
		}
	}
	members := map[int][]int{}
	for b, g := range group {
		members[g] = append(members[g], b)
	}
	var overlapping [][]int
	for _, g := range slices.Sorted(maps.Keys(members)) {
		if len(members[g]) > 1 {
			overlapping = append(overlapping, members[g])
		}
	}
	return overlapping
}

// join puts budgets into one group; groups are numbers, by budget.
func join(group, budgets []int) {
	for _, b := range budgets {
		if from, to := group[b], group[budgets[0]]; from != to {
			for i := range group {
				if group[i] == from {
					group[i] = to
				}
			}
		}
	}
}
