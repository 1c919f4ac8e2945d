package known

import (
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// endMetByGate are the known findings by which a pod is still gated when a pod is gone after the last
// preemption for it was over: the end of a pod on a node, on its way to one, or nominated to one, was met by the gate
// while that went on.
func (l *Life) endMetByGate(pod string) []string {
	p := l.Trace.LastPreemption(pod, l.end())
	if !l.endedWell(p) {
		return nil
	}
	began := l.Trace.Began(p.Decided)
	met := l.wayEnded(began, p.Ended)
	for i := began; i < p.Ended && !met; i++ {
		e := &l.Trace.Entries[i]
		met = e.PreemptsInMemory() || e.What == timeline.Handled && (leavesNode(e) || l.freesNomination(i, pod, p))
	}
	switch {
	case l.victimBack(pod):
		return []string{VictimBack}
	case !met:
		return nil
	case p.Deleted == 0: // and no event followed
		return []string{VainPreemption}
	}
	return []string{GateMeetsDeletion}
}

// hadNode tells whether the deletion of a pod, if there is one, counts as its deletion from a node: it was there, or nominated to it
// (eventhandlers.go:386@v1.37.1, deletePodFromSchedulingQueue).
func hadNode(p *v1.Pod) bool {
	return p != nil && (p.Spec.NodeName != "" || p.Status.NominatedNodeName != "")
}

// leavesNode tells whether an event is the deletion of a pod from a node. One that only a new list has shown counts as such whatever is
// known of the pod (eventhandlers.go:225@v1.37.1).
func leavesNode(e *timeline.Entry) bool {
	was := pod(e.Was)
	return e.Text == "deleted" && was != nil && (was.Spec.NodeName != "" || e.Listed && !e.Replaced)
}

// freesNomination tells whether an entry, an event, counts as the deletion of a pod from a node to which it was nominated, for a pod or
// group that preempts: it is gone, or nominated elsewhere, and not on its way to a node (eventhandlers.go:347,386@v1.37.1,
// updatePodInSchedulingQueue, deletePodFromSchedulingQueue). Of pods that wait, the queue looks at those of at most its priority, and at
// all that are in their cycle (scheduling_queue.go:1838,1953@v1.37.1).
func (l *Life) freesNomination(at int, preemptor string, p *timeline.Preemption) bool {
	e := &l.Trace.Entries[at]
	was, is := pod(e.Was), pod(e.Is)
	gone := e.Text == "deleted" || is != nil && is.Spec.NodeName == "" && is.Status.NominatedNodeName != nominatedTo(was)
	if was == nil || was.Spec.NodeName != "" || nominatedTo(was) == "" || !gone || together.TriedAs(l.Trace, e.Pod()) == preemptor || l.onItsWay(e.Pod(), at) {
		return false
	}
	return l.inCycle(preemptor, p.Decided, at) || model.Priority(was) >= l.leastPriority(preemptor)
}

func nominatedTo(p *v1.Pod) string {
	if p == nil {
		return ""
	}
	return p.Status.NominatedNodeName
}

// inCycle tells whether the cycle of a pod or group that an entry is of went on at another one: nobody had been put back. Of a pod it is
// told just after that, before its status is written.
func (l *Life) inCycle(preemptor string, decided, at int) bool {
	return at < decided || !slices.ContainsFunc(l.Trace.Entries[decided:at], func(e timeline.Entry) bool {
		if e.Pod() == preemptor {
			return e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:")
		}
		return e.What == timeline.Requeued && together.TriedAs(l.Trace, e.Pod()) == preemptor
	})
}

// leastPriority is that of the pods that are tried as a pod or group. One of them is enough for the queue to look at a group.
func (l *Life) leastPriority(preemptor string) int32 {
	least := int32(math.MaxInt32)
	for i := range l.Trace.Entries[:l.end()] {
		e := &l.Trace.Entries[i]
		if is := pod(e.Is); is != nil && together.TriedAs(l.Trace, e.Pod()) == preemptor {
			least = min(least, model.Priority(is))
		}
	}
	return least
}

// wayEnded tells whether, between two entries, a pod's way to a node ended before it was bound. That counts as its deletion from the
// node (eventhandlers.go:304@v1.37.1, handleAssumedPodDeletion; schedule_one.go:521@v1.37.1, handleBindingCycleError).
func (l *Life) wayEnded(from, to int) bool {
	for i := from; i < to; i++ {
		if e := &l.Trace.Entries[i]; endsWay(e) && l.onItsWay(e.Pod(), i) {
			return true
		}
	}
	return false
}

// endsWay tells whether a pod on its way to a node was told to end, or is gone, or its binding has failed.
func endsWay(e *timeline.Entry) bool {
	return e.What == timeline.Handled && (e.Text == "deleted" || strings.HasSuffix(e.Text, "terminating")) ||
		e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:")
}

// onItsWay tells whether a pod was on its way to a node before an entry: it had been found to fit, and was not bound.
func (l *Life) onItsWay(pod string, at int) (is bool) {
	for i := range l.Trace.Entries[:at] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			is = false
		case e.Pod() != pod:
		case e.What == timeline.Fits:
			is = true
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect(), endsWay(e):
			is = false
		}
	}
	return is
}

