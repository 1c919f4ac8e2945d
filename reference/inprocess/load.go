package inprocess

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// loaded is what unload has to take out again.
type loaded struct {
	extra      []runtime.Object
	nodes      []*v1.Node
	bound      []*v1.Pod
	pending    []*v1.Pod // nominated or of a pod group
	preemptor  *v1.Pod
	group      *loadedGroup // the preemptor, if it is a group
	nodeNames  []string
	queuedInfo *framework.QueuedPodInfo // of the preemptor
	// twin had its cycle before the preemptor; nil if there is none.
	twin *v1.Pod
	// neverPopped: PreEnqueue keeps the preemptor out of the active queue.
	neverPopped bool
	// wereBound holds the keys of the preemptors that a cycle has bound, which is over then.
	wereBound map[string]bool
}

// load puts c into the scheduler as the event handlers would
// (eventhandlers.go:129@v1.37.1, addPod): the order of the pods is theirs.
// On an error the scheduler has to be unloaded too.
func (s *scheduler) load(c *model.Cluster) error {
	own := c.Preemptors()
	name := own[max(0, slices.IndexFunc(own, s.schedules))].Spec.SchedulerName
	s.profile, s.plugin, s.async = s.sched.Profiles[name], s.plugins[name], c.Settings.AsyncPreemption()
	s.budgets.Set(c.PodDisruptionBudgets)
	*s.nextStart = 0
	extenders, err := s.build(c.Settings.Extenders)
	if err != nil {
		return err
	}
	s.extend(linked.IgnorableLast(append(slices.Clone(s.configured), extenders...)))
	for _, obj := range c.Extra {
		obj = groups.WithUID(obj)
		if inf := s.extra[reflect.TypeOf(obj)]; inf != nil {
			if err := inf.Add(obj); err != nil {
				return err
			}
			s.loaded.extra = append(s.loaded.extra, obj)
		}
	}

	nodes := make([]any, len(c.Nodes))
	for i, n := range c.Nodes {
		nodes[i] = n
	}
	if err := s.nodes.Replace(nodes, ""); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		s.updates.addNode(n)
		s.loaded.nodes = append(s.loaded.nodes, n)
		s.loaded.nodeNames = append(s.loaded.nodeNames, n.Name)
	}

	pods := make([]any, 0, len(c.Pods)+1)
	for _, p := range c.Pods {
		// The scheduler's pod informer leaves these out (scheduler.go:654@v1.37.1).
		if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			pods = append(pods, withUID(p))
		}
	}
	if c.Preemptor == nil {
		return s.loadGroup(c, pods)
	}
	preemptor := withUID(c.Preemptor)
	// The nominator looks pods up, so the lister comes first.
	if err := s.pods.Replace(append(pods, preemptor), ""); err != nil {
		return err
	}
	// The preemptor is popped before any other pod may be in its place.
	s.loadPreemptor(preemptor)
	for _, obj := range pods {
		if err := s.loadPod(obj.(*v1.Pod)); err != nil {
			return err
		}
	}
	return s.updates.detour(preemptor, c.Nodes)
}

func (s *scheduler) loadPod(p *v1.Pod) error {
	if p.Spec.NodeName != "" {
		if err := s.updates.addPod(p); err != nil {
			return err
		}
		s.loaded.bound = append(s.loaded.bound, p)
		return nil
	}
	// Nothing but nominations, and the members of pod groups, is visible to
	// another pod's cycle: the rest need not queue. A nominated pod must, gated
	// or terminating or not: known to the nominator alone it would have priority
	// 0 and no requests (scheduling_queue.go:2124@v1.37.1, nominatedPodToInfo).
	nominated, member := p.Status.NominatedNodeName != "", p.Spec.SchedulingGroup != nil
	if !s.sched.Profiles.HandlesSchedulerName(p.Spec.SchedulerName) || !nominated && !member {
		return nil
	}
	s.loaded.pending = append(s.loaded.pending, p)
	s.sched.Cache.AddPodGroupMember(p)
	s.sched.SchedulingQueue.Add(s.ctx, p)
	return nil
}

// loadPreemptor adds the preemptor to the queue and pops it: it is in no queue then,
// and its nomination, if any, remains. A pod that PreEnqueue keeps out of the active
// queue, because a claim of it is missing, is tried all the same.
func (s *scheduler) loadPreemptor(p *v1.Pod) {
	s.loaded.preemptor = p
	queue := s.sched.SchedulingQueue
	queue.Add(s.ctx, p)
	if len(queue.PodsInActiveQ()) > 0 {
		if popped, err := queue.Pop(linked.Discard); err == nil {
			s.loaded.queuedInfo = popped.(*framework.QueuedPodInfo)
			return
		}
	}
	s.loaded.neverPopped = true
	queue.Delete(linked.Discard, p)
	// Upstream ignores this error, too (scheduling_queue.go:2204@v1.37.1).
	info, _ := framework.NewPodInfo(p)
	queue.AddNominatedPod(linked.Discard, info, nil)
	s.loaded.queuedInfo = &framework.QueuedPodInfo{PodInfo: info}
}

