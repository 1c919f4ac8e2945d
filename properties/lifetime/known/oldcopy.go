package known

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// isLastAttempt tells whether the pod that was popped at an entry was not popped again before the
// flush.
func (l *Life) isLastAttempt(at int) bool {
	return at < l.Trace.FlushedAt && !slices.ContainsFunc(l.Trace.Entries[at+1:l.Trace.FlushedAt], func(e timeline.Entry) bool {
		return e.What == timeline.Popped && e.Object == l.Trace.Entries[at].Object
	})
}

// leftToChance are the known findings by which it was left to chance what a group's last attempt before the flush came to: another
// one may help, though nothing has changed.
func (l *Life) leftToChance(group string) (ids []string) {
	for i := len(l.Cycles) - 1; i >= 0; i-- {
		g := &l.Cycles[i]
		if g.Property == "group-goes-as-told" && slices.Contains(g.Known, string(release.LeastOfTwoDomains)) && together.TriedAs(l.Trace, g.Pod) == group && l.isLastOf(group, g.Entry) {
			return []string{string(release.LeastOfTwoDomains)}
		}
	}
	return nil
}

// isLastOf tells whether a group was not tried again between an entry and the flush, by no scheduler.
func (l *Life) isLastOf(group string, at int) bool {
	return at < l.Trace.FlushedAt && !slices.ContainsFunc(l.Trace.Entries[at+1:l.Trace.FlushedAt], func(e timeline.Entry) bool {
		return e.What == timeline.TakenOver || e.What == timeline.Popped && e.Preemptor() == group
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
