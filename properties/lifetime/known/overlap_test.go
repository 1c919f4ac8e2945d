package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestOverlapNearMisses: a preemptor preempts again as an earlier preemption opens the gate only if the goroutine of that is on, and
// its last victim was gone when the next one was decided on. So it is of a pod, and of a group.
func TestOverlapNearMisses(t *testing.T) {
	for _, of := range []struct{ timeline, object, victim string }{
		{"finding-earlier-preemption-opens-gate", "Pod default/p", "Pod default/w"},
		{"earlier-preemption-of-group-opens-gate", "PodGroup default/g1", "Pod default/v0"},
	} {
		nth := func(t *timeline.Trace, n int, is func(e *timeline.Entry) bool) (at int) {
			for at = range t.Entries {
				if is(&t.Entries[at]) {
					if n--; n == 0 {
						return at
					}
				}
			}
			panic("no such entry")
		}
		its := func(what timeline.What) func(e *timeline.Entry) bool {
			return func(e *timeline.Entry) bool { return e.What == what && e.Object == of.object }
		}
		gone := func(t *timeline.Trace) int {
			return nth(t, 1, func(e *timeline.Entry) bool {
				return e.What == timeline.Stored && e.Object == of.victim && e.Text == "deleted"
			})
		}
		// lives makes nothing that is stored say that the victim ends.
		lives := func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Stored && e.Object == of.victim && e.Text != "added" {
					e.Text = "updated"
				}
			}
		}
		t.Run(of.object, func(t *testing.T) {
			checkWhole(t, of.timeline, "no-second-preemption", known.EarlierOpensGate, []nearMiss{
				{name: "its victim is there", trace: lives},
				{name: "its victim is gone later", trace: func(t *timeline.Trace) {
					lives(t)
					t.Entries = slices.Insert(t.Entries, nth(t, 3, its(timeline.Decided)), timeline.Entry{What: timeline.Stored, Object: of.victim, Text: "deleted"})
					t.FlushedAt++
				}},
				{name: "it has another victim left besides", trace: func(t *timeline.Trace) {
					e := &t.Entries[nth(t, 1, its(timeline.Decided))]
					e.Victims = append([]string{"default/x"}, e.Victims...)
				}},
				{name: "its goroutine has ended", trace: func(t *timeline.Trace) { move(t, nth(t, 1, its(timeline.Ends)), gone(t)) }},
				{name: "its goroutine has not begun", trace: func(t *timeline.Trace) {
					move(t, nth(t, 1, its(timeline.Begins)), nth(t, 3, its(timeline.Decided)))
				}},
				{name: "it is that of another preemptor", trace: func(t *timeline.Trace) {
					t.Entries[nth(t, 1, its(timeline.Begins))].Object += "-other"
				}},
			})
		})
	}
}

// TestOverlapOfSeveral: an earlier preemption of several victims opens the gate, too, once all but the last were evicted.
func TestOverlapOfSeveral(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/finding-earlier-preemption-opens-gate.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	first := podOf(tl, "w").DeepCopy()
	first.Name, first.Spec.Priority = "x", new(int32(1)) // the more important one goes first
	tl.Cluster.Pods = append(tl.Cluster.Pods, first)
	for i := range tl.Steps {
		for _, place := range []*timeline.Place{tl.Steps[i].Hold, tl.Steps[i].Release} {
			if place != nil {
				place.Pod = "default/w"
			}
		}
	}
	tl.Steps = slices.Insert(tl.Steps, 0, timeline.Step{Hold: &timeline.Place{Name: timeline.Evict, Pod: "default/v"}})
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	findings := lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace})
	require.NotEmpty(t, findings)
	for _, f := range findings {
		require.Equal(t, "no-second-preemption", f.Property)
		require.Equal(t, []string{known.EarlierOpensGate}, f.Known, f)
	}
}

// TestPreemptionsOfGroupOverlap: whose preemptions the goroutines are of, and which of them have ended, decides.
func TestPreemptionsOfGroupOverlap(t *testing.T) {
	const group = "PodGroup default/g"
	cycle := 0
	// preempts is a preemption of v, whose goroutine begins.
	preempts := func(object string) []timeline.Entry {
		cycle++
		return []timeline.Entry{{What: timeline.Popped, Object: object}, {What: timeline.Decided, Object: object, Victims: []string{"default/v"}, Cycle: cycle},
			{What: timeline.Begins, Object: object, Cycle: cycle}}
	}
	gone, takenOver := []timeline.Entry{{What: timeline.Stored, Object: "Pod default/v", Text: "deleted"}}, []timeline.Entry{{What: timeline.TakenOver}}
	ends := func(back int) []timeline.Entry {
		return []timeline.Entry{{What: timeline.Ends, Object: group, Cycle: cycle - back}}
	}
	for name, tt := range map[string]struct {
		want    bool
		entries [][]timeline.Entry
	}{
		"two are on":                            {true, [][]timeline.Entry{preempts(group), gone, preempts(group)}},
		"its victim is there":                   {false, [][]timeline.Entry{preempts(group), preempts(group), gone}},
		"the first has ended since":             {true, [][]timeline.Entry{preempts(group), gone, preempts(group), ends(1)}},
		"the second has ended since":            {true, [][]timeline.Entry{preempts(group), gone, preempts(group), ends(0)}},
		"one has ended before":                  {false, [][]timeline.Entry{preempts(group), gone, ends(0), preempts(group)}},
		"both have ended":                       {false, [][]timeline.Entry{preempts(group), gone, preempts(group), ends(1), ends(0)}},
		"one is of another group":               {false, [][]timeline.Entry{preempts(group), gone, preempts("PodGroup default/h")}},
		"one is of a pod of that name":          {false, [][]timeline.Entry{preempts(group), gone, preempts("Pod default/g")}},
		"one is of a composite group":           {false, [][]timeline.Entry{preempts(group), gone, preempts("CompositePodGroup default/g")}},
		"another scheduler has begun meanwhile": {false, [][]timeline.Entry{preempts(group), gone, takenOver, preempts(group)}},
	} {
		trace := &timeline.Trace{Entries: append(slices.Concat(tt.entries...), timeline.Entry{What: timeline.Decided, Object: group})}
		l := &known.Life{Timeline: &timeline.Timeline{}, Trace: trace, Release: release.Linked}
		ids := l.Explain(&known.Broken{Property: "no-second-preemption", Pod: "podgroup/default/g", Entry: len(trace.Entries) - 1})
		assert.Equal(t, tt.want, slices.Contains(ids, known.EarlierOpensGate), "%s: %v", name, ids)
	}
}
