package releasediff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
)

// A cluster that asks about a pod group is not compared, whatever the releases.
func TestGroupsAreNotCompared(t *testing.T) {
	for _, to := range []string{"v1.36.3", "v1.37.1"} {
		r, err := New(drawing(version(t, "v1.31.0"), 1), drawing(version(t, to), 2)).Compare(t.Context(), &model.Cluster{PreemptorGroup: "podgroup/default/g"})
		require.NoError(t, err)
		require.Equal(t, NotModelled, r.Verdict)
		require.Equal(t, "PodGroup: preemptor", r.Why)
		require.Equal(t, "PodGroup default/g", r.Object)
	}
}
