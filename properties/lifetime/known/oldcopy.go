package known

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// isLastAttempt tells whether the pod that was popped at an entry was not popped again before the
// flush.
func (l *Life) isLastAttempt(at int) bool {
	return at < l.Trace.FlushedAt && !slices.ContainsFunc(l.Trace.Entries[at+1:l.Trace.FlushedAt], func(e timeline.Entry) bool {
		return e.What == timeline.Popped && e.Object == l.Trace.Entries[at].Object
	})
}

// isLastOf tells whether a pod or a group was not tried again between an entry and the flush.
func (l *Life) isLastOf(preemptor string, at int) bool {
	return at < l.Trace.FlushedAt && !slices.ContainsFunc(l.Trace.Entries[at+1:l.Trace.FlushedAt], func(e timeline.Entry) bool {
		return e.What == timeline.Popped && e.Preemptor() == preemptor
	})
}

// ofOldCopy tells whether what is broken is that an old version of a pod is tried, which was in two
// attempts at once.
func (l *Life) ofOldCopy(f *Broken) bool {
	return f.Property == "tried-as-told" && l.twiceAtOnce(f.Pod, f.Entry)
}

// twiceAtOnce tells whether a pod was in two attempts at once before an entry.
func (l *Life) twiceAtOnce(pod string, before int) (twice bool) {
	attempts := 0
	for i := range l.Trace.Entries[:before] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			attempts, twice = 0, false
		case e.Pod() != pod:
		case e.Creates():
			attempts, twice = 0, false
		case e.What == timeline.Popped:
			attempts++
			twice = twice || attempts > 1
		case e.What == timeline.Requeued:
			attempts = max(0, attempts-1)
		}
	}
	return twice
}
