package inprocess

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// recorder stands between the scheduler's parts, writes down what passes, and
// pins what would otherwise be random.
type recorder struct {
	preemption.Interface // to record the stages of preemption

	sched *scheduler
	// extended: the scheduler has extenders.
	extended bool
	// left is what the last extender that was asked has left of the candidates; nil if none was asked, or it failed.
	left map[string]*extenderv1.Victims
	// offset is at which potential node dry runs begin, and which of equal candidates is picked.
	offset int32
	// mu guards obs: several workers may write to it, and a cycle that never ends is looked at
	// from elsewhere.
	mu  sync.Mutex
	obs *model.Observation
	// tell is told what is noted; nil if nobody is.
	tell func(part *model.Observation)
	// nomination and nominated are what the failure handler was told.
	nomination model.NominationMode
	nominated  string
	// best are the nodes with the highest score, hint that of the pod's twin's results.
	best []string
	hint string
	// pending are the plugins that answered Pending.
	pending []string
	// group records the cycle of a pod group; nil if it is that of a pod.
	group *groups.Recorder
}

// note lets f write down what was seen.
func (r *recorder) note(f func(o *model.Observation)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.obs)
	if r.tell == nil {
		return
	}
	part := &model.Observation{}
	f(part)
	if r.group == nil {
		r.tell(part)
	} else if part.Aftermath != nil { // the rest is of members, and does not stay
		r.tell(&model.Observation{Aftermath: part.Aftermath})
	}
}

// seen is what was seen up to now of a cycle that never ends.
func (r *recorder) seen() *model.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.group == nil {
		return r.obs.Seen()
	}
	seen := &model.Observation{System: r.obs.System, Filters: map[string]model.Verdict{}}
	seen.Add(&model.Observation{Group: r.group.Seen(), Aftermath: r.obs.Aftermath})
	return seen
}

// ofGroup lets the recorder record the cycle of a pod group.
func (r *recorder) ofGroup(g *groups.Recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.group, r.nomination = g, model.NominationUnseen
	if r.tell != nil {
		g.Tell = func() { r.tell(&model.Observation{Group: g.Seen()}) }
	}
}

// profileWatch is a profile that a recorder may watch.
type profileWatch struct {
	linked.Profile
	s *scheduler
}

// RunFilterPluginsWithNominatedPods is called by SchedulePod, once per node; the
// filters of a dry run do not come through here.
func (w *profileWatch) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	r := w.s.recorder
	if r == nil {
		return w.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	w.s.bubble.Progress()
	defer w.s.rescue(&status)
	status = w.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if status.IsRejected() {
		v := groups.Verdict(status)
		r.note(func(o *model.Observation) { o.SetFilter(node.Node().Name, v) })
	}
	return status
}

// RunScorePlugins records the nodes of the highest score.
func (w *profileWatch) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := w.Profile.RunScorePlugins(ctx, state, pod, nodes)
	if r := w.s.recorder; r != nil {
		best := int64(-1)
		for _, s := range scores {
			if s.TotalScore > best {
				best, r.best = s.TotalScore, nil
			}
			if s.TotalScore == best {
				r.best = append(r.best, s.Name)
			}
		}
	}
	return scores, status
}

// GetNodeHint records the hint.
func (w *profileWatch) GetNodeHint(ctx context.Context, pod *v1.Pod, signature fwk.PodSignature, state fwk.CycleState, cycle int64) string {
	hint := w.Framework.GetNodeHint(ctx, pod, signature, state, cycle)
	if r := w.s.recorder; r != nil {
		r.hint = hint
	}
	return hint
}

// RunPreBindPlugins begins when the asynchronous calls before it are made. Otherwise it is left to chance whether the
// binding takes the place of one that writes a nomination.
func (w *profileWatch) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if w.s.sched.APIDispatcher != nil {
		time.Sleep(time.Nanosecond) // the clock stands still until all else waits
	}
	return w.Profile.RunPreBindPlugins(ctx, state, pod, node)
}

// RunPostFilterPlugins gets the potential nodes in order, and records its answer.
func (w *profileWatch) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	r := w.s.recorder
	if r == nil {
		return w.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	}
	result, status := w.Framework.RunPostFilterPlugins(ctx, state, pod, potentialNodes{linked.SortedNodes{NodeToStatusReader: nodes}, r})
	r.note(func(o *model.Observation) {
		o.PostFilterCode, o.PostFilterMessage = status.Code().String(), status.Message()
	})
	return result, status
}

// RunReservePluginsReserve records what the claims of a member of a group get.
func (w *profileWatch) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	status := w.Framework.RunReservePluginsReserve(ctx, state, pod, node)
	if r := w.s.groupRecorder(); r != nil && status.IsSuccess() {
		r.Reserved(pod, w.s.pendingAllocations(pod))
	}
	return status
}

// RunPodGroupPostFilterPlugins records its answer, and what it takes.
func (w *profileWatch) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	if r := w.s.groupRecorder(); r != nil {
		return r.PostFilter(ctx, w.Framework, state, group, schedule)
	}
	return w.Framework.RunPodGroupPostFilterPlugins(ctx, state, group, schedule)
}

