package story

import (
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// causesFirst are the numbers of all entries in the order in which they are told: a call before what it did. A trace
// has a call when its answer is there, and so after its effect.
func (t teller) causesFirst() []int {
	order := make([]int, 0, len(t.Trace.Entries))
	for i := range t.Trace.Entries {
		order = append(order, i)
		if e := &t.Trace.Entries[i]; e.What != timeline.Called || !e.TookEffect() {
			continue
		}
		at := i
		for at > 0 && t.didBy(order[at-1], i) {
			at--
		}
		order = slices.Insert(order[:i], at, i)
	}
	return order
}

// didBy tells whether entry i is what the call of entry call has done.
func (t teller) didBy(i, call int) bool {
	e, c := &t.Trace.Entries[i], &t.Trace.Entries[call]
	switch e.What {
	case timeline.Removed, timeline.Deleting, timeline.Updated:
		return e.Object == c.Object && e.At == c.At && e.Step == c.Step && e.By == ""
	}
	return false
}

// again says what the scheduler was told of between the last cycle of the pod that is popped at entry i and this one;
// "" if it is the first one. It does not say that this is why the pod is tried.
func (t teller) again(i int) string {
	var told []string
	flushed := false
	for j := i - 1; j >= 0; j-- {
		switch e := &t.Trace.Entries[j]; {
		case e.What == timeline.TakenOver:
			return ""
		case e.What == timeline.Rested:
			flushed = len(told) == 0
		case e.What == timeline.Handled && e.Object != t.Trace.Entries[i].Object:
			told = append(told, strings.TrimPrefix(e.Object, "Pod ")+" was "+e.Text)
		case e.Object != t.Trace.Entries[i].Object:
		case e.What == timeline.Requeued, e.What == timeline.Popped:
			slices.Reverse(told)
			switch {
			case flushed && t.Trace.Entries[i].At-e.At >= flushAfter:
				return " again, as it has waited for five minutes"
			case len(told) == 0:
				return " again"
			}
			return " again. Since its last cycle it was told that " + words.Some(slices.Compact(told), 3)
		}
	}
	return ""
}

// flushAfter is how long a pod has to have waited for the flush to take it (scheduling_queue.go, DefaultPodMaxInUnschedulablePodsDuration).
const flushAfter = 5 * time.Minute
