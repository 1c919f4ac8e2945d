package main

import (
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers/policy/v1beta1"
	policylisters "k8s.io/client-go/listers/policy/v1beta1"

	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// budget is of v1beta1: there is no other.
type budget = policyv1beta1.PodDisruptionBudget

// refuseBudget refuses an empty selector, which matches every pod in v1, and none
// in v1beta1.
func refuseBudget(b *budget) error {
	if s := b.Spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return wire.Refusal("PodDisruptionBudget " + key(b) + ": an empty spec.selector of policy/v1")
	}
	return nil
}

// budgetLister lists the budgets in the order of the cluster, and tells when.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*budget
	listed  func()
}

func (l *budgetLister) List(labels.Selector) ([]*budget, error) {
	l.listed()
	return l.budgets, nil
}

type budgetInformer struct {
	v1beta1.PodDisruptionBudgetInformer
	l *budgetLister
}

func (i budgetInformer) Lister() policylisters.PodDisruptionBudgetLister { return i.l }

// prepare refuses the arguments of DefaultPreemption, which has none before 1.20:
// all nodes are tried. Nor do pods have a policy by default before 1.19.
func prepare(r *wire.Request) error {
	if s := r.Settings; s.MinCandidateNodesPercentage != nil || s.MinCandidateNodesAbsolute != nil {
		return wire.Refusal("DefaultPreemptionArgs")
	}
	r.DropPreemptionPolicy()
	return nil
}