// RunPlacementGeneratePlugins records the topology domains of a group. Upstream ranges over a map: here they come by name.
func (w *profileWatch) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := w.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	if r := w.s.groupRecorder(); r != nil {
		r.Domains(state, group, placements)
	}
	return placements, status
}

// RunPlacementFeasiblePlugins is the first call in each domain.
func (w *profileWatch) RunPlacementFeasiblePlugins(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	if r := w.s.groupRecorder(); r != nil {
		r.In(state)
	}
	return w.Framework.RunPlacementFeasiblePlugins(ctx, state, group, progress)
}

// RunPlacementScorePlugins breaks ties between domains by name, where upstream draws lots.
func (w *profileWatch) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, placements []*fwk.PodGroupAssignments,
	states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := w.Framework.RunPlacementScorePlugins(ctx, state, group, placements, states)
	if r := w.s.groupRecorder(); r != nil && status.IsSuccess() {
		r.Choose(state, group, scores)
	}
	return scores, status
}

// RunPreBindPreFlights is the first call of a binding cycle, unless a gate is off.
func (w *profileWatch) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if r := w.s.groupRecorder(); r != nil {
		r.Turn(pod)
	}
	return w.Profile.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit is the first call of a binding cycle then.
func (w *profileWatch) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if r := w.s.groupRecorder(); r != nil {
		r.Turn(pod)
	}
	return w.Profile.WaitOnPermit(ctx, pod)
}

func (r *recorder) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, nominated *fwk.Status) (bool, string) {
	ok, reason := r.Interface.PodEligibleToPreemptOthers(ctx, pod, nominated)
	r.note(func(o *model.Observation) { o.Eligible = &model.Eligibility{OK: ok, Reason: reason} })
	return ok, reason
}

// GetOffsetAndNumCandidates starts the dry runs at the cluster's potential node
// instead of a random one; how many are wanted is upstream's answer.
func (r *recorder) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, n := r.Interface.GetOffsetAndNumCandidates(nodes)
	r.note(func(o *model.Observation) {
		o.DryRuns, o.Candidates = make(map[string]model.DryRun, nodes), []string{}
	})
	if nodes == 0 {
		return 0, n
	}
	return r.offset % nodes, n
}

func (r *recorder) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo,
	possible []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) (victims []*v1.Pod, violations int, status *fwk.Status) {
	r.sched.bubble.Progress()
	defer r.sched.rescue(&status)
	name := node.Node().Name
	victims, violations, status = r.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	var run model.DryRun
	switch {
	case status.IsRejected() && ctx.Err() != nil:
		// There were enough candidates meanwhile, and a filter gave up
		// (dynamicresources.go:1075@v1.37.1): this dry run came to no end.
		return victims, violations, status
	case status.IsSuccess() && len(victims) == 0:
		// The caller makes an error of it (preemption.go:489@v1.37.1).
		run.Error = fmt.Sprintf("expected at least one victim pod on node %q", name)
	case status.IsSuccess():
		run.Victims, run.Violations = keys(victims), violations
	case status.IsRejected():
		v := groups.Verdict(status)
		run.Failed = &v
	default:
		run.Error = status.AsError().Error()
	}
	r.note(func(o *model.Observation) { o.SetDryRun(name, run) })
	return victims, violations, status
}

// CandidatesToVictimsMap is given the whole shortlist. It is not called for a
// shortlist of one, which is then the node picked (preemption.go:294@v1.37.1),
// unless there are extenders; if there are, it is called again for what they left.
func (r *recorder) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	if r.left != nil {
		return r.Interface.CandidatesToVictimsMap(candidates) // what the extenders left
	}
	names := []string{}
	for _, c := range candidates {
		names = append(names, c.Name())
	}
	r.note(func(o *model.Observation) { o.Candidates = names })
	return r.Interface.CandidatesToVictimsMap(candidates)
}

// OrderedScoreFuncs is given the map that the node is then picked from.
func (r *recorder) OrderedScoreFuncs(ctx context.Context, victims map[string]*extenderv1.Victims) []func(string) int64 {
	linked.BreakTies(victims, int(r.offset))
	return r.Interface.OrderedScoreFuncs(ctx, victims)
}

// preempts records the candidate that is handed to Executor.PreemptPod, once for each
// victim.
func (r *recorder) preempts(c preemption.Candidate) {
	if r.group != nil {
		r.group.Preempts(c)
		return
	}
	picked := &model.Pick{Node: c.Name(), Victims: keys(c.Victims().Pods), Violations: int(c.Victims().NumPDBViolations)}
	r.note(func(o *model.Observation) { o.Pick = picked })
}

// potentialNodes records the nodes that preemption is tried on.
type potentialNodes struct {
	linked.SortedNodes
	r *recorder
}

func (p potentialNodes) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := p.SortedNodes.NodesForStatusCode(lister, code)
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Node().Name
	}
	p.r.note(func(o *model.Observation) { o.PotentialNodes = names })
	return nodes, err
}

func keys(pods []*v1.Pod) []string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = model.Key(p)
	}
	return names
}
