//go:build !k1.34

package quietnodes

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	status          = framework.Status
	cycleState      = *framework.CycleState
	nodeInfo        = *framework.NodeInfo
	podInfo         = *framework.PodInfo
	stateData       = framework.StateData
	preFilterResult = framework.PreFilterResult
	extensions      = framework.PreFilterExtensions
	handle          = framework.Handle
	anyPlugin       = framework.Plugin
)

const unschedulable = framework.Unschedulable

var (
	newStatus = framework.NewStatus
	asStatus  = framework.AsStatus
)

func (p plugin) PreFilter(_ context.Context, state cycleState, pod *v1.Pod) (*preFilterResult, *status) {
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, asStatus(err)
	}
	return nil, p.count(state, pod, nodes)
}

func podsOf(n nodeInfo) []podInfo { return n.Pods }

func podOf(p podInfo) *v1.Pod { return p.Pod }
