package together

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// GoneCount tells whether a group has as many pods as it needs only with those that were deleted while they waited for permission, since
// the scheduler has started. Such a pod is rejected there and forgotten as if it still existed (eventhandlers.go:289@v1.37.1,
// handleAssumedPodDeletion); one that has its permission is removed.
func GoneCount(trace *timeline.Trace, group string, before int) bool {
	forgotten, _ := deletedWaiting(trace, group, before)
	there, needs := There(trace, group, before)
	return forgotten > 0 && there+forgotten >= needs
}

// GoneAreBound tells whether the pods of a group that are to be bound at an entry are enough only with those that were deleted while they waited
// for permission, and whose binding cycle was not over when the cycle of the group began: until it is, they count as on their way.
func GoneAreBound(trace *timeline.Trace, group string, entry int) bool {
	began := entry - 1
	for began >= 0 && (trace.Entries[began].What != timeline.Popped || trace.Entries[began].Preemptor() != group) {
		began--
	}
	if began < 0 {
		return false
	}
	_, leaving := deletedWaiting(trace, group, began)
	return slices.ContainsFunc(boundTooFew(trace), func(b lacking) bool {
		return b.Pod == group && b.Entry == entry && b.lacks <= leaving
	})
}

// deletedWaiting is how many pods of a group were deleted while they waited for permission, since the scheduler has started and before an entry:
// those that are forgotten since, and those whose binding cycle has yet to end.
func deletedWaiting(trace *timeline.Trace, group string, before int) (forgotten, leaving int) {
	waits, gone := map[string]bool{}, map[string]bool{} // by pod
	for i := range trace.Entries[:before] {
		e := &trace.Entries[i]
		switch {
		case e.What == timeline.TakenOver:
			clear(waits)
			clear(gone)
			forgotten = 0
		case e.What == timeline.Fits && e.Group != "":
			if p, is := e.Is.(*v1.Pod); is && GroupOf(p) == group {
				waits[e.Pod()] = true
			}
		case !waits[e.Pod()]:
		case e.What == timeline.Called && e.Call == timeline.Bind:
			delete(waits, e.Pod())
			delete(gone, e.Pod())
		case e.What == timeline.Handled && e.Text == "deleted":
			gone[e.Pod()] = true
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"):
			if gone[e.Pod()] && wasRemoved(e) {
				forgotten++
			}
			delete(waits, e.Pod())
			delete(gone, e.Pod())
		}
	}
	for name := range gone {
		later := trace.Entries[before:]
		ends := slices.IndexFunc(later, func(e timeline.Entry) bool {
			return e.What == timeline.TakenOver || e.What == timeline.Told && e.Pod() == name && strings.HasPrefix(e.Text, "FailedScheduling:")
		})
		if ends >= 0 && wasRemoved(&later[ends]) {
			leaving++
		}
	}
	return forgotten, leaving
}

// wasRemoved tells whether an entry says that a pod was rejected as it was deleted while it waited for permission.
func wasRemoved(e *timeline.Entry) bool { return strings.HasSuffix(e.Text, " removed.") }
