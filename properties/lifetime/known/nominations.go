package known

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// nominationCameBack tells whether the last cycle of a pod, or of its group, that decided about its nomination withdrew its nomination before the
// scheduler had been told of it, and the update that told it came after that.
func (l *Life) nominationCameBack(pod string) bool {
	written, withdrawn, back := false, false, false
	async := l.Timeline.Cluster.Settings.FeatureGates["SchedulerAsyncAPICalls"]
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Fits && e.Pod() == pod:
			written = written || async // that it is expected there is to be
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominated to"):
			written = e.TookEffect() || written && async // it is repeated
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nomination cleared"):
			written = written && !e.TookEffect()
		case e.Pod() == pod && (e.What == timeline.Decided || e.What == timeline.Unfit && e.Group != "" && e.Nomination != model.NominationKept):
			withdrawn, back = written && e.Node == "", false
			written = written || e.Node != "" && async // it is to be
		case e.What == timeline.Handled && e.Pod() == pod && strings.HasPrefix(e.Text, "updated"):
			back = withdrawn
		}
	}
	return back
}

// keptRoomFreed tells whether another pod of at least its priority, for which room was kept on a
// node when a pod was tried for the last time, was found another node later, or was deleted, or
// has lost its nomination, as one whose nomination was never written.
func (l *Life) keptRoomFreed(pod, node string) (freed bool) {
	nominated, kept := map[string]string{}, map[string]bool{}
	priority := map[string]int32{}
	for i := range l.Trace.Entries[:l.end()] {
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

// victimsEndUnnoticed tells whether the last cycle of a pod left it waiting for terminating
// pods on its nominated node, and one that was evicted, or marked as a victim and is terminating for another reason, has gone since that
// cycle began.
func (l *Life) victimsEndUnnoticed(pod string) bool {
	victims := map[string]bool{}
	waits, gone := false, false
	ends := func(e *timeline.Entry) bool {
		return e.What == timeline.Handled && e.Text == "deleted" && victims[e.Pod()]
	}
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Called && (e.Call == timeline.Evict || e.MarksVictim()) && e.TookEffect(): // for whomever
			victims[e.Pod()] = true
		case e.What == timeline.Decided && e.Pod() == pod:
			waits = strings.Contains(e.Text, "not eligible due to a terminating pod")
			gone = slices.ContainsFunc(l.Trace.Entries[l.Trace.Began(i):i], func(e timeline.Entry) bool { return ends(&e) })
		case ends(e):
			gone = true
		}
	}
	return waits && gone
}

// chanceUnnoticed tells whether a pod waits, and its last preemption was kept from helping by
// other reasons than those for which the pod does not fit on the nodes as they are.
func (l *Life) chanceUnnoticed(pod string) bool {
	unfit, why := "", ""
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Unfit && e.Pod() == pod:
			unfit = e.Text
		case e.What == timeline.Decided && e.Pod() == pod:
			why = e.Text
			if len(e.Victims) > 0 {
				why = ""
			}
		}
	}
	_, why, _ = strings.Cut(strings.TrimSuffix(why, "."), "available: ")
	for reason := range strings.SplitSeq(why, ", ") {
		_, reason, ok := strings.Cut(reason, " ") // after how many nodes
		if reason == filter.NoPeers {             // as it is, this is a node where preemption is not helpful: so it is one without its victims
			return true
		}
		if ok && !strings.Contains(unfit, reason) && !strings.HasPrefix(reason, "Preemption is not helpful") && !strings.HasPrefix(reason, "No preemption victims") {
			return true
		}
	}
	return false
}

// nominationUnseen tells whether the cycle of a pod that decided at an entry began before the
// scheduler had been told of the nomination that its last preemption wrote.
func (l *Life) nominationUnseen(pod string, at int) bool {
	seen := true
	for i := range l.Trace.Entries[:l.Trace.Began(at)] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Decided && e.Pod() == pod && len(e.Victims) > 0:
			seen = false
		case e.What == timeline.Handled && e.Pod() == pod && strings.HasPrefix(e.Text, "updated") && l.nominationWritten(pod, i):
			seen = true
		}
	}
	return !seen
}

// nominationWritten tells whether, of the entries before i, the last decision for a pod comes
// before the last write of its nomination that took effect.
func (l *Life) nominationWritten(pod string, i int) bool {
	for i--; i >= 0; i-- {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominated to") && e.TookEffect():
			return true
		case e.What == timeline.Decided && e.Pod() == pod:
			return false
		}
	}
	return false
}

// lastWriteFailed tells whether the last write of a pod's nomination failed.
func (l *Life) lastWriteFailed(pod string) (failed bool) {
	for i := range l.Trace.Entries[:l.end()] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominat") {
			failed = !e.TookEffect()
		}
	}
	return failed
}
