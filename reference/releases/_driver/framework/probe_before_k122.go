//go:build !k1.22

package main

import (
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	policylisters "k8s.io/client-go/listers/policy/v1beta1"
	"k8s.io/component-base/featuregate"

	"strings"
)

// askedLister lists no budgets, and knows that it was asked to.
type askedLister struct {
	policylisters.PodDisruptionBudgetLister
	yes bool
}

func (l *askedLister) List(labels.Selector) ([]*budget, error) {
	l.yes = true
	return nil, errors.New("go no further")
}

// oneNode is a lister of nodes that lists one.
type oneNode struct {
	nodeInfoLister
	node *nodeInfo
}

func (l oneNode) List() ([]*nodeInfo, error) { return []*nodeInfo{l.node}, nil }

// knownGates are the gates of this release but for those that are locked: their
// list holds a line such as "A=true|false (ALPHA - default=false)" for each.
var knownGates = func() map[featuregate.Feature]featuregate.FeatureSpec {
	known := map[featuregate.Feature]featuregate.FeatureSpec{}
	for _, line := range utilfeature.DefaultMutableFeatureGate.KnownFeatures() {
		name, _, _ := strings.Cut(line, "=")
		known[featuregate.Feature(name)] = featuregate.FeatureSpec{}
	}
	return known
}()

func (s *scheduler) nominatePreemptor(p *v1.Pod) error {
	s.sched.SchedulingQueue.AddNominatedPod(p, "")
	return nil
}
