package known

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// deletedLate are the pods of which the scheduler was told in the cycle of their group that they are gone, and that are on a node
// by the end of it, which no failure has ended before an entry: for each the entry that says so.
func (l *Life) deletedLate(before int) map[types.UID]*timeline.Entry {
	in, gone := map[types.UID]bool{}, map[types.UID]bool{} // who is in a cycle of a group, and gone
	on := map[types.UID]*timeline.Entry{}
	failing := map[types.UID]int{} // how many attempts before have a binding that has failed, and have not ended yet
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
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

// roomOfDeletedLate tells whether a pod holds room on a node, when all is at rest, that was deleted late.
func (l *Life) roomOfDeletedLate(node string) bool {
	for _, e := range l.deletedLate(l.end()) {
		if e.Node == node {
			return true
		}
	}
	return false
}

// peersDeletedLate tells whether a pod can be helped now only as pods no longer count as being on their nodes that were deleted late: it
// has to be near them, or away from them, or is spread among them. It is helped if it fits or, if preempts, if it can preempt.
func (l *Life) peersDeletedLate(name string, preempts bool) bool {
	late := l.deletedLate(l.end())
	return len(late) > 0 && l.helpless(name, preempts, func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for _, uid := range slices.Sorted(maps.Keys(late)) {
			p := pod(late[uid].Is).DeepCopy()
			p.Spec.NodeName, p.Spec.SchedulingGroup = late[uid].Node, nil
			p.Name += "-gone" // another one may have its name
			p.UID += "-gone"
			c.Pods = append(c.Pods, p)
		}
	})
}

// nodesOf are the nodes that an entry says a pod goes to, or has room made on: of a group that preempts, those that its members are
// placed on.
func (l *Life) nodesOf(entry int) []string {
	e := &l.Trace.Entries[entry]
	if e.What == timeline.Fits || !e.OfGroup() {
		return []string{e.Node}
	}
	began := l.Trace.Began(entry)
	for _, c := range l.Trace.Courses {
		if c.Entry == began {
			return c.PlacedTo
		}
	}
	return nil
}

// partnersLackedRoom tells whether a pod that fits with its group has waited as others of the group did: without those that go, in the
// same cycle, where a pod held room that was deleted late, the group has fewer pods than it needs.
func (l *Life) partnersLackedRoom(fits int) bool {
	group := together.GroupOf(pod(l.Trace.Entries[fits].Is))
	if group == "" {
		return false
	}
	without, needs := together.There(l.Trace, group, fits)
	for i := fits; i < len(l.Trace.Entries) && l.Trace.Entries[i].What != timeline.Popped; i++ {
		switch e := &l.Trace.Entries[i]; {
		case together.GroupOf(pod(e.Is)) != group:
		case e.What == timeline.Unfit, e.What == timeline.Fits && l.roomOfDeletedLate(e.Node):
			without--
		}
	}
	return without < needs
}

// onlyDeletedLate tells whether all pods of a name of which something is so when all is at rest are some that were deleted late.
func (l *Life) onlyDeletedLate(pod string, is func(p timeline.PodState) bool) bool {
	late := 0
	for _, e := range l.deletedLate(l.end()) {
		if e.Pod() == pod {
			late++
		}
	}
	for _, p := range l.Trace.Quiet.Pods {
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
