package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bad file ends in status 2, before anything is built.
func TestBadPluginsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plugins.yaml")
	text := "apiVersion: preemptcheck/v1alpha1\nkind: Plugins\nmodule: m\nversion: v1.0.0\nplugins:\n- name: A\n  package: m/a\n  weight: 3\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	for _, args := range [][]string{{"fuzz", "--plugins", file}, {"check", "--plugins", file, "x"}, {"explain", "--plugins", file, "x"}, {"plugins", "--plugins", file},
		{"minimize", "--plugins", file, "x"}, {"diff", "--from", "v1.34.4", "--to", file}} {
		stderr := &bytes.Buffer{}
		require.Equal(t, 2, Run(t.Context(), args, nil, &bytes.Buffer{}, stderr), args)
		require.Contains(t, stderr.String(), file+`: json: unknown field "weight"`, args)
	}
	stderr := &bytes.Buffer{}
	require.Equal(t, 2, Run(t.Context(), []string{"fuzz", "--plugins", "v1.34.4"}, nil, &bytes.Buffer{}, stderr))
	require.Contains(t, stderr.String(), "--plugins: v1.34.4: the name does not end with")
}
