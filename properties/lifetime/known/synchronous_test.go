package known_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestVictimInPermitIsBound: a synchronous preemption deletes nothing if its victim was on its way, and was bound by what the scheduler
// had been told.
func TestVictimInPermitIsBound(t *testing.T) {
	decided := func(tr *timeline.Trace) int {
		for i := range tr.Entries {
			if tr.Entries[i].What == timeline.Decided && len(tr.Entries[i].Victims) > 0 {
				return i
			}
		}
		return -1
	}
	// put has an entry come before the decision, or after.
	put := func(after int, e timeline.Entry) func(*timeline.Trace) {
		return func(tr *timeline.Trace) {
			at := decided(tr) + after
			tr.Entries = append(tr.Entries[:at:at], append([]timeline.Entry{e}, tr.Entries[at:]...)...)
			tr.FlushedAt++
		}
	}
	checkWhole(t, "victim-in-permit-is-bound-already", "no-wait-for-the-flush", known.SynchronousFailure, []nearMiss{
		{name: "the scheduler has not been told that it is bound", trace: wereOtherwise("v", func(p *v1.Pod) { p.Spec.NodeName = "" })},
		{name: "another pod is the victim", trace: func(tr *timeline.Trace) { tr.Entries[decided(tr)].Victims = []string{"default/w"} }},
		{name: "it is not on its way any more", trace: put(0, timeline.Entry{What: timeline.Requeued, Object: "Pod default/v"})},
		{name: "its binding has been tried", trace: put(0, timeline.Entry{What: timeline.Called, Object: "Pod default/v", Call: timeline.Bind})},
		{name: "the victim is deleted", trace: put(1, timeline.Entry{What: timeline.Called, Object: "Pod default/v", Call: timeline.Evict, By: "default/p"})},
		{name: "the victim is gone", trace: put(1, timeline.Entry{What: timeline.Handled, Object: "Pod default/v", Text: "deleted"})},
		{name: "the pod is tried since", trace: put(1, timeline.Entry{What: timeline.Popped, Object: "Pod default/p"})},
		{name: "another scheduler has taken over", trace: put(1, timeline.Entry{What: timeline.TakenOver})},
	})
}
