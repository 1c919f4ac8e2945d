package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// recorder stands between the scheduler's parts, writes down what passes, and
// pins what would otherwise be random.
type recorder struct {
	framework.Framework  // to record Filter, and to break ties of Score
	preemption.Interface // to record the stages of preemption

	s *scheduler
	// offset is at which potential node dry runs begin.
	offset int32
	// mu guards the maps: several workers may write to them.
	mu  sync.Mutex
	obs *observation.Observation
	// victims of the dry runs that found some, by node, as extenders left them.
	victims map[string][]*v1.Pod
}

// RunFilterPluginsWithNominatedPods is called by SchedulePod, once per node; the
// filters of a dry run do not come through here.
func (r *recorder) RunFilterPluginsWithNominatedPods(ctx context.Context, state cycleState, pod *v1.Pod, node nodeInfo) (st *status) {
	defer r.s.rescue(&st)
	st = r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if rejected(st) {
		r.mu.Lock()
		r.obs.Filters[node.Node().Name] = verdict(st)
		r.mu.Unlock()
	}
	return st
}

// GetOffsetAndNumCandidates starts the dry runs at the cluster's potential node
// instead of a random one; how many are wanted is upstream's answer.
func (r *recorder) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, n := r.Interface.GetOffsetAndNumCandidates(nodes)
	r.obs.DryRuns = make(map[string]observation.DryRun, nodes)
	r.obs.Candidates = []string{}
	if nodes == 0 {
		return 0, n
	}
	return r.offset % nodes, n
}

// dryRan records what SelectVictimsOnNode returned.
func (r *recorder) dryRan(ctx context.Context, node string, victims []*v1.Pod, violations int, st *status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case rejected(st) && ctx.Err() != nil:
		// There were enough candidates meanwhile, and a filter gave up: this dry run
		// came to no end.
	case st.IsSuccess() && len(victims) == 0:
		// The caller makes an error of it.
		r.obs.DryRuns[node] = observation.DryRun{Error: fmt.Sprintf("expected at least one victim pod on node %q", node)}
	case st.IsSuccess():
		r.obs.DryRuns[node] = observation.DryRun{Victims: keys(victims), Violations: violations}
		r.victims[node] = victims
	case rejected(st):
		v := verdict(st)
		r.obs.DryRuns[node] = observation.DryRun{Failed: &v}
	default:
		r.obs.DryRuns[node] = observation.DryRun{Error: st.AsError().Error()}
	}
}

// CandidatesToVictimsMap is given the whole shortlist. It is not called for a
// shortlist of one, which is then the node picked, unless there are extenders; if
// there are, it is called again for what they left.
func (r *recorder) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	if r.obs.AfterExtenders != nil {
		return r.Interface.CandidatesToVictimsMap(candidates)
	}
	r.obs.Candidates = r.obs.Candidates[:0]
	for _, c := range candidates {
		r.obs.Candidates = append(r.obs.Candidates, c.Name())
	}
	return r.Interface.CandidatesToVictimsMap(candidates)
}

func sortByName(nodes []nodeInfo) {
	slices.SortFunc(nodes, func(a, b nodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
}

// verdict reads a Filter status. The nodes that a PreFilter result leaves out have
// a status of no plugin, which names the plugins in its text; several are
// separated by commas.
func verdict(st *status) observation.Verdict {
	v := observation.Verdict{Plugin: plugin(st), Unresolvable: st.Code() == unresolvable, Reasons: st.Reasons()}
	if v.Plugin == "" {
		if rest, ok := strings.CutPrefix(st.Message(), "node(s) didn't satisfy plugin(s) ["); ok {
			names, _, _ := strings.Cut(rest, "]")
			v.Plugin = strings.ReplaceAll(names, " ", ",")
		}
	}
	return v
}

// plugin names the plugin that made st, and rejected tells a "no" from an error.
// The methods were renamed in 1.29. failed tells an error from either answer.

func plugin(st *status) string {
	switch st := any(st).(type) {
	case interface{ Plugin() string }:
		return st.Plugin()
	case interface{ FailedPlugin() string }:
		return st.FailedPlugin()
	}
	panic("a status without a plugin")
}

func rejected(st *status) bool {
	switch st := any(st).(type) {
	case interface{ IsRejected() bool }:
		return st.IsRejected()
	case interface{ IsUnschedulable() bool }:
		return st.IsUnschedulable()
	}
	panic("a status that cannot reject")
}

func failed(st *status) bool { return !st.IsSuccess() && !rejected(st) }
