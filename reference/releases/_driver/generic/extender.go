package main

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// extender sees the candidates, and leaves everything as it is.
type extender struct{ s *scheduler }

func (extender) Name() string { return "watcher" }

func (extender) Filter(_ *v1.Pod, nodes []*v1.Node, _ map[string]*nodeInfo) ([]*v1.Node, schedulerapi.FailedNodesMap, error) {
	return nodes, nil, nil
}

func (extender) Prioritize(*v1.Pod, []*v1.Node) (*schedulerapi.HostPriorityList, int, error) {
	return &schedulerapi.HostPriorityList{}, 1, nil
}

func (extender) Bind(*v1.Binding) error    { return nil }
func (extender) IsBinder() bool            { return false }
func (extender) IsInterested(*v1.Pod) bool { return true }
func (extender) SupportsPreemption() bool  { return true }
func (extender) IsIgnorable() bool         { return false }

func (e extender) ProcessPreemption(_ *v1.Pod, victims map[*v1.Node]*schedulerapi.Victims, _ map[string]*nodeInfo) (map[*v1.Node]*schedulerapi.Victims, error) {
	e.s.obs.DryRuns, e.s.obs.Candidates = map[string]observation.DryRun{}, []string{}
	for node, v := range victims {
		e.s.obs.DryRuns[node.Name] = observation.DryRun{Victims: keys(v.Pods), Violations: v.NumPDBViolations}
		e.s.obs.Candidates = append(e.s.obs.Candidates, node.Name)
	}
	slices.Sort(e.s.obs.Candidates)
	return victims, nil
}
