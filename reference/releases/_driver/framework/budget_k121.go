//go:build k1.21

package main

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/policy/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"

	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

type budget = policyv1.PodDisruptionBudget

func refuseBudget(*budget) error { return nil }

func prepare(*wire.Request) error { return nil }

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

func (g budgetGroup) V1() v1.Interface { return budgetVersion{g.Interface.V1(), g.l} }

type budgetVersion struct {
	v1.Interface
	l *budgetLister
}

func (v budgetVersion) PodDisruptionBudgets() v1.PodDisruptionBudgetInformer {
	return budgetInformer{v.Interface.PodDisruptionBudgets(), v.l}
}

type budgetInformer struct {
	v1.PodDisruptionBudgetInformer
	l *budgetLister
}

func (i budgetInformer) Lister() policylisters.PodDisruptionBudgetLister { return i.l }
