//go:build !k1.21

package main

import (
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/policy"
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

// budgetLister lists the budgets in the order of the cluster.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*budget
}

func (l *budgetLister) List(labels.Selector) ([]*budget, error) { return l.budgets, nil }

// The rest of this file hands it to the plugin.

type budgetFactory struct {
	informers.SharedInformerFactory
	l *budgetLister
}

func (f budgetFactory) Policy() policy.Interface {
	return budgetGroup{f.SharedInformerFactory.Policy(), f.l}
}

type budgetGroup struct {
	policy.Interface
	l *budgetLister
}

func (g budgetGroup) V1beta1() v1beta1.Interface { return budgetVersion{g.Interface.V1beta1(), g.l} }

type budgetVersion struct {
	v1beta1.Interface
	l *budgetLister
}

func (v budgetVersion) PodDisruptionBudgets() v1beta1.PodDisruptionBudgetInformer {
	return budgetInformer{v.Interface.PodDisruptionBudgets(), v.l}
}

type budgetInformer struct {
	v1beta1.PodDisruptionBudgetInformer
	l *budgetLister
}

func (i budgetInformer) Lister() policylisters.PodDisruptionBudgetLister { return i.l }

// prepare refuses the arguments of DefaultPreemption, which has none before 1.20:
// all nodes are tried.
func prepare(r *wire.Request) error {
	if s := r.Settings; s.MinCandidateNodesPercentage != nil || s.MinCandidateNodesAbsolute != nil {
		return wire.Refusal("DefaultPreemptionArgs")
	}
	return nil
}