// nodeMetByGate tells whether a node was added or changed while the last preemption for a pod went on, which is over: the gate met
// that event, so the pod was not tried on the node, and no plugin looks for what it lacks there.
func (l *Life) nodeMetByGate(pod, node string) bool {
	p := l.Trace.LastPreemption(pod, l.end())
	if p == nil || p.Began < 0 || p.Ended < 0 {
		return false
	}
	return slices.ContainsFunc(l.Trace.Entries[p.Decided:p.Ended], func(e timeline.Entry) bool {
		return e.What == timeline.Handled && e.Object == "Node "+node && e.Text != "deleted" &&
			slices.ContainsFunc(e.Left, func(left timeline.Left) bool { return left.Pod == pod && left.Gated && left.Preempting })
	})
}

// StillGated is how a pod is left of which the gate met, while the preemption for it went on, what makes it fit.
const StillGated = "still gated after its preemption"

// metMeanwhile are the known findings by which a pod is still gated when the last preemption for it is over, as an event was met by
// the gate that came since its cycle began: the gate outlives the preemption as long as victims terminate, whose end comes to the pod.
func (l *Life) metMeanwhile(pod string, event int) []string {
	p := l.Trace.LastPreemption(pod, l.end())
	switch {
	case p == nil || p.Began < 0 || p.Ended < 0 || event < l.Trace.Began(p.Decided) || event > p.Ended:
		return nil
	case l.evictedNamesake(pod):
		return []string{Namesake}
	case len(p.Gone) == len(p.Victims):
		return l.endMetByGate(pod)
	}
	return []string{GateOutlives}
}

// preemptionOver tells whether the last preemption for a pod had a goroutine, and that has ended.
func (l *Life) preemptionOver(pod string) bool {
	p := l.Trace.LastPreemption(pod, l.end())
	return p != nil && p.Began >= 0 && p.Ended >= 0
}

// gatedBy are the known findings by which a pod, or a group, is kept gated in the end. A pod that is tried with its group is
// gated as that is.
func (l *Life) gatedBy(pod string) []string {
	by := together.TriedAs(l.Trace, pod)
	if !slices.ContainsFunc(l.Trace.Quiet.Pods, func(p timeline.PodState) bool { return together.TriedAs(l.Trace, p.Name) == by && p.Gated }) { // of two of one name either
		return nil
	}
	ids := l.opensNever(by)
	for _, p := range l.Trace.Quiet.Pods {
		switch {
		case len(ids) > 0 || !p.Gated || together.TriedAs(l.Trace, p.Name) != by:
		case l.unnoticed().FirstOfItsKind(p.Name):
			ids = append(ids, FirstUnnoticed)
		case l.preemptionOver(by) && l.unnoticed().PeerMetByGate(p.Name):
			ids = append(ids, GateOutlives)
		}
	}
	return ids
}

// opensNever are the known findings by which a pod that is gated stays so.
func (l *Life) opensNever(pod string) []string {
	switch {
	case l.namesakeGated(pod, l.end()):
		return []string{NamesakeGated}
	case l.evictedNamesake(pod):
		return []string{Namesake}
	case preemptedInVain(l.Trace, pod, l.end()):
		return []string{VainPreemption}
	case l.deletionMetByGate(pod):
		return []string{GateMeetsDeletion}
	case l.victimBack(pod):
		return []string{VictimBack}
	case together.MemberGone(l.Trace, pod, l.end()):
		return []string{MemberGone}
	case together.RejectionsForgotten(l.Trace, pod, l.end()):
		return []string{RejectionsForgotten}
	}
	return l.nobodyWaitsForVictims(pod)
}

