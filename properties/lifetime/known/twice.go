package known

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// queuedTwice tells whether a member of a group is in one queue, twice, at rest, as membership tells.
func (l *Life) queuedTwice(pod string) bool {
	if !slices.ContainsFunc(l.Trace.Quiet.Pods, func(p timeline.PodState) bool {
		return p.Name == pod && len(p.Queues) > 0 && len(slices.Compact(slices.Clone(p.Queues))) == 1
	}) {
		return false
	}
	twice, gone := l.membership(pod, l.end())
	return twice && !gone
}

// outlivesItself tells whether a member of a group is gone before an entry and in the queue still: it was in its group twice, and its
// deletion takes it out once (framework/types.go:830@v1.37.1, RemovePod).
func (l *Life) outlivesItself(pod string, before int) bool {
	twice, gone := l.membership(pod, before)
	return twice && gone
}

// membership tells whether a member of a group was put into its group twice since it was last tried, and whether it was deleted after that.
// It is put there by a change between the time at which the scheduler forgets that it is on its way and the one at which it
// comes back as its binding has failed, and once more by that. It is forgotten as its binding fails, or before as it is told to end
// (eventhandlers.go:265@v1.37.1, handleAssumedPodDeletion).
func (l *Life) membership(pod string, before int) (twice, gone bool) {
	var onItsWay, ends, failed, changed bool
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
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
