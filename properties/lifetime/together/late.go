package together

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// DeletedLate are the pods of which the scheduler was told in the cycle of their group that they are gone, and that are on a node
// by the end of it, which no failure has ended before an entry: for each the entry that says so.
func DeletedLate(trace *timeline.Trace, before int) map[types.UID]*timeline.Entry {
	in, gone := map[types.UID]bool{}, map[types.UID]bool{} // who is in a cycle of a group, and gone
	on := map[types.UID]*timeline.Entry{}
	failing := map[types.UID]int{} // how many attempts before have a binding that has failed, and have not ended yet
	for i := range trace.Entries[:before] {
		e := &trace.Entries[i]
		is, was := pod(e.Is), pod(e.Was)
		switch {
		case e.What == timeline.TakenOver:
			clear(in)
			clear(gone)
			clear(on)
			clear(failing)
		case e.What == timeline.Called && e.Call == timeline.Bind && e.Error != "" && on[e.UID] == nil:
			failing[e.UID]++
		case e.What == timeline.Handled && e.Text == "deleted" && was != nil:
			gone[was.UID] = in[was.UID]
		case is == nil:
		case e.What == timeline.Popped:
			in[is.UID] = e.Group != ""
		case e.What == timeline.Fits && e.Group != "":
			if delete(in, is.UID); gone[is.UID] {
				on[is.UID] = e
			}
		case e.What == timeline.Requeued && failing[is.UID] > 0:
			failing[is.UID]--
		case e.What == timeline.Requeued:
			if e.Group != "" { // or an attempt before is over, whose binding has failed
				delete(in, is.UID)
			}
			delete(on, is.UID)
		}
	}
	return on
}

// RoomOfDeletedLate tells whether a pod holds room on a node, when all is at rest, that was deleted late.
func RoomOfDeletedLate(trace *timeline.Trace, node string) bool {
	for _, e := range DeletedLate(trace, trace.FlushedAt) {
		if e.Node == node {
			return true
		}
	}
	return false
}

// PartnersLackedRoom tells whether a pod that fits with its group has waited as others of the group did: without those that go, in the
// same cycle, where a pod held room that was deleted late, the group has fewer pods than it needs.
func PartnersLackedRoom(trace *timeline.Trace, fits int) bool {
	group := GroupOf(pod(trace.Entries[fits].Is))
	if group == "" {
		return false
	}
	without, needs := There(trace, group, fits)
	for i := fits; i < len(trace.Entries) && trace.Entries[i].What != timeline.Popped; i++ {
		switch e := &trace.Entries[i]; {
		case GroupOf(pod(e.Is)) != group:
		case e.What == timeline.Unfit, e.What == timeline.Fits && RoomOfDeletedLate(trace, e.Node):
			without--
		}
	}
	return without < needs
}

// OnlyDeletedLate tells whether all pods of a name of which something is so when all is at rest are some that were deleted late.
func OnlyDeletedLate(trace *timeline.Trace, pod string, is func(p timeline.PodState) bool) bool {
	late := 0
	for _, e := range DeletedLate(trace, trace.FlushedAt) {
		if e.Pod() == pod {
			late++
		}
	}
	for _, p := range trace.Quiet.Pods {
		switch {
		case p.Name != pod || !is(p):
		case p.Exists || late == 0:
			return false
		default:
			late--
		}
	}
	return true
}
