package corpus

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCasesRoundTrip(t *testing.T) {
	s, err := Load("cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		text := written(t, c)
		again := readOne(t, text)
		require.Empty(t, diffCases(c, again), c.File)
		require.Equal(t, text, written(t, again), c.File)
	}
}
