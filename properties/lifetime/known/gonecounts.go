package known

import (
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// goneCount tells whether a group has as many pods as it needs only with those that were deleted while they waited for permission, since
// the scheduler has started. Such a pod is rejected there and forgotten as if it still existed (eventhandlers.go:289@v1.37.1,
// handleAssumedPodDeletion); one that has its permission is removed.
func (l *Life) goneCount(group string, before int) bool {
	waits, gone := map[string]bool{}, map[string]bool{} // by pod
	counted := 0
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		switch {
		case e.What == timeline.TakenOver:
			clear(waits)
			clear(gone)
			counted = 0
		case e.What == timeline.Fits && e.Group != "" && together.GroupOf(pod(e.Is)) == group:
			waits[e.Pod()] = true
		case !waits[e.Pod()]:
		case e.What == timeline.Called && e.Call == timeline.Bind:
			delete(waits, e.Pod())
			delete(gone, e.Pod())
		case e.What == timeline.Handled && e.Text == "deleted":
			gone[e.Pod()] = true
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"):
			if gone[e.Pod()] && strings.HasSuffix(e.Text, " removed.") {
				counted++
			}
			delete(waits, e.Pod())
			delete(gone, e.Pod())
		}
	}
	there, needs := together.There(l.Trace, group, before)
	return counted > 0 && there+counted >= needs
}
