package together

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// QueuedTwice tells whether a member of a group is in one queue, twice, at rest, as membership tells.
func QueuedTwice(trace *timeline.Trace, pod string) bool {
	if !slices.ContainsFunc(trace.Quiet.Pods, func(p timeline.PodState) bool {
		return p.Name == pod && len(p.Queues) > 0 && len(slices.Compact(slices.Clone(p.Queues))) == 1
	}) {
		return false
	}
	twice, gone := membership(trace, pod, trace.FlushedAt)
	return twice && !gone
}

// OutlivesItself tells whether a member of a group is gone before an entry and in the queue still: it was in its group twice, and its
// deletion takes it out once (framework/types.go:830@v1.37.1, RemovePod).
func OutlivesItself(trace *timeline.Trace, pod string, before int) bool {
	twice, gone := membership(trace, pod, before)
	return twice && gone
}

// membership tells whether a member of a group was put into its group twice since it was last tried, and whether it was deleted after that.
// It is put there by a change between the time at which the scheduler forgets that it is on its way and the one at which it
// comes back as its binding has failed, and once more by that. It is forgotten as its binding fails, or before as it is told to end
// (eventhandlers.go:265@v1.37.1, handleAssumedPodDeletion).
func membership(trace *timeline.Trace, pod string, before int) (twice, gone bool) {
	var onItsWay, ends, failed, changed bool
	for i := range trace.Entries[:before] {
		e := &trace.Entries[i]
		switch {
		case e.What == timeline.TakenOver:
			onItsWay, twice, gone = false, false, false
		case e.Pod() != pod:
		case e.What == timeline.Popped, e.Creates():
			onItsWay, twice, gone = false, false, false
		case e.What == timeline.Fits:
			onItsWay, ends, failed, changed = e.Group != "", false, false, false
		case e.What == timeline.Called && e.Call == timeline.Bind:
			failed = e.Error != ""
		case e.What == timeline.Handled && strings.HasPrefix(e.Text, "updated"):
			changed = changed || failed || ends
			ends = ends || strings.HasSuffix(e.Text, "terminating")
		case e.What == timeline.Handled && e.Text == "deleted":
			onItsWay, gone = false, twice
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"):
			twice = twice || onItsWay && failed && changed
			onItsWay = false
		}
	}
	return twice, gone
}
