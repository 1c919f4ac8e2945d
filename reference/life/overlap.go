package life

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// overlapped runs a timeline for the race detector alone: a goroutine of the scheduler and the handler of an event go on at once, and
// so do its cycle and a goroutine that preempts. Which of the two wins is left to chance, so that nothing is noted of what happens: a
// trace, which is written under a lock, would put each turn before the next one, too, so that nobody would race. It counts in both how
// often two went on at once.
func overlapped(ctx context.Context, t *timeline.Timeline, both *int) (*timeline.Trace, error) {
	return runChanged(ctx, t, func(s *scheduler) { s.r.overlaps = both })
}

// mayOverlap are the places from which a goroutine of the scheduler goes on, up to its next one, without the API server in
// memory, the stores of informers, or anything else that the driver changes.
var mayOverlap = []timeline.PlaceName{timeline.Pop, timeline.Filter, timeline.Requeue, timeline.Preempt, timeline.Preempted}

// letOverlap lets go on what is not held: calls and stores first, one at a time, then two at once of what may overlap. There
// has to be something.
func (r *run) letOverlap() {
	free := func(is func(*waiting) bool) int {
		return slices.IndexFunc(r.queue, func(w *waiting) bool { return is(w) && r.goesOn(w) })
	}
	handles := func(w *waiting) bool { return w.at.Name == timeline.Handle }
	overlaps := func(w *waiting) bool { return w.do == nil && slices.Contains(mayOverlap, w.at.Name) }
	if i := free(func(w *waiting) bool { return !handles(w) && !overlaps(w) }); i >= 0 {
		r.let(i)
		return
	}
	one, other := free(overlaps), free(handles)
	if one >= 0 && other < 0 {
		first := r.queue[one]
		other = free(func(w *waiting) bool { return overlaps(w) && w != first })
	}
	switch {
	case one < 0:
		r.let(other)
	case other < 0:
		r.let(one)
	default:
		r.letBoth(r.queue[one], r.queue[other])
	}
}

// movesBetweenSteps is how much goes on between two steps of a timeline that is run for the race detector: so little that events
// come while a pod is tried.
const movesBetweenSteps = 4

// headStarts are how often the driver lets others run before it goes on, too: who comes to a lock first decides what is seen to race.
var headStarts = []int{0, 3, 10, 30, 100, 300}

// letBoth makes a goroutine go on, and meanwhile another one, or what handles an event.
func (r *run) letBoth(one, other *waiting) {
	r.queue = slices.DeleteFunc(r.queue, func(w *waiting) bool { return w == one || w == other })
	*r.overlaps++
	r.bubble.Progress()
	close(one.on)
	for range headStarts[*r.overlaps%len(headStarts)] {
		runtime.Gosched()
	}
	if other.do != nil {
		other.do()
	} else {
		close(other.on)
	}
	time.Sleep(cycleTime)
}
