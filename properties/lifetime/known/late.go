package known

import (
	"k8s.io/apimachinery/pkg/types"

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
