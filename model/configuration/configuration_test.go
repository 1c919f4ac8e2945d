package configuration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
)

// What is not modelled is named with its field, and what only scores is not.
func TestUnmodelled(t *testing.T) {
	gpu := func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container("example.com/gpu", "1")} }
	spread := func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{}} }
	claims := func(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{}} }
	const constraints = `{"profiles": [{}, {"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}, {"whenUnsatisfiable": "DoNotSchedule"}]}}], "schedulerName": "default-scheduler"}]}`
	for name, tt := range map[string]struct {
		text string
		pod  func(*v1.Pod)
		want []string
	}{
		"nothing": {`{}`, nil, nil},
		"scores": {`{"percentageOfNodesToScore": 3, "profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}, "bind": {"enabled": [{"name": "DefaultBinder"}]}},
			"pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 3}}, {"name": "DynamicResources", "args": {"filterTimeout": "10s"}}]}]}`, nil, nil},
		"default constraints":                          {constraints, nil, []string{"configuration.profiles[1].pluginConfig[PodTopologySpread].args.defaultConstraints[1]"}},
		"default constraints of none":                  {constraints, spread, nil},
		"an extender that filters":                     {`{"extenders": [{}, {"filterVerb": "f", "prioritizeVerb": "p", "preemptVerb": "p"}]}`, nil, []string{"configuration.extenders[1].filterVerb", "configuration.extenders[1].preemptVerb"}},
		"an extender that is not asked":                {`{"extenders": [{"filterVerb": "f", "managedResources": [{"name": "example.com/gpu"}]}]}`, nil, nil},
		"an extender that is asked":                    {`{"extenders": [{"bindVerb": "b", "managedResources": [{"name": "example.com/gpu"}]}]}`, gpu, []string{"configuration.extenders[0].bindVerb"}},
		"at preFilter only":                            {`{"profiles": [{"plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins.filter"}},
		"at filter only":                               {`{"profiles": [{"plugins": {"preFilter": {"disabled": [{"name": "NodePorts"}, {"name": "NodeName"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins.preFilter"}},
		"gates that do not count":                      {`{"profiles": [{"plugins": {"preEnqueue": {"disabled": [{"name": "*"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins.preEnqueue", "configuration.profiles[0].plugins.preEnqueue"}},
		"devices that are not given back":              {`{"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "DynamicResources"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins.postFilter"}},
		"pods that cannot be bound":                    {`{"profiles": [{"plugins": {"preFilter": {"disabled": [{"name": "VolumeBinding"}]}, "filter": {"disabled": [{"name": "VolumeBinding"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins.reserve"}},
		"a plugin that no model is of":                 {`{"profiles": [{"plugins": {"filter": {"enabled": [{"name": "DeferredPodScheduling"}]}}}]}`, nil, []string{"configuration.profiles[0].plugins"}},
		"a patience shorter than the default":          {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"filterTimeout": "1s"}}]}]}`, nil, []string{"configuration.profiles[0].pluginConfig[DynamicResources].args.filterTimeout"}},
		"a patience without end":                       {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"filterTimeout": "0s"}}]}]}`, nil, nil},
		"a patience longer than the default":           {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"filterTimeout": "11s"}}]}]}`, nil, nil},
		"more patience with devices":                   {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"bindingTimeout": "11m"}}]}]}`, claims, []string{"configuration.profiles[0].pluginConfig[DynamicResources].args.bindingTimeout"}},
		"more patience with devices, and none claimed": {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"bindingTimeout": "11m"}}]}]}`, nil, nil},
		"less patience with devices":                   {`{"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"bindingTimeout": "9m"}}]}]}`, nil, nil},
		"a profile that does not preempt":              {`{"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "DefaultPreemption"}]}}}]}`, nil, nil},
		"filters in another order everywhere":          {`{"profiles": [{"plugins": {"filter": {"enabled": [{"name": "NodePorts"}]}}}]}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*v1.Pod)
			if tt.pod != nil {
				change = append(change, tt.pod)
			}
			p := configuration.Of(model.Settings{Configuration: []byte(tt.text)}, model.DefaultSchedulerName)
			require.NotNil(t, p)
			var fields []string
			for _, f := range p.Unmodelled(&model.Cluster{}, mk.Pod("p", 9, change...), model.DefaultPlugins()) {
				fields = append(fields, f.Field)
			}
			assert.Equal(t, tt.want, fields)
		})
	}
	assert.Nil(t, configuration.Of(model.Settings{}, model.DefaultSchedulerName))
	assert.Nil(t, configuration.Of(model.Settings{Configuration: []byte(`{"profiles": [{"schedulerName": "a"}]}`)}, model.DefaultSchedulerName))
}
