package app

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
)

// As a plugin of kubectl, the program tells how to call it as one.
func TestPluginOfKubectl(t *testing.T) {
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	os.Args = []string{"/usr/local/bin/kubectl-preemptcheck"}
	for _, command := range []string{"explain", "check", "diff", "rbac", "dump", "findings"} {
		var out bytes.Buffer
		require.Zero(t, Run(t.Context(), []string{command, "--help"}, nil, &out, &out))
		require.Contains(t, out.String(), "Usage:\n  kubectl preemptcheck "+command)
		for line := range strings.Lines(out.String()) {
			require.False(t, strings.HasPrefix(line, "  preemptcheck ") || strings.Contains(line, "| preemptcheck"), line)
		}
	}
	require.Equal(t, "kubectl preemptcheck", program.Command())
	os.Args = []string{"preemptcheck"}
	require.Equal(t, "preemptcheck", program.Command())
}
