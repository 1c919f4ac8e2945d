package lifetime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestFitsBesideNamesakes: where a pod goes is asked while two pods of one name are on nodes, too.
func TestFitsBesideNamesakes(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines/late-deletion-beside-its-namesake.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	for node, wrong := range map[string]bool{"node-1": true, "node-2": true, "node-3": false} {
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		trace.Entries[lastOf(trace, timeline.Fits, "Pod default/q")].Node = node
		var found []string
		for _, f := range lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}) {
			if f.Pod == "default/q" {
				found = append(found, f.Property)
			}
		}
		if wrong {
			require.Contains(t, found, "fits-as-told", node)
		} else {
			require.Empty(t, found, node)
		}
	}
}
