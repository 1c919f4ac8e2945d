package outside_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/reference/outside"
)

// The files whose figures the documentation tells can be read.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/scheduler-plugins/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := outside.Read(file)
		require.NoError(t, err)
	}
}
