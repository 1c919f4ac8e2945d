package together

import (
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// byNodes is in the message of a pod that nodes have rejected.
const byNodes = " nodes are available: "

// RejectionsForgotten tells whether a composite group preempted in its last cycle before an entry, a pod of it was rejected there by
// the nodes, and of no pod that came back with the group was that recorded (schedule_one_podgroup.go:757@v1.37.1). One such
// record would do, as the group comes back for the plugins of any of its pods.
func RejectionsForgotten(trace *timeline.Trace, group string, before int) bool {
	if !strings.HasPrefix(group, "compositepodgroup/") {
		return false
	}
	preempts, rejected, recorded := false, false, false
	for i := range trace.Entries[:before] {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Preemptor() == group:
			preempts, rejected, recorded = false, false, false
		case e.What == timeline.Decided && e.Preemptor() == group:
			preempts = len(e.Victims) > 0
		case e.What == timeline.Tried && e.Group == group && !e.Second:
			rejected = rejected || e.Node == "" && strings.Contains(e.Text, byNodes)
		case e.What == timeline.Unfit && e.Group == group:
			recorded = recorded || strings.Contains(e.Text, byNodes)
		}
	}
	return preempts && rejected && !recorded
}
