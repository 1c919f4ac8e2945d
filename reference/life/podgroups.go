package life

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	schedulingclient "k8s.io/client-go/kubernetes/typed/scheduling/v1beta1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// groupCycle is the scheduling cycle of a pod group.
type groupCycle struct {
	key       string // as model.PodGroupKey
	object    runtime.Object
	goroutine string // the scheduler's loop
	recorder  *groups.Recorder
	popped    int // the index of the entry
	failed    []failedMember
	fits      int // how many members fit so far
}

// failedMember is a member that is put back when the cycle of its group ends.
type failedMember struct {
	pod     *v1.Pod
	isError bool
}

type (
	schedulePod   = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (upstream.ScheduleResult, error)
	handleFailure = upstream.FailureHandlerFn
)

// watchGroups pins in which order a plugin sees the pods of groups, and makes it tell of groups that preempt.
func (s *scheduler) watchGroups(plugin *defaultpreemption.DefaultPreemption) error {
	plugin.Evaluator.Handler = groups.Ordered{Handle: plugin.Evaluator.Handler}
	evaluator, err := groups.Evaluator(plugin)
	if evaluator != nil {
		evaluator.Handle = &groups.Watch{Ordered: groups.Ordered{Handle: evaluator.Handle}, Recorder: func() *groups.Recorder {
			if g := s.group.Load(); g != nil {
				return g.recorder
			}
			return nil
		}}
	}
	return err
}

// hookGroups puts the places of cycles of pod groups into the scheduler, of which those of pods are in place. schedule and
// failed are what upstream does.
func (s *scheduler) hookGroups(schedule schedulePod, failed handleFailure) {
	next := s.sched.NextEntity
	s.sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := next(logger)
		if info, ok := entity.(*framework.QueuedPodGroupInfo); ok && info != nil {
			s.beginGroup(info)
		}
		return entity, err
	}
	ofPod := s.sched.SchedulePod
	s.sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		g := s.group.Load()
		if g == nil {
			return ofPod(ctx, f, state, info)
		}
		s.park(timeline.Place{Name: timeline.Filter, Pod: model.Key(info.Pod)}, nil)
		result, err := schedule(ctx, f, state, info)
		e := timeline.Entry{What: timeline.Tried, Object: podName(info.Pod), Group: g.key, Node: result.SuggestedHost, Second: g.recorder.Cycle.SecondCalls > 0, Untracked: s.untracked(info.Pod)}
		if err != nil {
			e.Node, e.Text = "", err.Error()
		}
		s.note(e)
		if nodes, failed := f.SnapshotSharedLister().NodeInfos().List(); failed == nil {
			g.recorder.Member(groups.Tried(info.Pod, nodes, result, err))
		}
		return result, err
	}
	ofCycle := s.sched.FailureHandler
	s.sched.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		g := s.inGroup()
		if g == nil { // or its binding has failed
			ofCycle(ctx, f, info, status, nominating, start)
			return
		}
		e := timeline.Entry{What: timeline.Unfit, Object: podName(info.Pod), Group: g.key, Is: info.Pod, Text: status.Message()}
		e.Nomination, e.Node = model.NominationKept, ""
		if nominating.Mode() == fwk.ModeOverride {
			e.Nomination, e.Node = model.NominationSet, nominating.NominatedNodeName
			if e.Node == "" {
				e.Nomination = model.NominationCleared
			}
		}
		s.note(e)
		g.recorder.Failed(info.Pod, status, nominating)
		at := timeline.Place{Name: timeline.Requeue, Pod: model.Key(info.Pod)}
		s.wait(&waiting{at: at, what: at.String(), takes: eventTime}) // members are tried in the order in which they come back
		failed(ctx, f, info, status, nominating, start)
		g.failed = append(g.failed, failedMember{info.Pod, !status.IsRejected()})
	}
	s.sched.SchedulingQueue = groupQueue{s.sched.SchedulingQueue, s}
}

// groupQueue is the scheduler's queue, of which it is seen when a group comes back.
type groupQueue struct {
	internalqueue.SchedulingQueue
	s *scheduler
}

// AddAttemptedPodGroupIfNeeded is the end of a group's cycle.
func (q groupQueue) AddAttemptedPodGroupIfNeeded(logger klog.Logger, info *framework.QueuedPodGroupInfo, cycle int64, status *fwk.Status) error {
	err := q.SchedulingQueue.AddAttemptedPodGroupIfNeeded(logger, info, cycle, status)
	g := q.s.group.Swap(nil)
	if g == nil || q.s.dead.Load() {
		return err
	}
	q.s.r.saw(&timeline.Trace{Courses: []timeline.Course{{Entry: g.popped, GroupCycle: g.recorder.Seen()}}})
	for _, m := range g.failed {
		queues, _, gated := q.s.queuesOf(m.pod)
		e := timeline.Entry{What: timeline.Requeued, Object: podName(m.pod), Group: g.key, Gated: gated, Is: m.pod}
		if m.isError {
			e.Text = "error"
		}
		if len(queues) > 0 {
			e.Queue = queues[0]
		}
		q.s.note(e)
	}
	return err
}

