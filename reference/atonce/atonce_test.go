package atonce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/reference/atonce"
)

// TestAtOnce: nothing fails and, where it runs with the race detector, nothing races.
func TestAtOnce(t *testing.T) {
	require.NoError(t, atonce.All())
}
