package outside_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/reference/outside"
)

const good = `apiVersion: preemptcheck/v1alpha1
kind: Plugins
module: example.com/plugins
version: v1.2.3
plugins:
- name: Mine
  package: example.com/plugins/mine
  replaces: [DefaultPreemption]
  args: {weight: 3}
kinds:
- apiVersion: example.com/v1
  kind: Quota
objects:
- apiVersion: example.com/v1
  kind: Quota
  metadata: {name: q, namespace: default}
- apiVersion: scheduling.k8s.io/v1
  kind: PriorityClass
  metadata: {name: tolerant, annotations: {a: b}}
podLabels:
  team: [a, b]
`

func write(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "plugins.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func TestRead(t *testing.T) {
	f, err := outside.Read(write(t, good))
	require.NoError(t, err)
	require.Equal(t, "New", f.Plugins[0].Factory)
	require.JSONEq(t, `{"weight":3}`, string(f.Plugins[0].Args))
	require.Equal(t, "quotas", f.Kinds[0].Resource)
	require.True(t, f.Replaces("DefaultPreemption"))
	require.False(t, f.Replaces("NodePorts"))
}

// Errors name the file and the field, all of them.
func TestReadErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown field": {good + "plugin: []\n", `unknown field "plugin"`},
		"no YAML":       {"a: [", "did not find expected node content"},
		"wrong type":    {"plugins: 3", "plugins"},
		"empty": {"kind: Plugin", "apiVersion: must be preemptcheck/v1alpha1\nkind: must be Plugins\nmodule: \"\" is no module path\n" +
			"version: give either it or dir\nplugins: there are none"},
		"both": {good + "dir: .\n", "version: give either it or dir"},
		"plugins": {`{apiVersion: preemptcheck/v1alpha1, kind: Plugins, module: "a b", version: latest, plugins: [{name: A, package: "x\" y", factory: new}, {name: A, package: x}]}`,
			"module: \"a b\" is no module path\nversion: \"latest\" is none: want v0.34.7, for example\nplugins[0].package: \"x\\\" y\" is no import path\n" +
				"plugins[0].factory: \"new\" is no exported function\nplugins[1].name: \"A\" is missing, or there twice"},
		"objects": {"apiVersion: preemptcheck/v1alpha1\nkind: Plugins\nmodule: m\nversion: v1.0.0\nplugins: [{name: A, package: m}]\nkinds: [{kind: q}]\n" +
			"objects: [{kind: Pod, apiVersion: v1, metadata: {name: p}}, {}]\nversions: {m: next}",
			"versions: m: next is no version of a module\nkinds[0].apiVersion: is missing\nkinds[0].kind: \"q\" is no kind\n" +
				"objects[0]: v1 Pod is neither among kinds nor a PriorityClass\nobjects[1]: is no object with a name"},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, c.text)
			_, err := outside.Read(file)
			require.ErrorContains(t, err, file+": ")
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := outside.Read("missing.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestIsFile(t *testing.T) {
	require.True(t, outside.IsFile("dir/plugins.yaml"))
	require.False(t, outside.IsFile("v1.34.4"))
}

// What is added to a cluster depends on the seed alone; the pods of a priority class have its priority.
func TestAdorn(t *testing.T) {
	f, err := outside.Read(write(t, good))
	require.NoError(t, err)
	quotas, classes, labelled := 0, 0, 0
	for seed := range uint64(100) {
		c, again := checktest.Cluster(), checktest.Cluster()
		require.NoError(t, f.Adorn(c, seed))
		require.NoError(t, f.Adorn(again, seed))
		require.Equal(t, c, again)
		quotas += len(c.Extra)
		classes += len(c.PriorityClasses)
		for _, p := range append(c.Pods, c.Preemptor) {
			if p.Labels["team"] != "" {
				labelled++
			}
			if len(c.PriorityClasses) == 0 || p.Spec.PriorityClassName == "" {
				continue // it may have been deleted
			}
			require.Equal(t, c.PriorityClasses[0].Value, *p.Spec.Priority)
			require.Equal(t, "b", c.PriorityClasses[0].Annotations["a"])
		}
	}
	for _, n := range []int{quotas, classes} {
		require.Greater(t, n, 20)
		require.Less(t, n, 80)
	}
	require.Positive(t, labelled)
}
