package minimize

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// Each part of a configuration can be left out, as far as the rest is one.
func TestConfigurationIsMadeSmaller(t *testing.T) {
	text, err := linked.ReadConfiguration([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 4
profiles:
- {schedulerName: a}
- {schedulerName: b, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/a, example.com/b]}}]}
`))
	require.NoError(t, err)
	c := &model.Cluster{Settings: model.Settings{Configuration: text}}
	left := map[string]string{}
	for _, s := range configured(c) {
		if next := s.to(c); next != nil {
			left[s.what] = string(next.Settings.Configuration)
		}
	}
	assert.JSONEq(t, string(text), string(c.Settings.Configuration), "it is changed itself")
	for _, what := range []string{"parallelism", "profiles", "profiles[0]", "profiles[1]", "profiles[1].pluginConfig", "profiles[1].pluginConfig[0]",
		"profiles[1].pluginConfig[0].args", "profiles[1].pluginConfig[0].args.ignoredResources", "profiles[1].pluginConfig[0].args.ignoredResources[0]"} {
		assert.Contains(t, left, "configuration: without "+what)
	}
	assert.NotContains(t, left, "configuration: without profiles[0].schedulerName", "of two profiles each needs a name")
	assert.JSONEq(t, `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 4, "profiles": [{"schedulerName": "a"}]}`,
		left["configuration: without profiles[1]"])
	assert.Empty(t, configured(&model.Cluster{}))
}
