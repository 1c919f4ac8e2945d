package unnoticed

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// BoundElsewhere tells whether, since a pod was last tried, the scheduler was told that another one is bound, and until then it
// had that one on a node where it is not: assumed there or, if it is of at least the pod's priority, nominated to it.
func (l *Life) BoundElsewhere(pod, node string) (freed bool) {
	assumed, nominated := map[string]string{}, map[string]string{}
	var priority int32
	startups := l.Trace.Startups
	for i := range l.Trace.Entries[:l.End] {
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			for _, o := range startups[0].Objects {
				if p, ok := o.(*v1.Pod); ok {
					nominated[model.Key(p)] = p.Status.NominatedNodeName
				}
			}
		}
		e := &l.Trace.Entries[i]
		other := e.Pod()
		p, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			clear(assumed)
			clear(nominated)
			freed = false
		case e.What == timeline.Popped && other == pod && p != nil:
			priority, freed = model.Priority(p), false
		case e.What == timeline.Fits:
			assumed[other] = e.Node
			delete(nominated, other)
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"): // if it was on its way, that is over, and told
			delete(assumed, other)
		case e.Nomination != model.NominationKept && (e.What == timeline.Decided || e.What == timeline.Unfit && e.Group != ""):
			nominated[other] = e.Node
		case e.What != timeline.Handled || p == nil:
		case p.Spec.NodeName == "":
			nominated[other] = p.Status.NominatedNodeName
		default:
			if p.Spec.NodeName != node && (assumed[other] == node || nominated[other] == node && model.Priority(p) >= priority) {
				freed = true
			}
			delete(assumed, other)
			delete(nominated, other)
		}
	}
	return freed
}

// KeptRoomFreed tells whether another pod of at least its priority, for which room was kept on a
// node when a pod was tried for the last time, was found another node later, or was deleted, or
// has lost its nomination, as one whose nomination was never written.
func (l *Life) KeptRoomFreed(pod, node string) (freed bool) {
	nominated, kept := map[string]string{}, map[string]bool{}
	priority := map[string]int32{}
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		other := e.Pod()
		if p, ok := e.Is.(*v1.Pod); ok {
			priority[other] = model.Priority(p)
		}
		switch {
		case e.What == timeline.TakenOver:
			clear(nominated)
		case e.What == timeline.Popped && other == pod:
			freed = false
			clear(kept)
			for q, to := range nominated {
				kept[q] = to == node && q != pod
			}
		case e.What == timeline.Decided, e.What == timeline.Unfit && e.Group != "":
			p, ok := e.Is.(*v1.Pod)
			to := e.Node
			if ok && e.What == timeline.Unfit && e.Nomination == model.NominationKept { // as it is written
				to = p.Status.NominatedNodeName
			}
			if freed = freed || ok && kept[other] && to != node && p.Status.NominatedNodeName == "" && priority[other] >= priority[pod]; to != node {
				delete(kept, other)
			}
			nominated[other] = to
		case e.What == timeline.Fits:
			freed = freed || kept[other] && e.Node != node && priority[other] >= priority[pod]
			delete(nominated, other)
			delete(kept, other)
		case e.What == timeline.Handled && e.Text == "deleted":
			was, ok := e.Was.(*v1.Pod)
			freed = freed || ok && kept[other] && was.Status.NominatedNodeName == "" && priority[other] >= priority[pod]
			delete(nominated, other)
			delete(kept, other)
		}
	}
	return freed
}

// StaleDeletion tells whether, since a pod was last tried, a new list has shown that a pod is gone
// that was on a node, or assumed there, and that was last known as pending.
func (l *Life) StaleDeletion(pod, node string) (stale bool) {
	on := map[types.UID]string{} // by pod: one of the same name may be created before the list
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch was, _ := e.Was.(*v1.Pod); {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == pod:
			stale = false
		case e.What == timeline.Fits && is != nil:
			on[is.UID] = e.Node
		case e.What == timeline.Requeued && is != nil:
			delete(on, is.UID) // its binding has failed, if it had one
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect():
			on[e.UID] = e.BindsTo()
		case e.What == timeline.Handled && e.Listed && e.Text == "deleted" && was != nil && was.Spec.NodeName == "":
			stale = stale || on[was.UID] == node
		}
	}
	return stale
}
