package known

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// deletedLate are the pods of which the scheduler was told in the cycle of their group that they are gone, and that are on a node
// by the end of it, which no failure has ended before an entry: each with its node.
func (l *Life) deletedLate(before int) map[string]string {
	in, gone := map[string]types.UID{}, map[string]types.UID{} // who is in a cycle of a group, and gone
	on := map[string]string{}
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		name, is := e.Pod(), pod(e.Is)
		switch {
		case e.What == timeline.TakenOver:
			clear(in)
			clear(gone)
			clear(on)
		case name == "":
		case e.What == timeline.Popped:
			delete(in, name)
			if e.Group != "" && is != nil {
				in[name] = is.UID
			}
		case e.What == timeline.Handled && e.Text == "deleted":
			if was := pod(e.Was); was != nil && in[name] == was.UID {
				gone[name] = was.UID
			}
		case e.What == timeline.Fits && e.Group != "" && is != nil && gone[name] == is.UID:
			on[name] = e.Node
		case e.What == timeline.Requeued:
			delete(in, name)
			delete(on, name)
		}
	}
	return on
}
