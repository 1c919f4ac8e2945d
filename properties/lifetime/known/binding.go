package known

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// Known findings about victims that are on their way to a node.

// victimBack tells whether the last preemption for a pod ended well, and a victim was deleted, by
// whomever, that was back in the queue by then, or about to be: its binding had failed, and it was
// not yet back when the cycle of the preemptor began.
func (l *Life) victimBack(pod string) bool {
	p := l.Trace.LastPreemption(pod, l.end())
	if !l.endedWell(p) {
		return false
	}
	back, deleted := map[string]bool{}, map[string]bool{}
	for i, began := 0, l.Trace.Began(p.Decided); i < p.Ended; i++ {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			clear(back)
		case e.What == timeline.Removed, e.What == timeline.Deleting:
			deleted[e.Pod()] = true
		case e.Creates():
			delete(deleted, e.Pod())
		case e.What == timeline.Requeued && slices.Contains(p.Victims, e.Pod()):
			back[e.Pod()] = i >= began // a binding that failed before holds the room until the pod is back
		case e.What == timeline.Called && e.Call == timeline.Bind && slices.Contains(p.Victims, e.Pod()):
			back[e.Pod()] = !e.TookEffect()
		case e.What == timeline.Fits:
			delete(back, e.Pod())
		}
	}
	for victim, is := range back { // and no deletion of it concerns a node
		if is && deleted[victim] {
			return true
		}
	}
	return false
}

// rejectedInVain tells whether the last preemption for a pod was synchronous, and took a victim off its way to a node of which the
// scheduler had been told by then that it is bound: so it stays there, and nothing was deleted.
func (l *Life) rejectedInVain(pod string) bool {
	if l.Timeline.Cluster.Settings.AsyncPreemption() {
		return false
	}
	onWay, stays := map[string]bool{}, map[string]bool{} // stays: the victims that were bound
	for i := range l.Trace.Entries[:l.end()] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			clear(onWay)
			clear(stays)
		case e.What == timeline.Fits:
			onWay[e.Pod()] = false
		case e.What == timeline.Called && e.Call == timeline.Bind, e.What == timeline.Requeued:
			delete(onWay, e.Pod())
		case e.What == timeline.Handled && e.Text == "deleted":
			delete(onWay, e.Pod())
			delete(stays, e.Pod())
		case e.What == timeline.Handled && is != nil && is.Spec.NodeName != "":
			if _, is := onWay[e.Pod()]; is {
				onWay[e.Pod()] = true
			}
		case e.What == timeline.Popped && e.Pod() == pod:
			clear(stays)
		case e.What == timeline.Decided && e.Preemptor() == pod:
			for _, v := range e.Victims {
				if onWay[v] {
					stays[v] = true
				}
			}
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By == pod && e.TookEffect():
			clear(stays) // that is told of
		}
	}
	return len(stays) > 0
}

// victimRejected tells whether a pod's last attempt before the flush ended as it was preempted while it
// was on its way to a node, and was not deleted: so it counts as unschedulable.
func (l *Life) victimRejected(pod string) (rejected bool) {
	assumed, preempted := false, false
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			assumed, preempted, rejected = false, false, false
		case e.What == timeline.Decided && assumed && slices.Contains(e.Victims, pod):
			preempted = true
		case e.Pod() != pod:
		case e.What == timeline.Popped:
			assumed, preempted, rejected = false, false, false
		case e.What == timeline.Fits:
			assumed = true
		case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect():
			preempted = false
		case e.What == timeline.Requeued:
			rejected = preempted && e.Text != "error" && e.Queue == model.QueueUnschedulable
			assumed = false
		}
	}
	return rejected
}

