package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
)

// TestOverlapped: drawn timelines come to rest where two things go on at once, and many do.
func TestOverlapped(t *testing.T) {
	both := 0
	for seed := range uint64(100) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		trace, err := overlapped(t.Context(), tl, &both)
		require.NoError(t, err)
		require.Nil(t, trace.Crash)
		require.NotNil(t, trace.Flushed, "seed %d", seed)
	}
	require.Greater(t, both, 1000)
}
