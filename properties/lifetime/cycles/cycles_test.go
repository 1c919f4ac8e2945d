package cycles_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/cycles"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// The cycle of a group may end in an error only if the group is deleted within it.
func TestGroupGoesInItsCycle(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/group-is-deleted-in-its-cycle.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	isDeletion := func(e *timeline.Entry) bool {
		return e.What == timeline.Handled && e.Object == "PodGroup default/g" && e.Text == "deleted"
	}
	for _, test := range []struct {
		name   string
		change func(e *timeline.Entry)
		want   []string
	}{
		{"it is deleted", func(*timeline.Entry) {}, nil},
		{"it is updated", func(e *timeline.Entry) { e.Text, e.Is = "updated", e.Was }, []string{"group-goes-as-told"}},
		{"another one is deleted", func(e *timeline.Entry) { e.Object, e.Was = "PodGroup default/h", nil }, []string{"group-goes-as-told"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			trace, err := life.Run(t.Context(), tl)
			require.NoError(t, err)
			for i := range trace.Entries {
				if isDeletion(&trace.Entries[i]) {
					test.change(&trace.Entries[i])
				}
			}
			var found []string
			for _, f := range lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}) {
				if f.Property == "group-goes-as-told" {
					found = append(found, f.Property)
				}
			}
			require.Equal(t, test.want, found)
		})
	}
}

// A group, or a pod, that is tried for ever is judged at its first cycles alone.
func TestEndless(t *testing.T) {
	for name, judge := range map[string]func(*timeline.Timeline, *timeline.Trace, release.Release) []cycles.Broken{"group": cycles.OfGroups, "pod": cycles.OfPods} {
		t.Run(name, func(t *testing.T) {
			s, err := corpus.Load("testdata/" + name + "-preempts-for-ever.yaml")
			require.NoError(t, err)
			tl := s.Cases[0].Timeline
			trace, err := life.Run(t.Context(), tl)
			require.NoError(t, err)
			require.NotEmpty(t, trace.Endless)
			broken := map[string]int{}
			for _, b := range judge(tl, trace, release.Linked) {
				broken[b.Pod]++
			}
			require.NotEmpty(t, broken)
			require.Equal(t, 50, slices.Max(slices.Collect(maps.Values(broken))), broken)
		})
	}
}

// It is so where nothing is wrong with the cycles, too: a lie about one of the first is seen, and one about a later one is not.
func TestEndlessWithoutFault(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/finding-preempts-again-without-pause.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	for nth, seen := range map[int]bool{0: true, 49: true, 50: false} {
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		require.NotEmpty(t, trace.Endless)
		require.Empty(t, cycles.OfPods(tl, trace, release.Linked))
		ofAnother := func(c *account.Cycle) bool { return model.Key(c.Pod) != "default/p" }
		slices.DeleteFunc(account.Cycles(tl, trace), ofAnother)[nth].Result.Victims = []string{"default/nobody"}
		require.Equal(t, seen, len(cycles.OfPods(tl, trace, release.Linked)) > 0, nth)
	}
}
