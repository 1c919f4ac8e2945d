package together

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// LeftBehind tells whether a pod waits for the end of a cycle of its group that was over for the queue before: it came back from
// that cycle, or came while it went on, and a pod without a group was put back meanwhile. When its group is put back again, it goes
// with it, though it is gone: its deletion was not looked for among those that wait (scheduling_queue.go:1485@v1.37.1,
// deletePodGroupMember).
func LeftBehind(trace *timeline.Trace, pod string) bool {
	return slices.ContainsFunc(trace.Quiet.Pods, func(p timeline.PodState) bool {
		return p.Name == pod && (slices.Contains(p.Queues, timeline.QueuePending) || !p.Exists && (movedWithGroup(trace, pod) || putBackGone(trace, pod)))
	}) && TornOff(trace, pod, trace.FlushedAt)
}

// movedWithGroup tells whether another pod of its group was put back after a later cycle than the one whose end a pod waited for.
func movedWithGroup(trace *timeline.Trace, name string) bool {
	group, waits, again := "", false, false
	for i := range trace.Entries[:trace.FlushedAt] {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == name:
			waits, again = false, false
		case e.What == timeline.Handled && e.Pod() == name && e.Was == nil && e.Is != nil:
			group, waits = GroupOf(pod(e.Is)), true
		case e.What == timeline.Requeued && e.Pod() == name:
			waits = e.Queue == timeline.QueuePending
		case e.What == timeline.Popped && e.Pod() == "" && e.Preemptor() == group:
			again = waits
		case e.What == timeline.Requeued && e.Group == group && again:
			return true
		}
	}
	return false
}

// putBackGone tells whether a pod came back from a cycle of its group into a queue, though the scheduler had been told that it is gone.
func putBackGone(trace *timeline.Trace, name string) bool {
	back := false
	for i := trace.FlushedAt - 1; i >= 0; i-- {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == name:
			return false
		case e.What == timeline.Requeued && e.Pod() == name && !back:
			if back = e.Group != "" && e.Queue != "" && e.Queue != timeline.QueuePending; !back {
				return false
			}
		case e.What == timeline.Handled && e.Pod() == name && back:
			return e.Is == nil
		}
	}
	return false
}

// TornOff tells whether the last cycle of its group from which a pod came back before an entry was cut short, or one during which it came.
func TornOff(trace *timeline.Trace, pod string, before int) bool {
	return backWhenCutShort(trace, pod, before) || cameBeforeCutShort(trace, pod, before)
}

// cameBeforeCutShort tells whether the pod that came last under a name before an entry came while a cycle of its group went on, and that
// cycle was cut short after that.
func cameBeforeCutShort(trace *timeline.Trace, name string, before int) bool {
	for i := before - 1; i >= 0; i-- {
		e := &trace.Entries[i]
		if e.What == timeline.TakenOver || e.What == timeline.Popped && e.Pod() == name {
			return false // it has come back since, if at all
		}
		if e.What == timeline.Handled && e.Pod() == name && e.Was == nil && e.Is != nil {
			began, over := cycleBefore(trace, GroupOf(pod(e.Is)), i)
			return began >= 0 && putBackAlone(trace, i, over)
		}
	}
	return false
}

// backWhenCutShort tells whether the last cycle of its group from which a pod came back before an entry was cut short.
func backWhenCutShort(trace *timeline.Trace, pod string, before int) bool {
	for i := before - 1; i >= 0; i-- {
		if e := &trace.Entries[i]; e.What == timeline.Requeued && e.Group != "" && e.Pod() == pod {
			return CycleCutShort(trace, e.Group, i)
		}
	}
	return false
}

// CycleCutShort tells whether a pod without a group was put back into the queue, as its binding had failed, in the last cycle of a
// group that began before an entry. The queue forgets then that the group is in its cycle (scheduling_queue.go:1126@v1.37.1).
func CycleCutShort(trace *timeline.Trace, group string, before int) bool {
	began, over := cycleBefore(trace, group, before)
	return began >= 0 && putBackAlone(trace, began, over)
}

// cycleBefore is the last cycle of a group that began before an entry: the entry that it began with, -1 if there is none, and the
// one where the last pod of the group came back from it.
func cycleBefore(trace *timeline.Trace, group string, before int) (began, over int) {
	for began = before - 1; began >= 0; began-- {
		if e := &trace.Entries[began]; e.What == timeline.Popped && e.Pod() == "" && e.Preemptor() == group {
			break
		}
	}
	if began < 0 {
		return began, began
	}
	over = began
	for i := began + 1; i < len(trace.Entries); i++ {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Group != group:
			return began, over
		case e.What == timeline.Requeued && e.Group == group:
			over = i
		}
	}
	return began, over
}

// QueuedBesides tells whether a member may be in the queue as well while its group is in a cycle that begins at an entry: it had failed in
// the cycle before, a pod without a group was put back after that, and then an update put the member into the queue once more.
func QueuedBesides(trace *timeline.Trace, member string, began int) bool {
	popped := began - 1
	for popped >= 0 && (trace.Entries[popped].What != timeline.Popped || trace.Entries[popped].Pod() != member) {
		popped--
	}
	unfit := -1
	for i := popped + 1; popped >= 0 && i < began; i++ {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			return false
		case e.Pod() != member:
		case e.What == timeline.Unfit:
			unfit = -1
			if e.Group != "" {
				unfit = i
			}
		case e.What == timeline.Handled && unfit >= 0 && putBackAlone(trace, unfit, i):
			return true
		}
	}
	return false
}

// putBackAlone tells whether a pod without a group that had been found to fit was put back between two entries. That its binding has
// failed is told just after that.
func putBackAlone(trace *timeline.Trace, from, to int) bool {
	fits := map[string]bool{}
	for i := range trace.Entries[:to] {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			clear(fits)
		case e.What == timeline.Fits && e.Group == "":
			fits[e.Pod()] = TriedAs(trace, e.Pod()) == e.Pod()
		case e.What == timeline.Told && fits[e.Pod()] && strings.HasPrefix(e.Text, "FailedScheduling:"):
			if i > from && comesBack(trace, i) {
				return true
			}
			delete(fits, e.Pod())
		}
	}
	return false
}

// comesBack tells whether a pod of which an entry tells that its binding has failed was put back into the queue before that: it is there when
// all is done about the failure, or it was tried again or went away only since. It is put back if listers show it then, on no node
// (schedule_one.go:1201@v1.37.1, handleSchedulingFailure).
func comesBack(trace *timeline.Trace, told int) bool {
	failed := &trace.Entries[told]
	for i := told + 1; i < len(trace.Entries); i++ {
		e := &trace.Entries[i]
		was := pod(e.Was)
		switch {
		case e.What == timeline.TakenOver:
			return false
		case e.Object != failed.Object:
		case e.What == timeline.Stored && e.Is == nil && was != nil && was.UID == failed.UID:
			return was.Spec.NodeName == ""
		case e.What == timeline.Popped: // or one of its name, once it is gone
			is := pod(e.Is)
			return is != nil && is.UID == failed.UID
		case e.What == timeline.Requeued:
			return e.Queue != ""
		}
	}
	return false
}
