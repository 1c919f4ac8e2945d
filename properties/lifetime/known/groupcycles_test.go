package known_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestTwiceInItsCycleNearMisses: the nomination of a member counts against others of its group only if the queue forgot the cycle before
// that, and the member was updated then.
func TestTwiceInItsCycleNearMisses(t *testing.T) {
	const member, alone = "Pod default/m1", "Pod default/w"
	back := func(t *timeline.Trace) int { // that its binding has failed
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Told && e.Object == alone && strings.HasPrefix(e.Text, "FailedScheduling")
		})
	}
	updated := func(t *timeline.Trace) int { // after w is back
		i := back(t)
		return i + slices.IndexFunc(t.Entries[i:], func(e timeline.Entry) bool { return e.What == timeline.Handled && e.Object == member })
	}
	checkWhole(t, "member-is-queued-twice", "group-goes-as-told", known.CycleCutShort, []nearMiss{
		{name: "no binding fails", trace: func(t *timeline.Trace) { t.Entries[back(t)].Text = "Scheduled" }},
		{name: "the pod whose binding fails is of a group", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, alone)].Group = "podgroup/default/h" }},
		{name: "the pod whose binding fails is in no queue then", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Requeued, alone)].Queue = "" }},
		{name: "it is updated before", trace: func(t *timeline.Trace) { move(t, updated(t), back(t)) }},
		{name: "it is not updated", trace: func(t *timeline.Trace) { t.Entries[updated(t)].What = timeline.Told }},
	})
}

// TestNominationsChangeInAGroupCycle: a nomination may count for one member and not for the next, if it goes in the course of the cycle.
func TestNominationsChangeInAGroupCycle(t *testing.T) {
	findings := func(t *testing.T, change func(*timeline.Trace)) (found []lifetime.Finding) {
		s, err := corpus.Load("../../../corpus/timelines/nomination-goes-while-a-group-is-tried.yaml")
		require.NoError(t, err)
		trace, err := life.Run(t.Context(), s.Cases[0].Timeline)
		require.NoError(t, err)
		change(trace)
		return slices.DeleteFunc(lifetime.Check(&lifetime.Life{Timeline: s.Cases[0].Timeline, Trace: trace}), func(f lifetime.Finding) bool {
			return f.Property != "group-goes-as-told"
		})
	}
	require.Empty(t, findings(t, func(*timeline.Trace) {}))
	for name, change := range map[string]func(*timeline.Trace){
		"neither fits": func(t *timeline.Trace) {
			second := &t.Courses[1].Second[0]
			second.Node, second.Filters = "", t.Courses[1].First[0].Filters
		},
		"both fit": func(t *timeline.Trace) {
			first := &t.Courses[1].First[0]
			first.Node, first.Filters = t.Courses[1].Second[0].Node, nil
		},
	} {
		t.Run(name, func(t *testing.T) { require.NotEmpty(t, findings(t, change)) })
	}
}
