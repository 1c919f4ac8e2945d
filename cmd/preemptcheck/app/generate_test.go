package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

func TestGeneratedFilesCheck(t *testing.T) {
	dir := t.TempDir()
	status, out, _ := preemptcheck(t, "", "generate", "-n", "3", "--seed", "9", "--first", "4", "--out", dir)
	require.Equal(t, terminal.Agrees, status)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	require.Contains(t, out, filepath.Join(dir, "generated-9-6.yaml"))
	status, out, _ = preemptcheck(t, "", "check", dir)
	require.Equal(t, terminal.Agrees, status, out)
	require.Contains(t, out, "3 passed")

	_, alone, _ := preemptcheck(t, "", "generate", "--seed", "9", "--first", "6")
	file, err := os.ReadFile(filepath.Join(dir, "generated-9-6.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(file), alone)
}
