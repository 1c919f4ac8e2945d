package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestCameBeforeCutShortNearMisses: a pod is tried though it is gone as it came in a cycle that was cut short only if it was not tried
// since, by the scheduler to which it came, and a pod without a group was put back after it came.
func TestCameBeforeCutShortNearMisses(t *testing.T) {
	const pod = "Pod default/m2"
	after := func(e timeline.Entry) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, where(t, timeline.Called, "Pod default/m1"), e)
			t.FlushedAt++
		}
	}
	checkWhole(t, "tried-though-gone-as-its-group-was-cut", "the-gone-are-not-tried", known.CycleCutShort, []nearMiss{
		{name: "tried since it came", trace: after(timeline.Entry{What: timeline.Popped, Object: pod})},
		{name: "nobody was put back", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Told, "Pod default/c")].Text = "Scheduled: it is bound"
		}},
		{name: "somebody was put back before it came", trace: func(t *timeline.Trace) {
			move(t, where(t, timeline.Told, "Pod default/c"), where(t, timeline.Handled, pod))
		}},
	})
}

// Only a member that had failed before the other pod was put back, and was told of after that, is queued twice.
func TestQueuedBesides(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/the-member-put-back-first-is-queued-twice.yaml")
	require.NoError(t, err)
	l := &known.Life{Timeline: s.Cases[0].Timeline}
	l.Trace, err = life.Run(t.Context(), l.Timeline)
	require.NoError(t, err)
	second := 0
	for i, e := range l.Trace.Entries {
		if e.What == timeline.Popped && e.Object == "PodGroup default/g2" {
			second = i
			if where(&timeline.Trace{Entries: l.Trace.Entries[:i]}, timeline.Popped, e.Object) >= 0 {
				break
			}
		}
	}
	for member, twice := range map[string]bool{"default/m15": true, "default/m16": false, "default/m17": false, "default/m18": false} {
		require.Equal(t, twice, l.QueuedBesides(member, second), member)
	}
}

// TestTriedAgainMeanwhile: a pod whose binding has failed was put back if it is tried again before all is done about that.
func TestTriedAgainMeanwhile(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/torn-group-and-a-pod-tried-again-meanwhile.yaml")
	require.NoError(t, err)
	l := &lifetime.Life{Timeline: s.Cases[0].Timeline}
	l.Trace, err = life.Run(t.Context(), l.Timeline)
	require.NoError(t, err)
	known := func() (ids []string) {
		for _, f := range lifetime.Check(&lifetime.Life{Timeline: l.Timeline, Trace: l.Trace}) {
			if f.Property == "group-backs-off-after-errors" {
				ids = append(ids, f.Known...)
			}
		}
		return ids
	}
	require.Contains(t, known(), "failed-binding-cuts-group-cycle")
	l.Trace.Entries = slices.DeleteFunc(l.Trace.Entries, func(e timeline.Entry) bool {
		return e.What == timeline.Popped && e.Object == "Pod default/c" && e.Step > 4
	})
	require.NotContains(t, known(), "failed-binding-cuts-group-cycle")
}