// inGroup is the cycle of a group that the goroutine which asks is in; nil if it is in none.
func (s *scheduler) inGroup() *groupCycle {
	if g := s.group.Load(); g != nil && g.goroutine == bubble.Goroutine() {
		return g
	}
	return nil
}

// beginGroup notes that a group was popped, and its members.
func (s *scheduler) beginGroup(info *framework.QueuedPodGroupInfo) {
	g := &groupCycle{goroutine: bubble.Goroutine(), recorder: groups.NewRecorder(s.r.bubble.Progress)}
	g.key, g.object = model.PodGroupKey(info.Namespace, info.Name), info.PodGroup
	if info.CompositePodGroup != nil {
		g.key, g.object = model.CompositePodGroupKey(info.Namespace, info.Name), info.CompositePodGroup
		if len(info.QueuedPodInfos) > 1 { // which come in the order of a map
			s.r.unable(fmt.Errorf("timelines do not run composite groups with pods of several groups that are scheduled together, as %s is", model.GroupTitle(g.key)))
		}
	}
	s.mu.Lock()
	s.cycle, s.dryRuns, s.decided, s.current = s.cycle+1, map[string]dryRun{}, false, model.GroupTitle(g.key)
	s.mu.Unlock()
	s.group.Store(g)
	s.note(timeline.Entry{What: timeline.Popped, Object: model.GroupTitle(g.key), Is: g.object})
	s.r.mu.Lock()
	g.popped = len(s.r.trace.Entries) - 1
	s.r.mu.Unlock()
	info.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
		s.note(timeline.Entry{What: timeline.Popped, Object: podName(p.Pod), Group: g.key, Is: p.Pod})
		return true
	})
}

// RunPodGroupPostFilterPlugins notes what was decided for a pod group.
func (w *profileWatch) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, info fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	g := w.s.group.Load()
	if g == nil {
		return w.Framework.RunPodGroupPostFilterPlugins(ctx, state, info, schedule)
	}
	result, status := g.recorder.PostFilter(ctx, w.Framework, state, info, schedule)
	g.recorder.End(func(string) string { return "" })
	e := timeline.Entry{What: timeline.Decided, Object: model.GroupTitle(g.key), Is: g.object, Text: status.Message(), Nomination: model.NominationCleared, Failed: status.IsError()}
	if status.IsSuccess() {
		e.Nomination, e.Victims = model.NominationSet, g.recorder.Cycle.Victims
	}
	w.s.mu.Lock()
	e.Cycle = w.s.cycle
	done := w.s.decided
	w.s.mu.Unlock()
	if !done {
		w.s.note(e)
	}
	return result, status
}

// RunPlacementGeneratePlugins records the topology domains of a group. Upstream ranges over a map: here they come by name.
func (w *profileWatch) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := w.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	if g := w.s.inGroup(); g != nil {
		g.recorder.Domains(state, group, placements)
	}
	return placements, status
}

// RunPlacementFeasiblePlugins is the first call in each domain.
func (w *profileWatch) RunPlacementFeasiblePlugins(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	if g := w.s.inGroup(); g != nil {
		g.recorder.In(state)
	}
	return w.Framework.RunPlacementFeasiblePlugins(ctx, state, group, progress)
}

// RunPlacementScorePlugins breaks ties between domains by name, where upstream draws lots.
func (w *profileWatch) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, placements []*fwk.PodGroupAssignments,
	states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := w.Framework.RunPlacementScorePlugins(ctx, state, group, placements, states)
	if g := w.s.inGroup(); g != nil && status.IsSuccess() {
		g.recorder.Choose(state, group, scores)
	}
	return scores, status
}

// RunPermitPlugins notes that a member of a group is about to be bound.
func (w *profileWatch) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	if g := w.s.inGroup(); g != nil {
		w.s.note(timeline.Entry{What: timeline.Fits, Object: podName(pod), Group: g.key, Node: node, Is: pod})
		w.s.turns.Store(pod.UID, time.Now().Add(time.Duration(2*g.fits+1)*time.Nanosecond))
		g.fits++
	}
	return w.Framework.RunPermitPlugins(ctx, state, pod, node)
}

// RunPreBindPreFlights is the first call of a binding cycle, unless a gate is off.
func (w *profileWatch) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if at, ok := w.s.turns.Load(pod.UID); ok {
		w.s.turn(at.(time.Time))
	}
	return w.Profile.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit is the first call of a binding cycle then. A call about the pod that was sent before has come to its place by
// now: while it is in the queue of calls, that of the binding takes its place (doc comment of callQueue, call_queue.go:62@v1.37.1).
func (w *profileWatch) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if at, ok := w.s.turns.LoadAndDelete(pod.UID); ok {
		w.s.turn(at.(time.Time).Add(time.Nanosecond))
	}
	return w.Profile.WaitOnPermit(ctx, pod)
}

// turn lets the members of a group that are bound at once go on one after another, in the order of their cycle, and none
// beside the cycle. Upstream binds each in a goroutine of its own.
func (s *scheduler) turn(at time.Time) {
	s.r.turning.Add(1)
	time.Sleep(time.Until(at))
	s.r.turning.Add(-1)
}

