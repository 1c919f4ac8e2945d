package model

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Budget is a PodDisruptionBudget with its selector parsed.
type Budget struct {
	*policyv1.PodDisruptionBudget
	// Selector matches nothing where the budget has none, and every pod where it is
	// empty (API reference policy/v1, PodDisruptionBudgetSpec.selector).
	Selector labels.Selector
}

func newBudgets(list []*policyv1.PodDisruptionBudget) []*Budget {
	budgets := make([]*Budget, len(list))
	for i, b := range list {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		budgets[i] = &Budget{b, selector}
	}
	return budgets
}

// Protects tells whether evicting the pod costs the budget a disruption: the pod
// is in the budget's namespace and matches its selector, and the API server has
// not already counted it as disrupted (PodDisruptionBudgetStatus.disruptedPods).
func Protects(b *Budget, p *filter.Pod) bool {
	if b.Namespace != p.Namespace {
		return false
	}
	if _, disrupted := b.Status.DisruptedPods[p.Name]; disrupted {
		return false
	}
	return b.Selector.Matches(labels.Set(p.Labels))
}

// ProtectedBy are the indices of the budgets that protect a pod, in the cluster's
// order.
func (cy *Cycle) ProtectedBy(p *filter.Pod) []int {
	if cy.protectedBy == nil {
		cy.protectedBy = make([][]int, cy.Size())
	}
	if cy.protectedBy[p.Index] == nil {
		budgets := []int{}
		for i, b := range cy.Budgets {
			if cy.Protects(b, p) {
				budgets = append(budgets, i)
			}
		}
		cy.protectedBy[p.Index] = budgets
	}
	return cy.protectedBy[p.Index]
}

// Violations goes through the pods of units, most important first, and lets each take
// one disruption from the budgets that protect it. A pod for which a budget has none
// left would violate that budget. A pod counts as one violation, however many budgets
// it violates. The budgets are asked in budgetOrder, nil for the cluster's: where
// budgets overlap the order matters (preemption/util.go:203@v1.37.1,
// FilterVictimsWithPDBViolation).
//
// violations counts, for each unit, the pods that violate a budget; violated is the
// index of that budget.
func (cy *Cycle) Violations(units []*unit.Unit, budgetOrder []int) (violations []int, violated map[*filter.Pod]int) {
	left := make([]int32, len(cy.Budgets))
	for i, b := range cy.Budgets {
		left[i] = b.Status.DisruptionsAllowed
	}
	violations = make([]int, len(units))
	for i, u := range units {
		for _, p := range u.Pods {
			if b := cy.TakeBudgets(left, inOrder(cy.ProtectedBy(p), budgetOrder)); b >= 0 {
				if violated == nil {
					violated = map[*filter.Pod]int{}
				}
				violations[i]++
				violated[p] = b
			}
		}
	}
	return violations, violated
}

// TakeBudgets takes one disruption from each budget in turn, up to the first that
// has none left, which it returns; -1 if all have. left are the disruptions that
// each budget has left.
func TakeBudgets(left []int32, budgets []int) (violated int) {
	for _, b := range budgets {
		if left[b]--; left[b] < 0 {
			return b
		}
	}
	return -1
}

// inOrder arranges budgets as order does.
func inOrder(budgets, order []int) []int {
	if order == nil || len(budgets) < 2 {
		return budgets
	}
	return slices.DeleteFunc(slices.Clone(order), func(b int) bool { return !slices.Contains(budgets, b) })
}
