package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// docs/cli is what the commands say of themselves: "make golden" writes it anew.
func TestManualIsCurrent(t *testing.T) {
	const dir = "../../../docs/cli"
	written := t.TempDir()
	require.Zero(t, Run(t.Context(), []string{"manual", "--markdown", written, "--man", written + "/man"}, nil, &bytes.Buffer{}, os.Stderr))
	is, err := os.ReadDir(written)
	require.NoError(t, err)
	if *golden.Update {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.MkdirAll(dir, 0o777))
	}
	commands := 0
	for _, f := range is {
		if f.IsDir() {
			continue
		}
		commands++
		text, err := os.ReadFile(filepath.Join(written, f.Name()))
		require.NoError(t, err)
		golden.Compare(t, filepath.Join(dir, f.Name()), string(text))
	}
	there, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, there, commands, "a page of a command that is gone")
	pages, err := os.ReadDir(written + "/man")
	require.NoError(t, err)
	require.Len(t, pages, commands)
}

func TestManualAsksWhich(t *testing.T) {
	var errOut bytes.Buffer
	require.Equal(t, terminal.CouldNot, Run(t.Context(), []string{"manual"}, nil, &bytes.Buffer{}, &errOut))
	require.Equal(t, "error: --man or --markdown: which of them?\n", errOut.String())
}
