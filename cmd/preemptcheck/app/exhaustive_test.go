package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

func TestExhaustiveIsComplete(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	status, out, errOut := preemptcheck(t, "", "exhaustive", "--bound", "1", "--state", state)
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, "complete to bound 1: ")
	require.Contains(t, out, ", 0 unexplained, 0 not checked")
	require.Contains(t, out, "greedy gap: of ")
	require.NoFileExists(t, state, "nothing to go on from")
}

func TestExhaustiveOfGroups(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "exhaustive", "--groups", "--bound", "1", "--out", t.TempDir())
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, "a group of ≤ 2 preempts")
	require.Regexp(t, `complete to bound 1: \d+ clusters, 3142 classes, 0 unexplained, 0 not checked`, out)
	require.Contains(t, out, "pick-by-own-priority", "the units have to count")
}

func TestExhaustiveRefusesBadFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"bound":`), 0o600))
	for _, args := range [][]string{{"--bound", "0"}, {"--bound", "5"}, {"--workers", "0"}, {"--state", bad}, {"--reference", "v0"}} {
		status, _, errOut := preemptcheck(t, "", append([]string{"exhaustive"}, args...)...)
		require.Equal(t, terminal.CouldNot, status, args)
		require.Contains(t, errOut, args[0])
	}
}
