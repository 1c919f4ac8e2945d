package known

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// goneCount tells whether a group has as many pods as it needs only with those that were deleted while they waited for permission, since
// the scheduler has started. Such a pod is rejected there and forgotten as if it still existed (eventhandlers.go:289@v1.37.1,
// handleAssumedPodDeletion); one that has its permission is removed.
func (l *Life) goneCount(group string, before int) bool {
	forgotten, _ := l.deletedWaiting(group, before)
	there, needs := together.There(l.Trace, group, before)
	return forgotten > 0 && there+forgotten >= needs
}

// goneAreBound tells whether the pods of a group that are to be bound at an entry are enough only with those that were deleted while they waited
// for permission, and whose binding cycle was not over when the cycle of the group began: until it is, they count as on their way.
func (l *Life) goneAreBound(group string, entry int) bool {
	began := entry - 1
	for began >= 0 && (l.Trace.Entries[began].What != timeline.Popped || l.Trace.Entries[began].Preemptor() != group) {
		began--
	}
	if began < 0 {
		return false
	}
	_, leaving := l.deletedWaiting(group, began)
	return slices.ContainsFunc(together.BoundTooFew(l.Trace), func(b together.Lacking) bool {
		return b.Pod == group && b.Entry == entry && b.Lacks <= leaving
	})
}

// deletedWaiting is how many pods of a group were deleted while they waited for permission, since the scheduler has started and before an entry:
// those that are forgotten since, and those whose binding cycle has yet to end.
func (l *Life) deletedWaiting(group string, before int) (forgotten, leaving int) {
	waits, gone := map[string]bool{}, map[string]bool{} // by pod
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		switch {
		case e.What == timeline.TakenOver:
			clear(waits)
			clear(gone)
			forgotten = 0
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
				forgotten++
			}
			delete(waits, e.Pod())
			delete(gone, e.Pod())
		}
	}
	return forgotten, len(gone)
}
