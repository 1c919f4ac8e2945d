//go:build !k1.21

package main

import (
	policyv1beta1 "k8s.io/api/policy/v1beta1"

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
