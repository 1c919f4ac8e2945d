package linked

import (
	"context"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/preemptcheck/preemptcheck/model"
)

// Profile is a profile of which nothing is left to lots, and whose binding cycle, which runs
// in a goroutine of its own, does not end the process by a panic.
type Profile struct {
	framework.Framework
	// Rescue is deferred by each call of the binding cycle: it recovers.
	Rescue func(status **fwk.Status)
}

// RunScorePlugins makes the first name win among nodes of equal score, where upstream
// draws lots.
func (p *Profile) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := p.Framework.RunScorePlugins(ctx, state, pod, nodes)
	slices.SortFunc(scores, func(a, b fwk.NodePluginScores) int { return strings.Compare(b.Name, a.Name) })
	for i := range scores {
		scores[i].Randomizer = i
	}
	return scores, status
}

// RunPreBindPreFlights does not panic.
func (p *Profile) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.Rescue(&status)
	return p.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit does not panic.
func (p *Profile) WaitOnPermit(ctx context.Context, pod *v1.Pod) (status *fwk.Status) {
	defer p.Rescue(&status)
	return p.Framework.WaitOnPermit(ctx, pod)
}

// RunPreBindPlugins does not panic.
func (p *Profile) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.Rescue(&status)
	return p.Framework.RunPreBindPlugins(ctx, state, pod, node)
}

// RunBindPlugins does not panic.
func (p *Profile) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.Rescue(&status)
	return p.Framework.RunBindPlugins(ctx, state, pod, node)
}

// RunPostBindPlugins does not panic.
func (p *Profile) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	var status *fwk.Status
	defer p.Rescue(&status)
	p.Framework.RunPostBindPlugins(ctx, state, pod, node)
}

// SortedNodes gives nodes by name, where upstream ranges over a map.
type SortedNodes struct{ fwk.NodeToStatusReader }

// NodesForStatusCode implements fwk.NodeToStatusReader.
func (n SortedNodes) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := n.NodeToStatusReader.NodesForStatusCode(lister, code)
	slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	return nodes, err
}

// BreakTies leaves one node of those that no criterion of the pick tells apart, where upstream takes the first
// of a map: in order of their names, the one that offset is the index of, or what is left of it divided by
// their number. It is given the map that the node is then picked from.
func BreakTies(victims map[string]*extenderv1.Victims, offset int) {
	type criteria struct {
		violations, sum int64
		highest         int32
		pods            int
		start           int64
	}
	alike := map[criteria][]string{}
	for _, node := range slices.Sorted(maps.Keys(victims)) {
		v := victims[node]
		of := criteria{violations: v.NumPDBViolations, pods: len(v.Pods)}
		for i, p := range v.Pods {
			of.sum += int64(model.Priority(p))
			if i == 0 {
				of.highest = model.Priority(p)
			}
		}
		if start := util.GetEarliestPodStartTime(v); start != nil {
			of.start = start.UnixNano()
		}
		alike[of] = append(alike[of], node)
	}
	for _, nodes := range alike {
		for i, node := range nodes {
			if i != offset%len(nodes) {
				delete(victims, node)
			}
		}
	}
}
