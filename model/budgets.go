package model

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget is a PodDisruptionBudget with its selector parsed.
type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	rules    *Rules
}

func newBudget(b *policyv1.PodDisruptionBudget, rules *Rules) *budget {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil || b.Spec.Selector != nil && rules.emptySelectorMatchesNothing && selector.Empty() {
		selector = labels.Nothing()
	}
	return &budget{b, selector, rules}
}

// protects tells whether evicting the pod costs the budget a disruption: the pod
// is in the budget's namespace and matches its selector, where no selector
// matches nothing and an empty one every pod (API reference policy/v1,
// PodDisruptionBudgetSpec.selector), and the API server has not already counted
// it as disrupted (PodDisruptionBudgetStatus.disruptedPods).
func (b *budget) protects(p *v1.Pod) bool {
	if b.Namespace != p.Namespace && b.rules.budgetNamespaces {
		return false
	}
	if len(p.Labels) == 0 && b.rules.unlabelledPodsUnprotected {
		return false
	}
	if _, disrupted := b.Status.DisruptedPods[p.Name]; disrupted && b.rules.disruptedPodsExempt {
		return false
	}
	return b.selector.Matches(labels.Set(p.Labels))
}

// split goes through pods, most important first, and lets each take one
// disruption from every budget that protects it. A pod for which a budget has
// none left would violate that budget, once however many budgets it violates.
// The budgets are asked in the given order, and a pod takes nothing from the
// budgets after the one it violates: with overlapping budgets the order matters
// (preemption/util.go:203@v1.37.1, FilterVictimsWithPDBViolation).
//
// violates holds, for each pod, the index of the violated budget, or -1.
func (q *question) split(pods []*pod, order []int) (violates []int) {
	left := make([]int32, len(q.budgets))
	for i, b := range q.budgets {
		left[i] = b.Status.DisruptionsAllowed
	}
	violates = make([]int, len(pods))
	for i, p := range pods {
		violates[i] = -1
		for _, b := range inOrder(p.budgets, order) {
			if q.rules.decrementBudgets {
				left[b]--
			}
			if q.rules.exhausted(left[b]) && violates[i] < 0 {
				violates[i] = b
				if q.rules.stopAtViolation {
					break
				}
			}
		}
	}
	return violates
}

// inOrder arranges budgets as order does; nil is the order of the cluster.
func inOrder(budgets, order []int) []int {
	if order == nil || len(budgets) < 2 {
		return budgets
	}
	arranged := make([]int, 0, len(budgets))
	for _, b := range order {
		for _, mine := range budgets {
			if mine == b {
				arranged = append(arranged, b)
			}
		}
	}
	return arranged
}

// maxBudgetOrders bounds how many orders of the budget list are tried.
const maxBudgetOrders = 120

// budgetOrders are the orders of the budget list that can lead to different
// answers, the cluster's own (nil) first. Only the mutual order of budgets that
// protect one and the same possible victim matters. exact is false when there
// are more than maxBudgetOrders: then only the first is returned.
func (q *question) budgetOrders() (orders [][]int, exact bool) {
	group := make([]int, len(q.budgets)) // budgets that overlap, directly or through others, share a group
	for i := range group {
		group[i] = i
	}
	for _, n := range q.nodes {
		for _, p := range n.pods {
			if !q.preemptable(p) {
				continue
			}
			for _, b := range p.budgets {
				if from, to := group[b], group[p.budgets[0]]; from != to {
					for i := range group {
						if group[i] == from {
							group[i] = to
						}
					}
				}
			}
		}
	}
	orders = [][]int{nil}
	for g := range group {
		var members []int
		for b := range group {
			if group[b] == g {
				members = append(members, b)
			}
		}
		if len(members) < 2 {
			continue
		}
		count := len(orders)
		for i := 2; i <= len(members); i++ {
			if count *= i; count > maxBudgetOrders {
				return [][]int{nil}, false
			}
		}
		var wider [][]int
		permutations(members, func(arranged []int) bool {
			for _, o := range orders {
				wider = append(wider, append(append([]int(nil), o...), arranged...))
			}
			return true
		})
		orders = wider
	}
	if len(orders) > 1 {
		orders[0] = nil
	}
	return orders, true
}

// permutations calls visit with each order of items, the given one first, until
// it returns false.
func permutations(items []int, visit func([]int) bool) bool {
	arranged := make([]int, 0, len(items))
	used := make([]bool, len(items))
	var extend func() bool
	extend = func() bool {
		if len(arranged) == len(items) {
			return visit(arranged)
		}
		for i, item := range items {
			if used[i] {
				continue
			}
			used[i] = true
			arranged = append(arranged, item)
			ok := extend()
			arranged = arranged[:len(arranged)-1]
			used[i] = false
			if !ok {
				return false
			}
		}
		return true
	}
	return extend()
}
