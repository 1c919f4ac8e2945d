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
	l.eachAttempt(pod, before, func() { twice = false }, func(_ *timeline.Entry, attempts int) { twice = twice || attempts > 1 })
	return twice
}

// preemptsBesides tells whether the last preemption of a pod before an entry was decided while an earlier attempt went on, whose end puts
// the pod into the queue. Nothing keeps it out if the preemption has not begun by then.
func (l *Life) preemptsBesides(pod string, before int) (besides bool) {
	l.eachAttempt(pod, before, func() { besides = false }, func(e *timeline.Entry, attempts int) {
		if e.What == timeline.Decided && len(e.Victims) > 0 {
			besides = attempts > 1
		}
	})
	return besides
}

// eachAttempt goes through what happens to a pod before an entry: anew is called where it begins anew, and see with each entry about the
// pod and in how many attempts it is then.
func (l *Life) eachAttempt(pod string, before int, anew func(), see func(e *timeline.Entry, attempts int)) {
	attempts := 0
	for i := range l.Trace.Entries[:before] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver, e.Pod() == pod && e.Creates():
			attempts = 0
			anew()
		case e.Pod() != pod:
		case e.What == timeline.Popped:
			attempts++
			see(e, attempts)
		case e.What == timeline.Requeued:
			attempts = max(0, attempts-1)
		default:
			see(e, attempts)
		}
	}
}
