package campaigns

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCannotLive: a scheduler that runs no timelines says why.
func TestCannotLive(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // nothing is built there
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	require.Empty(t, cannotLive("v1.37.1"))
	require.Equal(t, "v1.31.0 cannot be run through timelines", cannotLive("v1.31.0"))
	require.Equal(t, `the scheduler of v1.36.3 is not built for timelines: run "preemptcheck references --build v1.36.3"`, cannotLive("v1.36.3"))
}
