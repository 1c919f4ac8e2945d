//go:build k1.34

package quietnodes

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

type (
	status     = fwk.Status
	cycleState = fwk.CycleState
	nodeInfo   = fwk.NodeInfo
	podInfo    = fwk.PodInfo
	stateData  = fwk.StateData
)

const unschedulable = fwk.Unschedulable

var (
	newStatus = fwk.NewStatus
	asStatus  = fwk.AsStatus
)

func (p plugin) PreFilter(_ context.Context, state cycleState, pod *v1.Pod, nodes []nodeInfo) (*preFilterResult, *status) {
	return nil, p.count(state, pod, nodes)
}

func podsOf(n nodeInfo) []podInfo { return n.GetPods() }

func podOf(p podInfo) *v1.Pod { return p.GetPod() }