// deletionMetByGate tells whether, in the last preemption for a pod, which ended well, the
// scheduler was told that a victim is gone while it was on, and of another one after that.
func (l *Life) deletionMetByGate(pod string) bool {
	p := l.Trace.LastPreemption(pod, l.end())
	if !l.endedWell(p) {
		return false
	}
	told := func(from, to int) bool {
		for i := from; i < to; i++ {
			e := &l.Trace.Entries[i]
			switch {
			case !slices.Contains(p.Victims, e.Pod()):
			case e.What == timeline.Handled && e.Text == "deleted":
				return true
			case e.PreemptsInMemory():
				if at := l.wayEnds(e.Pod(), i); at >= 0 && at < to {
					return true
				}
			}
		}
		return false
	}
	// What it is told during the cycle counts when the cycle is over.
	return told(l.Trace.Began(p.Decided), p.Ended) && told(p.Ended, l.end())
}

// wayEnds is an entry by which the end of a pod's way to a node, from an entry on, has counted as its deletion: that comes
// before the failure of the binding is recorded or, if the pod was rejected, once it is back in the queue
// (schedule_one.go:528@v1.37.1). It is -1 if there is none.
func (l *Life) wayEnds(pod string, from int) int {
	recorded := -1
	for i := from; i < l.end(); i++ {
		switch e := &l.Trace.Entries[i]; {
		case e.Pod() != pod:
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"):
			recorded = i
		case e.What == timeline.Requeued && e.Text == "error":
			return recorded
		case e.What == timeline.Requeued:
			return i
		}
	}
	return -1
}

// GatedByVainPreemption tells whether a pod is kept gated in the end, and the scheduler had
// been told that all victims of the last preemption for it are gone before that was over, or has
// itself ended their way to the node: no
// event comes after it that would wake the pod up.
func GatedByVainPreemption(t *timeline.Trace, pod string) bool {
	return t.Quiet.Pod(pod).Gated && preemptedInVain(t, together.TriedAs(t, pod), t.FlushedAt)
}

// preemptedInVain tells whether, before an entry, the scheduler was told that all victims of the last preemption for a
// pod, or a group, are gone before that was over, and its end has not woken it up.
func preemptedInVain(t *timeline.Trace, pod string, before int) bool {
	var victims []string
	gone, deleted := map[string]bool{}, map[string]bool{}
	inVain, cpu, began, lastEvicted, inMemory := false, false, false, false, false
	var preemptor types.UID
	for i := range t.Entries[:before] {
		switch e := &t.Entries[i]; {
		case e.What == timeline.Decided && e.Preemptor() == pod:
			victims, inVain, began, lastEvicted, inMemory = e.Victims, false, false, false, false
			if p, ok := e.Is.(metav1.Object); ok {
				preemptor = p.GetUID()
			}
		case e.What == timeline.Begins && e.Preemptor() == pod:
			began = len(victims) > 0
		case e.What == timeline.Unfit && (e.Pod() == pod || e.Group == pod && pod != ""):
			cpu = e.WaitsForCPU()
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By == pod && e.Error == "" && len(victims) > 0 && e.Pod() == victims[len(victims)-1] && !gone[e.Pod()]:
			lastEvicted = began && e.ByUID == preemptor // its end opens the gate, if it may help; an earlier pod's of this name does not
		case e.Creates():
			delete(gone, e.Pod())
			delete(deleted, e.Pod())
		case e.What == timeline.Fits:
			delete(gone, e.Pod())
		case e.What == timeline.Requeued && e.Queue == "" && deleted[e.Pod()]: // its way to a node is over
			gone[e.Pod()] = true
		case e.What == timeline.Handled && e.Text == "deleted" || e.PreemptsInMemory():
			gone[e.Pod()] = true
			deleted[e.Pod()] = !e.PreemptsInMemory()
			// The end of a preemption wakes its pod up if it has preempted the last victim in memory.
			inMemory = inMemory || began && e.PreemptsInMemory() && e.Pod() == victims[len(victims)-1]
		case e.What == timeline.Ends && e.Preemptor() == pod:
			inVain = len(victims) > 0 && !inMemory && (!cpu || !lastEvicted) && !slices.ContainsFunc(victims, func(v string) bool { return !gone[v] })
		}
	}
	return inVain
}
