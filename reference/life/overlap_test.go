package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
)

// TestOverlapped: drawn timelines get through where two things go on at once, and many do.
func TestOverlapped(t *testing.T) {
	all := 0
	for seed := range uint64(100) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		both, err := overlapped(t.Context(), tl)
		require.NoError(t, err)
		all += both
	}
	require.Greater(t, all, 1000)
}
