package known

import (
	"slices"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// deletedLate are the pods of which the scheduler was told in the cycle of their group that they are gone, and that are on a node
// by the end of it, which no failure has ended before an entry: each with its node.
func (l *Life) deletedLate(before int) map[string]string {
	in, gone := map[types.UID]bool{}, map[types.UID]bool{} // who is in a cycle of a group, and gone
	on := map[types.UID]*timeline.Entry{}
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		is, was := pod(e.Is), pod(e.Was)
		switch {
		case e.What == timeline.TakenOver:
			clear(in)
			clear(gone)
			clear(on)
		case e.What == timeline.Handled && e.Text == "deleted" && was != nil:
			gone[was.UID] = in[was.UID]
		case is == nil:
		case e.What == timeline.Popped:
			in[is.UID] = e.Group != ""
		case e.What == timeline.Fits && e.Group != "":
			if delete(in, is.UID); gone[is.UID] {
				on[is.UID] = e
			}
		case e.What == timeline.Requeued:
			if e.Group != "" { // or an attempt before is over, whose binding has failed
				delete(in, is.UID)
			}
			delete(on, is.UID)
		}
	}
	late := map[string]string{}
	for _, e := range on {
		late[e.Pod()] = e.Node
	}
	return late
}

// lateTogether tells whether two pods of one group that goes whole were deleted so before an entry, and hold room: the group that they
// name has no pods on nodes, so each is a unit, and of these only the first that is come to (preemption/types.go:254@v1.37.1,
// getCrossNodesVictims).
func (l *Life) lateTogether(before int) bool {
	of := map[string]int{}
	for name := range l.deletedLate(before) {
		if group := TriedAs(l.Trace, name); group != "" && l.goesWhole(group) {
			of[group]++
		}
	}
	for _, n := range of {
		if n > 1 {
			return true
		}
	}
	return false
}

// goesWhole tells whether some version of a group has the mode All.
func (l *Life) goesWhole(group string) bool {
	whole := func(o runtime.Object) bool {
		g, ok := o.(*schedulingv1beta1.PodGroup)
		return ok && model.KeyOfGroup(g) == group && g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil
	}
	return slices.ContainsFunc(l.Timeline.Cluster.Extra, whole) || slices.ContainsFunc(l.Trace.Entries, func(e timeline.Entry) bool { return whole(e.Is) })
}
