package known

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// leftBehind tells whether a pod waits for the end of a cycle of its group that was over for the queue before: it came back from
// that cycle, or came while it went on, and a pod without a group was put back meanwhile. When its group is put back again, it goes
// with it, though it is gone: its deletion was not looked for among those that wait (scheduling_queue.go:1485@v1.37.1,
// deletePodGroupMember).
func (l *Life) leftBehind(pod string) bool {
	return slices.ContainsFunc(l.Trace.Quiet.Pods, func(p timeline.PodState) bool {
		return p.Name == pod && (slices.Contains(p.Queues, timeline.QueuePending) || !p.Exists && l.movedWithGroup(pod))
	}) && (l.backWhenCutShort(pod, l.Trace.FlushedAt) || l.cameBeforeCutShort(pod, l.Trace.FlushedAt))
}

// movedWithGroup tells whether another pod of its group was put back after a later cycle than the one whose end a pod waited for.
func (l *Life) movedWithGroup(name string) bool {
	group, waits, again := "", false, false
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == name:
			waits, again = false, false
		case e.What == timeline.Handled && e.Pod() == name && e.Was == nil && e.Is != nil:
			group, waits = together.GroupOf(pod(e.Is)), true
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

// cameBeforeCutShort tells whether the pod that came last under a name before an entry came while a cycle of its group went on, and that
// cycle was cut short after that.
func (l *Life) cameBeforeCutShort(name string, before int) bool {
	for i := before - 1; i >= 0; i-- {
		e := &l.Trace.Entries[i]
		if e.What == timeline.TakenOver || e.What == timeline.Popped && e.Pod() == name {
			return false // it has come back since, if at all
		}
		if e.What == timeline.Handled && e.Pod() == name && e.Was == nil && e.Is != nil {
			began, over := l.cycleBefore(together.GroupOf(pod(e.Is)), i)
			return began >= 0 && l.putBackAlone(i, over)
		}
	}
	return false
}

// backWhenCutShort tells whether the last cycle of its group from which a pod came back before an entry was cut short.
func (l *Life) backWhenCutShort(pod string, before int) bool {
	for i := before - 1; i >= 0; i-- {
		if e := &l.Trace.Entries[i]; e.What == timeline.Requeued && e.Group != "" && e.Pod() == pod {
			return l.cycleCutShort(e.Group, i)
		}
	}
	return false
}

// cycleCutShort tells whether a pod without a group was put back into the queue, as its binding had failed, in the last cycle of a
// group that began before an entry. The queue forgets then that the group is in its cycle (scheduling_queue.go:1126@v1.37.1).
func (l *Life) cycleCutShort(group string, before int) bool {
	began, over := l.cycleBefore(group, before)
	return began >= 0 && l.putBackAlone(began, over)
}

// cycleBefore is the last cycle of a group that began before an entry: the entry that it began with, -1 if there is none, and the
// one where the last pod of the group came back from it.
func (l *Life) cycleBefore(group string, before int) (began, over int) {
	for began = before - 1; began >= 0; began-- {
		if e := &l.Trace.Entries[began]; e.What == timeline.Popped && e.Pod() == "" && e.Preemptor() == group {
			break
		}
	}
	if began < 0 {
		return began, began
	}
	over = began
	for i := began + 1; i < len(l.Trace.Entries); i++ {
		switch e := &l.Trace.Entries[i]; {
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
func (l *Life) QueuedBesides(member string, began int) bool {
	popped := began - 1
	for popped >= 0 && (l.Trace.Entries[popped].What != timeline.Popped || l.Trace.Entries[popped].Pod() != member) {
		popped--
	}
	unfit := -1
	for i := popped + 1; popped >= 0 && i < began; i++ {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			return false
		case e.Pod() != member:
		case e.What == timeline.Unfit:
			unfit = -1
			if e.Group != "" {
				unfit = i
			}
		case e.What == timeline.Handled && unfit >= 0 && l.putBackAlone(unfit, i):
			return true
		}
	}
	return false
}

// putBackAlone tells whether a pod without a group that had been found to fit was put back between two entries. That its binding has
// failed is told just after that.
func (l *Life) putBackAlone(from, to int) bool {
	fits := map[string]bool{}
	for i := range l.Trace.Entries[:to] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			clear(fits)
		case e.What == timeline.Fits && e.Group == "":
			fits[e.Pod()] = TriedAs(l.Trace, e.Pod()) == e.Pod()
		case e.What == timeline.Told && fits[e.Pod()] && strings.HasPrefix(e.Text, "FailedScheduling:"):
			if i > from && l.comesBack(i) {
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
func (l *Life) comesBack(told int) bool {
	failed := &l.Trace.Entries[told]
	for i := told + 1; i < len(l.Trace.Entries); i++ {
		e := &l.Trace.Entries[i]
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