// canRun says why the scheduler would never try c.Preemptor, if so.
func (s *scheduler) canRun(c *model.Cluster) error {
	if c.PreemptorGroup != "" {
		return s.canRunGroup(c)
	}
	p := c.Preemptor
	why := ""
	switch {
	case p == nil:
		return errors.New("the cluster has no preemptor")
	case p.Spec.NodeName != "":
		why = "is bound to node " + p.Spec.NodeName
	case p.DeletionTimestamp != nil:
		why = "is being deleted"
	case len(p.Spec.SchedulingGates) > 0:
		why = "has scheduling gates"
	case !s.sched.Profiles.HandlesSchedulerName(p.Spec.SchedulerName):
		why = fmt.Sprintf("is for the scheduler %q", p.Spec.SchedulerName)
	case p.Spec.SchedulingGroup != nil && utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload):
		why = "belongs to a pod group, which is scheduled as a whole"
	default:
		return nil
	}
	return fmt.Errorf("preemptor %s %s", model.Key(p), why)
}

// unload empties the scheduler. An error means that it cannot be used again.
func (s *scheduler) unload() error {
	var errs []error
	check := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, p := range s.preemptors() {
		check(s.unloadPreemptor(p))
	}
	if g := s.loaded.group; g != nil {
		check(s.unloadGroup(g))
	}
	if p := s.loaded.twin; p != nil {
		check(s.unloadPreemptor(p))
	}
	for _, p := range s.loaded.pending {
		s.sched.SchedulingQueue.Delete(linked.Discard, p)
		s.sched.Cache.RemovePodGroupMember(p)
	}
	for _, p := range s.loaded.bound {
		check(s.sched.Cache.RemovePod(linked.Discard, p))
	}
	for _, n := range s.loaded.nodes {
		check(s.sched.Cache.RemoveNode(linked.Discard, n))
	}
	check(s.api.Unmake())
	check(s.pods.Replace(nil, ""))
	check(s.nodes.Replace(nil, ""))
	for _, obj := range s.loaded.extra {
		check(s.extra[reflect.TypeOf(obj)].Remove(obj))
	}
	s.budgets.Set(nil)
	s.extend(nil)
	// Without this the next cluster, if its nodes have the same names, would be
	// listed in the order of this one's.
	check(s.sched.Cache.UpdateSnapshot(linked.Discard, s.snapshot))
	s.api.Take()
	s.events.take()
	s.activated.take()
	clear(s.loaded.extra)
	clear(s.loaded.nodes)
	clear(s.loaded.bound)
	clear(s.loaded.pending)
	s.loaded = loaded{extra: s.loaded.extra[:0], nodes: s.loaded.nodes[:0], bound: s.loaded.bound[:0],
		pending: s.loaded.pending[:0], nodeNames: s.loaded.nodeNames[:0]}
	return errors.Join(errs...)
}

// unloadPreemptor takes the preemptor out of queue and cache, wherever the cycle left
// it, and with it what a cycle keeps for the next one: the nodes that would do for a
// pod just like it (batch.go:71@v1.37.1, GetNodeHint).
func (s *scheduler) unloadPreemptor(p *v1.Pod) error {
	if s.plugin.Executor.IsPodRunningPreemption(p.UID) {
		return errors.New("the pod stays marked as preempting")
	}
	queue := s.sched.SchedulingQueue
	queue.Done(p.UID)
	queue.Delete(linked.Discard, p)
	queue.DeleteNominatedPodIfExists(p)
	if utilfeature.DefaultFeatureGate.Enabled(features.OpportunisticBatching) {
		s.profile.StoreScheduleResults(s.ctx, nil, "", "", nil, 0)
	}
	if assumed, err := s.sched.Cache.IsAssumedPod(p); err != nil || !assumed {
		return err
	}
	if (len(p.Spec.Volumes) > 0 || device.Uses(s.loaded.extra, p)) && !s.loaded.wereBound[model.Key(p)] {
		return errors.New("plugins may have reserved something for the pod")
	}
	pod, err := s.sched.Cache.GetPod(p)
	if err != nil {
		return err
	}
	return s.sched.Cache.ForgetPod(linked.Discard, pod)
}

// withUID is p, or a copy of p that has what the API server gives each pod: a UID, by
// which upstream tells pods apart, and a generation.
func withUID(p *v1.Pod) *v1.Pod {
	if p.UID != "" && p.Generation != 0 {
		return p
	}
	named := *p
	named.UID = cmp.Or(p.UID, types.UID(model.Key(p)))
	named.Generation = cmp.Or(p.Generation, 1)
	return &named
}
