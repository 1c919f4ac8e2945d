package inprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// loadedGroup is a pod group as the preemptor.
type loadedGroup struct {
	uid     types.UID
	members []*v1.Pod // that are not bound
	keys    map[string]bool
	// queued is the group as it was popped; nil if it waits.
	queued *framework.QueuedPodGroupInfo
	// waits is what keeps it out of the active queue, or "".
	waits string
}

// groupRecorder records the cycle of the pod group that runs; nil if none does.
func (s *scheduler) groupRecorder() *groups.Recorder {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.group
}

// preemptors are the pods whose cycle it is.
func (s *scheduler) preemptors() []*v1.Pod {
	switch {
	case s.loaded.group != nil:
		return s.loaded.group.members
	case s.loaded.preemptor != nil:
		return []*v1.Pod{s.loaded.preemptor}
	}
	return nil
}

// isOwn tells whether a key is that of one of them.
func (s *scheduler) isOwn(key string) bool {
	if g := s.loaded.group; g != nil {
		return g.keys[key]
	}
	return s.loaded.preemptor != nil && key == model.Key(s.loaded.preemptor)
}

// goesOn tells whether something that the cycle began is not over.
func (s *scheduler) goesOn() bool {
	g := s.loaded.group
	if g == nil {
		return s.plugin.Executor.IsPodRunningPreemption(s.loaded.preemptor.UID)
	}
	return s.plugin.Executor.IsPodGroupRunningPreemption(g.uid) ||
		slices.ContainsFunc(s.sched.SchedulingQueue.InFlightPods(), func(p *v1.Pod) bool { return s.isOwn(model.Key(p)) })
}

// canRunGroup says why the scheduler would never try c.PreemptorGroup, if so.
func (s *scheduler) canRunGroup(c *model.Cluster) error {
	title, why := model.GroupTitle(c.PreemptorGroup), ""
	switch members := c.Preemptors(); {
	case c.Preemptor != nil:
		return errors.New("the cluster has two preemptors")
	case !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload):
		why = "is not scheduled as a whole unless the feature gate GenericWorkload is on"
	case c.Group(c.PreemptorGroup) == nil:
		why = "is not there"
	case len(members) == 0:
		why = "has no pod that waits"
	case !slices.ContainsFunc(members, s.schedules):
		why = fmt.Sprintf("is for the scheduler %q", members[0].Spec.SchedulerName)
	default:
		return nil
	}
	return fmt.Errorf("preemptor %s %s", title, why)
}

// schedules tells whether a pod is one of the scheduler's profiles.
func (s *scheduler) schedules(p *v1.Pod) bool {
	return s.sched.Profiles.HandlesSchedulerName(p.Spec.SchedulerName)
}

// loadGroup puts pods into the scheduler whose preemptor is a pod group. The bound ones come
// first: whether there are enough members counts them. Then all members are known before the
// first queues, and the group is popped before any other pod may be in its place.
func (s *scheduler) loadGroup(c *model.Cluster, pods []any) error {
	if err := s.pods.Replace(pods, ""); err != nil {
		return err
	}
	g := &loadedGroup{uid: model.UIDOfGroup(c.Group(c.PreemptorGroup)), keys: map[string]bool{}}
	for _, p := range c.Preemptors() {
		g.keys[model.Key(p)] = s.schedules(p)
	}
	maps.DeleteFunc(g.keys, func(_ string, ours bool) bool { return !ours })
	s.loaded.group = g
	var others []*v1.Pod
	for _, obj := range pods {
		switch p := obj.(*v1.Pod); {
		case p.Spec.NodeName != "":
			if err := s.loadPod(p); err != nil {
				return err
			}
		case g.keys[model.Key(p)]:
			g.members = append(g.members, p)
			s.sched.Cache.AddPodGroupMember(p)
		default:
			others = append(others, p)
		}
	}
	queue := s.sched.SchedulingQueue
	for _, p := range g.members {
		queue.Add(s.ctx, p)
	}
	if len(queue.PodsInActiveQ()) > 0 {
		popped, err := queue.Pop(linked.Discard)
		if err != nil {
			return err
		}
		queued, is := popped.(*framework.QueuedPodGroupInfo)
		if !is {
			return fmt.Errorf("the queue gives a %T for %s", popped, model.GroupTitle(c.PreemptorGroup))
		}
		g.queued = queued
	} else {
		g.waits = groups.GatedBy(queue, c.Group(c.PreemptorGroup))
	}
	for _, p := range others {
		if err := s.loadPod(p); err != nil {
			return err
		}
	}
	return s.updates.err
}

// unloadGroup takes the members, which are in no queue any more, out of what is known of the group.
func (s *scheduler) unloadGroup(g *loadedGroup) error {
	for _, p := range g.members {
		s.sched.Cache.RemovePodGroupMember(p)
	}
	if s.plugin.Executor.IsPodGroupRunningPreemption(g.uid) {
		return errors.New("the pod group stays marked as preempting")
	}
	return nil
}

// member records that a member was tried.
func (r *recorder) member(pod *v1.Pod, result upstream.ScheduleResult, err error) {
	try := model.MemberTry{Pod: model.Key(pod), Node: result.SuggestedHost}
	if err != nil {
		try.Node = ""
		r.scheduled(result, err)
	}
	r.mu.Lock()
	if err != nil {
		try.Filters, try.Error = r.obs.Filters, r.obs.CycleError
	}
	r.obs.Filters, r.obs.CycleError = map[string]model.Verdict{}, ""
	r.mu.Unlock()
	r.group.Member(try)
}

// pendingAllocations are those of the claims of a pod, as JSON by the claim's key, that the scheduler has made and not yet written.
func (s *scheduler) pendingAllocations(p *v1.Pod) map[string]string {
	var all map[string]string
	for _, key := range device.Named(p) {
		obj, exists, err := s.api.Claims.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			continue
		}
		claim := obj.(*resourcev1.ResourceClaim)
		allocation := s.profile.SharedDRAManager().ResourceClaims().GetPendingAllocation(claim.UID)
		if allocation == nil {
			continue
		}
		allocation = allocation.DeepCopy()
		for i := range allocation.Devices.Results {
			if id := &allocation.Devices.Results[i].ShareID; *id != nil {
				*id = s.recorder.group.Share(**id)
			}
		}
		text, _ := json.Marshal(allocation)
		if all == nil {
			all = map[string]string{}
		}
		all[key] = string(text)
	}
	return all
}

// endGroup completes the observation of a group.
func (s *scheduler) endGroup(r *recorder) {
	r.group.End(s.nominatedTo)
	members := r.group.Cycle.Members
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if m := members[key]; m.Code == fwk.Error.String() && r.obs.CycleError == "" {
			r.obs.CycleError = m.Message
		}
	}
}
