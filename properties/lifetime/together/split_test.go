package together_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// Only a member that had failed before the other pod was put back, and was told of after that, is queued twice.
func TestQueuedBesides(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/the-member-put-back-first-is-queued-twice.yaml")
	require.NoError(t, err)
	trace, err := life.Run(t.Context(), s.Cases[0].Timeline)
	require.NoError(t, err)
	var cycles []int
	for i, e := range trace.Entries {
		if e.What == timeline.Popped && e.Object == "PodGroup default/g2" {
			cycles = append(cycles, i)
		}
	}
	for member, twice := range map[string]bool{"default/m15": true, "default/m16": false, "default/m17": false, "default/m18": false} {
		require.Equal(t, twice, together.QueuedBesides(trace, member, cycles[1]), member)
	}
}
