//go:build !k1.37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

func (r *recorder) SelectVictimsOnNode(ctx context.Context, state cycleState, preemptor *v1.Pod, node nodeInfo, budgets []*policyv1.PodDisruptionBudget) (victims []*v1.Pod, violations int, st *status) {
	defer r.s.rescue(&st)
	victims, violations, st = r.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, budgets)
	r.dryRan(ctx, node.Node().Name, victims, violations, st)
	return victims, violations, st
}
