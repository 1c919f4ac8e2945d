package corpus_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
)

// With a configuration, the pods of a dump that wait are those that wait for one of its profiles.
func TestConfigureDump(t *testing.T) {
	pod := func(name, scheduler string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: default}\nspec: {schedulerName: " + scheduler + ", containers: [{name: c, image: i}]}\n"
	}
	text := "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n" + pod("a", "one") + pod("b", "default-scheduler") + pod("c", "two") + pod("d", "three")
	s, err := corpus.Read(strings.NewReader(text), "dump")
	require.NoError(t, err)
	names := func() (names []string) {
		for _, c := range s.Cases {
			assert.Equal(t, "dump", c.File)
			assert.Len(t, c.Cluster.Pods, 3)
			names = append(names, c.Name)
		}
		return names
	}
	assert.Equal(t, []string{"default/b"}, names())
	s.Configure(nil, "")
	assert.Equal(t, []string{"default/b"}, names())
	s.Configure([]byte(`{"profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}]}`), " --config f")
	assert.Equal(t, []string{"default/a", "default/c"}, names())
	for _, c := range s.Cases {
		assert.Equal(t, " --config f", c.Flags)
		assert.NotEmpty(t, c.Cluster.Settings.Configuration)
	}
	assert.NotEmpty(t, s.Dump.Settings.Configuration)
}
