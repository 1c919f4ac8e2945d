package account

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// twice are the members, by name, that are in the queue as well while their group is in its cycle, for a scheduler with the finding
// failed-binding-cuts-group-cycle: when they had been put back in the cycle before, the queue forgot that cycle, and an update
// put them into the queue once more.
func (g *GroupCycle) twice(trace *timeline.Trace) (names []string) {
	for _, m := range g.Members {
		if at := g.forgotten(trace, m); at > 0 && leftInQueue(trace.Entries[g.Ended+1:], model.Key(m)) {
			names = append(names, model.Key(m))
		}
	}
	return names
}

// forgotten is the entry by which a member, that had been put back in the group's cycle before this one, was updated after a pod without a
// group had come back as its binding had failed; 0 if there is none.
func (g *GroupCycle) forgotten(trace *timeline.Trace, m *v1.Pod) (at int) {
	unfit, failed := false, false
	alone := map[string]bool{} // the pods that were popped last without a group
	for i := range trace.Entries[:g.Began] {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			unfit, failed, at = false, false, 0
		case e.What == timeline.Popped && e.Pod() == model.Key(m):
			unfit, failed, at = false, false, 0
		case e.What == timeline.Popped:
			alone[e.Pod()] = e.Group == ""
		case e.What == timeline.Unfit && e.Pod() == model.Key(m):
			unfit = e.Group == g.Group
		case e.What == timeline.Requeued && e.Text == "error" && alone[e.Pod()]:
			failed = true
		case e.What == timeline.Handled && e.Pod() == model.Key(m) && unfit && failed && at == 0:
			at = i
		}
	}
	return at
}

// leftInQueue tells whether a pod is popped again without being put back before.
func leftInQueue(entries []timeline.Entry, pod string) bool {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.What == timeline.TakenOver:
			return false
		case e.Pod() != pod:
		case e.Creates() || e.What == timeline.Requeued:
			return false
		case e.What == timeline.Popped:
			return true
		}
	}
	return false
}
