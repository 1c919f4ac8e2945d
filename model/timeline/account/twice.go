package account

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// twice are the members, by name, that are in the queue as well while their group is in its cycle, for a scheduler with the finding
// failed-binding-cuts-group-cycle: when they had been put back in the cycle before, the queue forgot that cycle, and an update
// put them into the queue once more.
func (g *GroupCycle) twice(trace *timeline.Trace) (names []string) {
	for _, m := range g.Members {
		if g.forgotten(trace, m) {
			names = append(names, model.Key(m))
		}
	}
	return names
}

// forgotten tells whether a member, that had been put back in the group's cycle before this one, was updated after a pod without a
// group had come back as its binding had failed, which is told just after that.
func (g *GroupCycle) forgotten(trace *timeline.Trace, m *v1.Pod) (is bool) {
	unfit, failed := false, false
	alone := map[string]bool{} // the pods without a group that are on their way to a node
	for i := range trace.Entries[:g.Began] {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			unfit, failed, is = false, false, false
		case e.What == timeline.Popped && e.Pod() == model.Key(m):
			unfit, failed, is = false, false, false
		case e.What == timeline.Popped:
			delete(alone, e.Pod())
		case e.What == timeline.Fits && e.Group == "":
			alone[e.Pod()] = true
		case e.What == timeline.Unfit && e.Pod() == model.Key(m):
			unfit = e.Group == g.Group
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling") && alone[e.Pod()]:
			failed = true
		case e.What == timeline.Handled && e.Pod() == model.Key(m) && unfit && failed:
			is = true
		}
	}
	return is
}
