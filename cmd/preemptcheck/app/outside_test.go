package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pluginsFile is one with a plugin, and the given lines of it.
func pluginsFile(t *testing.T, lines, rest string) string {
	file := filepath.Join(t.TempDir(), "plugins.yaml")
	text := "apiVersion: preemptcheck/v1alpha1\nkind: Plugins\nmodule: m\nversion: v1.0.0\nplugins:\n- name: A\n  package: m/a\n" + lines + rest
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// What a plugin keeps is asked: what it says, or what fits what it replaces.
func TestOutsideKeeps(t *testing.T) {
	const replaces, kinds = "  replaces: [DefaultPreemption]\n", "kinds: [{apiVersion: e/v1, kind: Q}]\n"
	for name, c := range map[string]struct {
		lines, rest string
		keeps, not  []string
	}{
		"a filter":         {"", "", []string{"minimal-victims", "renaming"}, nil},
		"with objects":     {"", kinds, []string{"minimal-victims"}, []string{"renaming"}},
		"a preemption":     {replaces, "", []string{"lower-priority-only"}, []string{"minimal-victims", "renaming"}},
		"some":             {replaces + "  keeps: [minimal-victims]\n", "", []string{"minimal-victims"}, []string{"lower-priority-only"}},
		"all but one":      {replaces + "  keeps: [all, -renaming]\n", kinds, []string{"minimal-victims"}, []string{"renaming"}},
		"always the rules": {replaces + "  keeps: [minimal-victims]\n", "", []string{"contract-pure", "gets-through"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := outsideOf(pluginsFile(t, c.lines, c.rest))
			require.NoError(t, err)
			require.Equal(t, []string{"A"}, o.Plugins)
			for _, p := range c.keeps {
				require.True(t, o.Keeps(p), p)
			}
			for _, p := range c.not {
				require.False(t, o.Keeps(p), p)
			}
		})
	}
	file := pluginsFile(t, "  keeps: [most]\n", "")
	_, err := outsideOf(file)
	require.ErrorContains(t, err, file+`: plugins[0].keeps[0]: "most" is none of `)
}

// A bad file ends in status 2, before anything is built.
func TestBadPluginsFile(t *testing.T) {
	file := pluginsFile(t, "  weight: 3\n", "")
	for _, args := range [][]string{{"fuzz", "--plugins", file}, {"check", "--plugins", file, "x"}, {"explain", "--plugins", file, "x"}, {"plugins", "--plugins", file},
		{"minimize", "--plugins", file, "x"}, {"diff", "--from", "v1.34.4", "--to", file}} {
		stderr := &bytes.Buffer{}
		require.Equal(t, 2, run(t.Context(), args, nil, &bytes.Buffer{}, stderr), args)
		require.Contains(t, stderr.String(), file+`: json: unknown field "weight"`, args)
	}
	stderr := &bytes.Buffer{}
	require.Equal(t, 2, run(t.Context(), []string{"fuzz", "--plugins", "v1.34.4"}, nil, &bytes.Buffer{}, stderr))
	require.Contains(t, stderr.String(), "--plugins: v1.34.4: the name does not end with")
}
