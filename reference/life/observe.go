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
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// observe is how things are now.
func (r *run) observe() *timeline.State {
	state := &timeline.State{At: r.now()}
	type podID struct {
		name string
		uid  types.UID
	}
	states, pods := map[podID]*timeline.PodState{}, map[podID]*v1.Pod{}
	of := func(p *v1.Pod) *timeline.PodState {
		id := podID{model.Key(p), p.UID}
		if states[id] == nil {
			pods[id] = p
			states[id] = &timeline.PodState{Name: id.name, Scheduler: p.Spec.SchedulerName, Priority: model.Priority(p)}
		}
		return states[id]
	}
	var nodes []string
	for _, o := range r.server.Objects(reflect.TypeFor[*v1.Node]()) {
		nodes = append(nodes, api.KeyOf(o))
	}
	for _, o := range r.server.Objects(reflect.TypeFor[*v1.Pod]()) {
		p := o.(*v1.Pod)
		s := of(p)
		s.Exists, s.Node, s.Nominated, s.Terminating = true, p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp != nil
	}
	sched := r.scheduler.sched
	queue := sched.SchedulingQueue
	for _, q := range r.scheduler.queues() {
		for _, p := range q.pods {
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
		s.Gated, s.Preempting = r.scheduler.gated(pods[id]), r.scheduler.preempting(pods[id])
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

// inQueue are the pods of one of the scheduler's queues.
type inQueue struct {
	name model.Queue
	pods []*v1.Pod
}

func (s *scheduler) queues() []inQueue {
	queue := s.sched.SchedulingQueue
	all := []inQueue{{model.QueueActive, queue.PodsInActiveQ()}, {model.QueueBackoff, queue.PodsInBackoffQ()}, {model.QueueUnschedulable, queue.UnschedulablePods()}}
	return append(all, beside(queue)...)
}

// queuesOf are the queues that a pod is in, whether it is in flight, and whether it is
// gated.
func (s *scheduler) queuesOf(pod *v1.Pod) (in []model.Queue, inFlight, gated bool) {
	same := func(p *v1.Pod) bool { return p.UID == pod.UID }
	for _, q := range s.queues() {
		if slices.ContainsFunc(q.pods, same) {
			in = append(in, q.name)
		}
	}
	return in, slices.ContainsFunc(s.sched.SchedulingQueue.InFlightPods(), same), s.gated(pod)
}

// untracked tells whether the queue has a pod nowhere, and does not count it among those that are being tried. It does not matter
// for one that is gone, terminates or is bound: if an earlier attempt ends meanwhile, it is not put back.
func (s *scheduler) untracked(pod *v1.Pod) bool {
	if s.r.overlaps != nil { // what is looked up under locks would put one thing before another
		return false
	}
	stored, _, _ := s.informers[reflect.TypeFor[*v1.Pod]()].GetIndexer().GetByKey(model.Key(pod))
	now, ok := stored.(*v1.Pod)
	if !ok || now.UID != pod.UID || now.DeletionTimestamp != nil || now.Spec.NodeName != "" {
		return false
	}
	queues, inFlight, _ := s.queuesOf(pod)
	return !inFlight && len(queues) == 0
}

// gated tells whether a plugin keeps a pod, or its group, out of the queues.
func (s *scheduler) gated(p *v1.Pod) bool {
	if gated, ok := s.groupGated(p); ok {
		return gated
	}
	info, ok := s.sched.SchedulingQueue.GetPod(p.Name, p.Namespace, nil)
	return ok && info.Pod.UID == p.UID && info.Gated()
}

// preempting tells whether the goroutine of a preemption for a pod, or for its group, is on.
func (s *scheduler) preempting(p *v1.Pod) bool {
	for _, plugin := range s.plugins {
		if plugin.Executor.IsPodRunningPreemption(s.preemptsAs(p)) {
			return true
		}
	}
	return false
}

// noteLeft notes which pods the event of an entry has left unschedulable.
func (s *scheduler) noteLeft(entry int) {
	var left []timeline.Left
	for _, p := range s.sched.SchedulingQueue.UnschedulablePods() {
		left = append(left, timeline.Left{Pod: model.Key(p), Gated: s.gated(p), Preempting: s.preempting(p)})
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
