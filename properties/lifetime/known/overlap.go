package known

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// evictions are the goroutine of a preemption that was decided on.
type evictions struct {
	// victims that did not terminate by then, in the order in which they are evicted.
	victims []string
	// anyLast: it is not known which victim is evicted last, as that is not seen of a group, or one may terminate already.
	anyLast bool
	// began is the entry at which the cycle began that decided so, started the one at which the goroutine did.
	began, started int
	// done is the entry by which nothing is left to be called about a victim.
	done map[string]int
}

// opensGate tells whether by an entry PreEnqueue takes them for over, though the goroutine is on: only the last victim is left to be
// evicted, and listers show that it is gone or terminates (executor.go:399@v1.37.1, isRunningPreemption). ended is since which entry
// they show that of a pod.
func (ev *evictions) opensGate(ended map[string]int, by int) bool {
	lasts := ev.victims
	if !ev.anyLast && len(lasts) > 0 {
		lasts = lasts[len(lasts)-1:]
	}
	before := func(entries map[string]int, pod string) bool {
		at, ok := entries[pod]
		return ok && at <= by
	}
	return ev.started <= by && slices.ContainsFunc(lasts, func(last string) bool {
		return before(ended, last) && !slices.ContainsFunc(ev.victims, func(v string) bool { return v != last && !before(ev.done, v) })
	})
}

// preemptionsOverlap tells whether, of the goroutines of preemptions of a pod or a group that have not ended by an entry, one began
// while another was on that counted as over already. Which victim PreEnqueue looks for is kept for the preemptor, and so for all of
// them (executor.go:83@v1.37.1, lastVictimsPendingPreemption).
func (l *Life) preemptionsOverlap(preemptor string, before int) (overlap bool) {
	decided, on := map[int]*evictions{}, map[int]*evictions{} // by cycle
	ended := map[string]int{}
	done := func(victim string, i int) {
		for _, ev := range on {
			ev.done[victim] = i
		}
	}
	for i := range l.Trace.Entries[:before] {
		e := &l.Trace.Entries[i]
		switch pod := e.Pod(); {
		case e.What == timeline.TakenOver:
			clear(on)
			overlap = false
		case e.What == timeline.Stored && pod != "" && e.Text == "added":
			delete(ended, pod)
		case e.What == timeline.Stored && pod != "" && (e.Text == "deleted" || strings.HasSuffix(e.Text, "terminating")):
			if _, ok := ended[pod]; !ok {
				ended[pod] = i
			}
		case e.What == timeline.Called && e.By == preemptor && (e.Call == timeline.Evict && e.Error == "" || strings.Contains(e.Error, "not found")), e.PreemptsInMemory():
			done(pod, i)
		case e.Preemptor() != preemptor:
		case e.What == timeline.Decided:
			victims, surely := l.Trace.ToDelete(i)
			decided[e.Cycle] = &evictions{victims: victims, anyLast: e.OfGroup() || !surely, began: l.Trace.Began(i), done: map[string]int{}}
		case e.What == timeline.Begins && decided[e.Cycle] != nil:
			for _, earlier := range on {
				overlap = overlap || earlier.opensGate(ended, decided[e.Cycle].began)
			}
			on[e.Cycle] = decided[e.Cycle]
			on[e.Cycle].started = i
		case e.What == timeline.Ends:
			delete(on, e.Cycle)
			overlap = overlap && len(on) > 0
		}
	}
	return overlap
}