// preemptorGroup is the pod group that is preempted for: its title, and the group.
func preemptorGroup(p preemption.ExecutorPreemptor) (title string, group runtime.Object) {
	return api.NameOf(p.Obj()), p.Obj()
}

// rootOf is the group with which a pod is scheduled, as the scheduler has been told of groups; nil if it is none.
func (s *scheduler) rootOf(p *v1.Pod) metav1.Object {
	if !s.r.tl.Cluster.Settings.FeatureGates[model.GateWorkload] || p.Spec.SchedulingGroup == nil {
		return nil
	}
	c := &model.Cluster{Settings: s.r.tl.Cluster.Settings}
	for _, i := range s.informers {
		if i.kind != "PodGroup" && i.kind != "CompositePodGroup" {
			continue
		}
		for _, o := range i.GetIndexer().List() {
			c.Extra = append(c.Extra, o.(runtime.Object))
		}
	}
	return c.Group(c.RootOf(p))
}

// preemptsAs is by which UID the scheduler knows the preemption for a pod: its own or, of a pod that is scheduled with a
// group, the group's.
func (s *scheduler) preemptsAs(p *v1.Pod) types.UID {
	if root := s.rootOf(p); root != nil {
		return root.GetUID()
	}
	return p.UID
}

// groupGated tells whether the group of a pod is kept out of the queue. ok is false if the pod is in no group that is
// known.
func (s *scheduler) groupGated(p *v1.Pod) (gated, ok bool) {
	return s.ofGroup(p, func(info *framework.QueuedPodGroupInfo) bool { return info.Gated() })
}

// groupRejected tells whether plugins are noted that have rejected the group of a pod. ok is as that of groupGated.
func (s *scheduler) groupRejected(p *v1.Pod) (rejected, ok bool) {
	return s.ofGroup(p, func(info *framework.QueuedPodGroupInfo) bool {
		return len(info.UnschedulablePlugins)+len(info.PendingPlugins) > 0
	})
}

// ofGroup asks something of the group of a pod as it is in the queue, by which the answer is false if it is not there. known
// is false if the pod is in no group that the scheduler knows.
func (s *scheduler) ofGroup(p *v1.Pod, ask func(*framework.QueuedPodGroupInfo) bool) (answer, known bool) {
	root := s.rootOf(p)
	if root == nil {
		return false, false
	}
	kind := fwk.PodGroupKeyType
	if _, is := root.(*schedulingv1beta1.PodGroup); !is {
		kind = fwk.CompositePodGroupKeyType
	}
	queue := s.sched.SchedulingQueue
	info, there := queue.GetPodGroup(root.GetName(), root.GetNamespace(), kind)
	answer = there && ask(info)
	_ = queue.UnschedulablePods() // takes the queue's lock, so that what it changes next comes after this for the race detector, too
	return answer, true
}

// beside are the members of groups that are in no queue by themselves: they wait for their group to be known, or for its
// cycle to end.
func beside(queue internalqueue.SchedulingQueue) []inQueue {
	return []inQueue{{timeline.QueueIncomplete, queue.IncompletePodGroupPodsPods()}, {timeline.QueuePending, queue.PendingPodGroupPods()}}
}

// SchedulingV1beta1 takes the calls about pod groups.
func (c *client) SchedulingV1beta1() schedulingclient.SchedulingV1beta1Interface {
	return groupsClient{c.Clientset.SchedulingV1beta1(), c.s}
}

type groupsClient struct {
	schedulingclient.SchedulingV1beta1Interface
	s *scheduler
}

func (c groupsClient) PodGroups(namespace string) schedulingclient.PodGroupInterface {
	return groupClient{c.SchedulingV1beta1Interface.PodGroups(namespace), namespace, c.s}
}

type groupClient struct {
	schedulingclient.PodGroupInterface
	namespace string
	s         *scheduler
}

// Patch is the status of a group as the scheduler writes it. It is no place, and does not fail.
func (c groupClient) Patch(_ context.Context, name string, kind types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (*schedulingv1beta1.PodGroup, error) {
	if kind != types.StrategicMergePatchType || !slices.Equal(subresources, []string{"status"}) {
		return nil, fmt.Errorf("timelines know no %s of %v of a pod group", kind, subresources)
	}
	if c.s.dead.Load() {
		return nil, errDead
	}
	key := c.namespace + "/" + name
	e := timeline.Entry{What: timeline.Called, Call: timeline.Patch, Object: "PodGroup " + key, Text: groupSummary(data)}
	now, err := c.s.r.server.PatchGroup(key, data)
	if err != nil {
		e.Error = err.Error()
	}
	c.s.note(e)
	return now, err
}

// groupSummary says what a patch of a group's status sets.
func groupSummary(data []byte) string {
	var patch struct {
		Status struct{ Conditions []metav1.Condition }
	}
	if json.Unmarshal(data, &patch) != nil || len(patch.Status.Conditions) == 0 {
		return string(data)
	}
	c := patch.Status.Conditions[0]
	return fmt.Sprintf("%s=%s: %s", c.Type, c.Status, c.Message)
}
