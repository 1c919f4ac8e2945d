package linked_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// A bad file is refused with the field, and what is allowed there.
func TestReadConfigurationRefuses(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no YAML":            {"a: [", "did not find expected node content"},
		"no version":         {"kind: KubeSchedulerConfiguration", `apiVersion: "" is not kubescheduler.config.k8s.io/v1`},
		"an old version":     {"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration", `apiVersion: "kubescheduler.config.k8s.io/v1beta3" is not kubescheduler.config.k8s.io/v1`},
		"another kind":       {"apiVersion: v1\nkind: Pod", `kind: "Pod" is not KubeSchedulerConfiguration`},
		"an unknown field":   {head + "profiles: [{schedulerName: a, plugin: {}}]", `unknown field "profiles[0].plugin"; known are percentageOfNodesToScore, pluginConfig, plugins, schedulerName`},
		"unknown at the top": {head + "profile: []\nextender: []", "unknown field \"profile\"; known are apiVersion, clientConnection, delayCacheUntilActive, "},
		"a field twice":      {head + "parallelism: 1\nparallelism: 2", `key "parallelism" already set in map`},
		"an unknown argument": {head + "profiles: [{pluginConfig: [{name: NodeAffinity, args: {added: {}}}]}]",
			`decoding args for plugin NodeAffinity: strict decoding error: unknown field "added"; known are addedAffinity, apiVersion, kind`},
		"an unknown plugin": {head + "profiles: [{plugins: {filter: {enabled: [{name: NodeName}, {name: Foo}]}}}]",
			`profiles[0].plugins.filter.enabled[1].name: this kube-scheduler has no plugin "Foo"; it has DefaultBinder, DefaultPreemption, `},
		"a bad percentage": {head + "percentageOfNodesToScore: 101", "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
		"a bad argument": {head + "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 101}}]}]",
			"profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
		"no workers":                  {head + "parallelism: 0", "parallelism: Invalid value: 0: should be an integer value greater than zero"},
		"two profiles of one name":    {head + "profiles: [{schedulerName: a}, {schedulerName: a}]", `profiles[1].schedulerName: Duplicate value: "a"`},
		"a profile without a name":    {head + "profiles: [{schedulerName: a}, {}]", "profiles[1].schedulerName: Required value"},
		"a plugin configured twice":   {head + "profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]", `profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"`},
		"an extender without weight":  {head + "extenders: [{urlPrefix: 'http://a', prioritizeVerb: p}]", "extenders[0].weight: Invalid value: 0: must have a positive weight"},
		"a resource managed by two":   {head + "extenders: [{managedResources: [{name: example.com/a}]}, {managedResources: [{name: example.com/a}]}]", "duplicate extender managed resource name"},
		"queues in different orders":  {head + "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: ImageLocality}]}}}]", "profiles[1].plugins.queueSort: Invalid value"},
		"a backoff that gets shorter": {head + "podInitialBackoffSeconds: 20", "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := linked.ReadConfiguration([]byte(tt.text))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// JSON and YAML are the same, and what is read reads back.
func TestReadConfigurationIsJSON(t *testing.T) {
	text, err := linked.ReadConfiguration([]byte("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nparallelism: 4\n"))
	assert.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 4}`, string(text))
	again, err := linked.ReadConfiguration(text)
	assert.NoError(t, err)
	assert.Equal(t, text, again)
}
