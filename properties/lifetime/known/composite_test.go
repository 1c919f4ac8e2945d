package known_test

import (
	"slices"
	"testing"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestRejectionsForgottenNearMisses: a group waits as rejections were forgotten only if it is a composite one that has
// preempted, its nodes have rejected a pod, and nothing of that was recorded, in its last cycle.
func TestRejectionsForgottenNearMisses(t *testing.T) {
	const root = "CompositePodGroup default/root"
	first := func(t *timeline.Trace, what timeline.What) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == what && (e.Object == root || e.Object == "Pod default/g2")
		})
	}
	checkWhole(t, "finding-composite-group-forgets-rejections", "no-wait-for-the-flush", known.RejectionsForgotten, []nearMiss{
		{name: "the nodes have not rejected it", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Tried)].Text = "" }},
		{name: "it was placed", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Tried)].Node = "node-1" }},
		{name: "it is recorded", trace: func(t *timeline.Trace) {
			t.Entries[first(t, timeline.Unfit)].Text = "0/1 nodes are available: 1 Insufficient cpu."
		}},
		{name: "nobody is preempted", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Decided)].Victims = nil }},
		{name: "the group is tried since", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, first(t, timeline.Unfit)+1, timeline.Entry{What: timeline.Popped, Object: root})
			t.FlushedAt++
		}},
	})
}
