package checkers

import (
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

// A plugin is modelled alone, in the place of DefaultPreemption, and of a version whose documents were read, or of a copy of it.
func TestModelledPlugins(t *testing.T) {
	const module, version, replaces, one = "module: sigs.k8s.io/scheduler-plugins\n", "version: v0.34.7\n", "  replaces: [DefaultPreemption]\n", "- name: PreemptionToleration\n  package: m/a\n"
	for name, c := range map[string]struct {
		text string
		is   bool
	}{
		"the version":       {module + version + "plugins:\n" + one + replaces, true},
		"a copy":            {module + "dir: copy\nplugins:\n" + one + replaces, true},
		"another version":   {module + "version: v0.31.8\nplugins:\n" + one + replaces, false},
		"another module":    {"module: m\n" + version + "plugins:\n" + one + replaces, false},
		"beside the others": {module + version + "plugins:\n" + one, false},
		"another plugin":    {module + version + "plugins:\n" + one + replaces + "- name: B\n  package: m/b\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "plugins.yaml")
			require.NoError(t, os.WriteFile(file, []byte("apiVersion: preemptcheck/v1alpha1\nkind: Plugins\n"+c.text), 0o644))
			o, err := outsideOf(file)
			require.NoError(t, err)
			require.Equal(t, c.is, o.Model != nil)
			require.Equal(t, c.is, len(o.Unmodelled) == 0)
		})
	}
	file := filepath.Join(t.TempDir(), "plugins.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: preemptcheck/v1alpha1\nkind: Plugins\n"+module+version+"plugins:\n"+one+replaces+"  args: {minCandidateNodesAbsolute: many}\n"), 0o644))
	_, err := outsideOf(file)
	require.ErrorContains(t, err, file+": args of PreemptionToleration: ")
}
