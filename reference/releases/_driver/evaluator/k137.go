//go:build k1.37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

var watchedLater = []runtime.Object{&resourcev1.DeviceTaintRule{}, &schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{}}

func (r *recorder) SelectVictimsOnNode(ctx context.Context, state cycleState, preemptor *v1.Pod, node nodeInfo,
	possible []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) (victims []*v1.Pod, violations int, st *status) {
	defer r.s.rescue(&st)
	victims, violations, st = r.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	r.dryRan(ctx, node.Node().Name, victims, violations, st)
	return victims, violations, st
}
