//go:build !k1.32

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// potentialNodes are the nodes that preemption is tried on, in order; nil if it is
// not tried at all. Before 1.32 they are visible in no other way than by trying
// all of them: an Evaluator goes through its steps, and fails on every node.
func (p *recordedPreemption) potentialNodes(ctx context.Context, state cycleState, pod *v1.Pod, m framework.NodeToStatusMap) []string {
	probe := &probe{Interface: p.DefaultPreemption}
	_, st := p.evaluator(state, probe).Preempt(ctx, pod, m)
	p.s.client.Take(&observation.Actuation{}) // Preempt will write it again
	if !probe.eligible || st.Code() != framework.Unschedulable {
		return nil
	}
	return probe.nodes
}

type probe struct {
	preemption.Interface
	eligible bool
	nodes    []string
}

func (p *probe) PodEligibleToPreemptOthers(pod *v1.Pod, nominated *status) (bool, string) {
	ok, reason := p.Interface.PodEligibleToPreemptOthers(pod, nominated)
	p.eligible, p.nodes = ok, []string{}
	return ok, reason
}

func (p *probe) GetOffsetAndNumCandidates(nodes int32) (int32, int32) { return 0, nodes }

func (p *probe) SelectVictimsOnNode(_ context.Context, _ cycleState, _ *v1.Pod, node nodeInfo, _ []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *status) {
	p.nodes = append(p.nodes, node.Node().Name)
	return nil, 0, framework.NewStatus(framework.Unschedulable)
}