// namesakeGated tells whether the scheduler was told of a pod while a preemption for an earlier pod of its
// name went on, which looked up the new one, and has not tried it since, by an entry.
func (l *Life) namesakeGated(pod string, before int) (gated bool) {
	var popped, latest types.UID
	on := false
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		if e.What == timeline.TakenOver {
			on, gated = false, false
		}
		if e.Pod() != pod {
			continue
		}
		p, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.Popped && p != nil:
			popped, gated = p.UID, gated && p.UID != latest
		case e.What == timeline.Stored && p != nil:
			latest = p.UID
		case e.What == timeline.Decided && len(e.Victims) > 0:
			on = popped != latest
		case e.What == timeline.Ends:
			on = false
		case e.What == timeline.Handled && e.Text == "added" && p != nil:
			gated = on && p.UID != popped
		}
	}
	return gated
}

// decidedForNamesake tells whether a decision is one for a pod in whose place listers showed another one of its name: it is that
// one's nomination that is looked up.
func (l *Life) decidedForNamesake(decided int) bool {
	pod, _ := l.Trace.Entries[decided].Is.(*v1.Pod)
	if pod == nil {
		return false
	}
	var shown *v1.Pod
	for i := range l.Trace.Entries[:decided] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			shown = nil
		case e.What == timeline.Stored && e.Pod() == model.Key(pod):
			shown, _ = e.Is.(*v1.Pod)
		}
	}
	return shown != nil && shown.UID != pod.UID
}

// manyTimes is how often a pod has to preempt, or a group to be tried, within the last second to show that
// there is no pause.
const manyTimes = 20

// noPause tells whether what goes on in the end is that a pod preempts again and again, though
// each preemption is over.
func (l *Life) noPause() bool {
	if len(l.Trace.Entries) == 0 {
		return false
	}
	end := l.Trace.Entries[len(l.Trace.Entries)-1].At
	decided, over := map[string]int{}, map[string]bool{}
	for i := range l.Trace.Entries {
		switch e := &l.Trace.Entries[i]; {
		case e.At < end-time.Second:
		case e.What == timeline.Ends:
			over[e.Preemptor()] = true
		case e.What == timeline.Decided && len(e.Victims) > 0 && over[e.Preemptor()]:
			decided[e.Preemptor()]++
			delete(over, e.Preemptor())
		}
	}
	for _, n := range decided {
		if n >= manyTimes {
			return true
		}
	}
	return false
}

// noPauseOfMember tells whether what goes on in the end is that a group is tried again and again for a member
// whose binding has failed, be it with the rest of it: pods that did not fit when others did are to be tried again at once (doc
// comment of AddAttemptedPodGroupIfNeeded, scheduling_queue.go:1158@v1.37.1).
func (l *Life) noPauseOfMember() bool {
	if len(l.Trace.Entries) == 0 {
		return false
	}
	end := l.Trace.Entries[len(l.Trace.Entries)-1].At
	tried := map[string]int{}
	for i := range l.Trace.Entries {
		if e := &l.Trace.Entries[i]; e.At >= end-time.Second && e.What == timeline.Popped && e.Pod() == "" {
			if bindings, others := together.Failed(l.Trace, i); len(bindings) > 0 && l.restOfPlaced(i, others) {
				tried[e.Object]++
			}
		}
	}
	for _, n := range tried {
		if n >= manyTimes {
			return true
		}
	}
	return false
}

// restOfPlaced tells whether pods with which a group is tried at an entry did not fit in its last cycle, while another pod of it did.
func (l *Life) restOfPlaced(at int, pods []string) bool {
	group, placed, unfit := l.Trace.Entries[at].Preemptor(), false, map[string]bool{}
	for i := at - 1; i >= 0 && (l.Trace.Entries[i].What != timeline.Popped || l.Trace.Entries[i].Preemptor() != group); i-- {
		if e := &l.Trace.Entries[i]; e.Group == group {
			placed = placed || e.What == timeline.Fits
			unfit[e.Pod()] = unfit[e.Pod()] || e.What == timeline.Unfit
		}
	}
	return len(pods) == 0 || placed && !slices.ContainsFunc(pods, func(p string) bool { return !unfit[p] })
}
