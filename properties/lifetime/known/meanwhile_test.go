package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestMetMeanwhileNearMisses: that the gate outlives the preemption explains that an event was forgotten which came meanwhile only
// if a victim of its own is left, whose end comes to the pod.
func TestMetMeanwhileNearMisses(t *testing.T) {
	gone := func(t *timeline.Trace) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Object == "Pod default/o" && e.Text == "deleted"
		})
	}
	checkWhole(t, "other-pod-met-by-gate", "event-makes-tryable", known.GateOutlives, []nearMiss{
		{name: "all its victims are gone", trace: func(t *timeline.Trace) { move(t, gone(t), where(t, timeline.Ends, "Pod default/p")) }},
		{name: "another pod was evicted in the place of its victim", trace: func(t *timeline.Trace) {
			evicts := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Called && e.Call == timeline.Evict })
			t.Entries = slices.Insert(t.Entries, evicts, timeline.Entry{What: timeline.Created, Object: "Pod default/o"})
			t.FlushedAt++
		}},
	})
}

// TestMetMeanwhile: the event has to have come since the cycle of the pod began, and before its preemption was over.
func TestMetMeanwhile(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/other-pod-met-by-gate.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
	popped, ends := where(trace, timeline.Popped, "Pod default/p"), where(trace, timeline.Ends, "Pod default/p")
	for event, explained := range map[int]bool{popped - 1: false, popped + 1: true, ends - 1: true, ends + 1: false} {
		ids := l.Explain(&known.Broken{Property: "event-makes-tryable", Kind: known.StillGated, Pod: "default/p", Node: "node-1", Entry: ends + 1, Since: event})
		require.Equal(t, explained, slices.Contains(ids, known.GateOutlives), "entry %d: %v", event, ids)
	}
}
