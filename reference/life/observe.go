package life

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// observe is how things are now.
func (r *run) observe() *timeline.State {
	state := &timeline.State{At: r.now()}
	type podID struct {
		name string
		uid  types.UID
	}
	states := map[podID]*timeline.PodState{}
	of := func(p *v1.Pod) *timeline.PodState {
		id := podID{model.Key(p), p.UID}
		if states[id] == nil {
			states[id] = &timeline.PodState{Name: id.name, Scheduler: p.Spec.SchedulerName, Priority: model.Priority(p)}
		}
		return states[id]
	}
	var nodes []string
	for _, o := range r.server.objects[reflect.TypeFor[*v1.Node]()] {
		nodes = append(nodes, keyOf(o))
	}
	for _, o := range r.server.objects[reflect.TypeFor[*v1.Pod]()] {
		p := o.(*v1.Pod)
		if seen(p) == nil {
			continue
		}
		s := of(p)
		s.Exists, s.Node, s.Nominated, s.Terminating = true, p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp != nil
	}
	sched := r.scheduler.sched
	queue := sched.SchedulingQueue
	for _, q := range queues {
		for _, p := range q.pods(queue) {
			s := of(p)
			s.Queues = append(s.Queues, q.name)
		}
	}
	for _, p := range queue.InFlightPods() {
		of(p).InFlight = true
	}
	dump := sched.Cache.Dump()
	for name, info := range dump.Nodes {
		if info.Node() == nil || !slices.Contains(nodes, name) {
			nodes = append(nodes, name)
		}
		for _, p := range info.Pods {
			s := of(p.GetPod())
			s.CachedOn = append(s.CachedOn, name)
			s.Assumed = dump.AssumedPods.Has(string(p.GetPod().UID))
		}
	}
	// Nominations to nodes that are gone show only where somebody asks for the name.
	for i := range r.trace.Entries {
		nodes = append(nodes, r.trace.Entries[i].Node)
	}
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		if node == "" { // 1.35 keeps those under it whose nomination was withdrawn
			continue
		}
		for _, p := range queue.NominatedPodsForNode(node) {
			s := of(p.GetPod())
			s.NominatedTo = append(s.NominatedTo, node)
		}
	}
	for id, s := range states {
		namespace, name, _ := strings.Cut(id.name, "/")
		s.Gated, s.Preempting = r.scheduler.gated(namespace, name, id.uid), r.scheduler.preempting(id.uid)
		slices.Sort(s.CachedOn)
		state.Pods = append(state.Pods, *s)
	}
	slices.SortFunc(state.Pods, func(a, b timeline.PodState) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for _, w := range r.queue {
		if w.at.Name != timeline.Pop {
			state.Held = append(state.Held, w.what)
		}
	}
	return state
}

type schedulingQueue interface {
	PodsInActiveQ() []*v1.Pod
	PodsInBackoffQ() []*v1.Pod
	UnschedulablePods() []*v1.Pod
	InFlightPods() []*v1.Pod
}

var queues = []struct {
	name model.Queue
	pods func(schedulingQueue) []*v1.Pod
}{
	{model.QueueActive, schedulingQueue.PodsInActiveQ},
	{model.QueueBackoff, schedulingQueue.PodsInBackoffQ},
	{model.QueueUnschedulable, schedulingQueue.UnschedulablePods},
}

// queuesOf are the queues that a pod is in, whether it is in flight, and whether it is
// gated.
func (s *scheduler) queuesOf(pod *v1.Pod) (in []model.Queue, inFlight, gated bool) {
	queue := s.sched.SchedulingQueue
	same := func(p *v1.Pod) bool { return p.UID == pod.UID }
	for _, q := range queues {
		if slices.ContainsFunc(q.pods(queue), same) {
			in = append(in, q.name)
		}
	}
	return in, slices.ContainsFunc(queue.InFlightPods(), same), s.gated(pod.Namespace, pod.Name, pod.UID)
}

// gated tells whether a plugin keeps a pod out of the queues.
func (s *scheduler) gated(namespace, name string, uid types.UID) bool {
	info, ok := s.sched.SchedulingQueue.GetPod(name, namespace, nil)
	return ok && info.Pod.UID == uid && info.Gated()
}

// preempting tells whether the goroutine of a preemption for a pod is on.
func (s *scheduler) preempting(uid types.UID) bool {
	for _, plugin := range s.plugins {
		if plugin.Executor.IsPodRunningPreemption(uid) {
			return true
		}
	}
	return false
}

// noteLeft notes which pods the event of an entry has left unschedulable.
func (s *scheduler) noteLeft(entry int) {
	var left []timeline.Left
	for _, p := range s.sched.SchedulingQueue.UnschedulablePods() {
		left = append(left, timeline.Left{Pod: model.Key(p), Gated: s.gated(p.Namespace, p.Name, p.UID), Preempting: s.preempting(p.UID)})
	}
	slices.SortFunc(left, func(a, b timeline.Left) int { return cmp.Compare(a.Pod, b.Pod) })
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.trace.Entries[entry].Left = left
}

// expect checks an expectation, and keeps it if it does not hold.
func (r *run) expect(step int, e *timeline.Expectation) {
	state := r.observe()
	p := state.Pod(e.Pod)
	is := func(want *string, got string) bool { return want == nil || *want == got }
	in := "none"
	if len(p.Queues) > 0 {
		in = string(p.Queues[0])
	}
	if is(e.Node, p.Node) && is(e.Nominated, p.Nominated) && is(e.Queue, in) && (e.Exists == nil || *e.Exists == p.Exists) {
		return
	}
	r.unmet(timeline.Unmet{Step: step, Expectation: *e, Was: describe(p)})
}

func (r *run) unmet(u timeline.Unmet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace.Unmet = append(r.trace.Unmet, u)
}

// miss keeps the expectations of a step and of those after it: none of them was come to.
func (r *run) miss(step int) {
	for i := step; i < len(r.tl.Steps); i++ {
		if e := r.tl.Steps[i].Expect; e != nil {
			r.unmet(timeline.Unmet{Step: i, Expectation: *e, Was: "the timeline broke off before"})
		}
	}
}

func describe(p timeline.PodState) string {
	if !p.Exists {
		return "it is gone"
	}
	var all []string
	switch {
	case p.Node != "":
		all = append(all, "bound to "+p.Node)
	case p.Nominated != "":
		all = append(all, "nominated to "+p.Nominated)
	default:
		all = append(all, "pending")
	}
	for _, q := range p.Queues {
		all = append(all, "in queue "+string(q))
	}
	return "it is " + strings.Join(all, ", ")
}
