package inprocess

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	policylisters "k8s.io/client-go/listers/policy/v1"
)

// budgetLister lists the budgets in the order of the cluster. The real lister's
// order is that of a map, and with overlapping budgets victims depend on it.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*policyv1.PodDisruptionBudget
}

func (l *budgetLister) List(labels.Selector) ([]*policyv1.PodDisruptionBudget, error) {
	return l.budgets, nil
}
