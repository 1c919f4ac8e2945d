package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestPreemptionsOfGroupOverlap: the gate opens too early for a group if two of its own preemptions were on at once.
func TestPreemptionsOfGroupOverlap(t *testing.T) {
	checkWhole(t, "earlier-preemption-of-group-opens-gate", "no-second-preemption", known.EarlierOpensGate, nil)
	const group = "PodGroup default/g"
	begins := func(object string) timeline.Entry { return timeline.Entry{What: timeline.Begins, Object: object} }
	ends := timeline.Entry{What: timeline.Ends, Object: group}
	for name, tt := range map[string]struct {
		want    bool
		entries []timeline.Entry
	}{
		"two are on":                            {true, []timeline.Entry{begins(group), begins(group)}},
		"one has ended since":                   {true, []timeline.Entry{begins(group), begins(group), ends}},
		"one has ended before":                  {false, []timeline.Entry{begins(group), ends, begins(group)}},
		"both have ended":                       {false, []timeline.Entry{begins(group), begins(group), ends, ends}},
		"one is of another group":               {false, []timeline.Entry{begins(group), begins("PodGroup default/h")}},
		"one is of a pod of that name":          {false, []timeline.Entry{begins(group), begins("Pod default/g")}},
		"one is of a composite group":           {false, []timeline.Entry{begins(group), begins("CompositePodGroup default/g")}},
		"another scheduler has begun meanwhile": {false, []timeline.Entry{begins(group), {What: timeline.TakenOver}, begins(group)}},
	} {
		trace := &timeline.Trace{Entries: append(tt.entries, timeline.Entry{What: timeline.Decided, Object: group})}
		l := &known.Life{Timeline: &timeline.Timeline{}, Trace: trace, Release: release.Linked}
		ids := l.Explain(&known.Broken{Property: "no-second-preemption", Pod: "podgroup/default/g", Entry: len(tt.entries)})
		assert.Equal(t, tt.want, slices.Contains(ids, known.EarlierOpensGate), "%s: %v", name, ids)
	}
}
