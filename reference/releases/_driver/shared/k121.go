//go:build k1.21

package main

import (
	policyv1 "k8s.io/api/policy/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

type budget = policyv1.PodDisruptionBudget

func refuseBudget(*budget) error { return nil }

// knownGates are all gates of this release.
var knownGates = utilfeature.DefaultMutableFeatureGate.GetAll()
