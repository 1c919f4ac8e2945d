package main

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	policylisters "k8s.io/client-go/listers/policy/v1"

	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

type budget = policyv1.PodDisruptionBudget

func refuseBudget(*budget) error { return nil }

// budgetLister lists the budgets in the order of the cluster. The real lister's
// order is that of a map, and with overlapping budgets victims depend on it.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*budget
}

func (l *budgetLister) List(labels.Selector) ([]*budget, error) {
	return l.budgets, nil
}

// knownGates are all gates of this release.
var knownGates = utilfeature.DefaultMutableFeatureGate.GetAll()

func prepare(*wire.Request) error { return nil }
