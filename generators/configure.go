package generators

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// Configure has the scheduler of a generated cluster configured by a KubeSchedulerConfiguration, as JSON:
// see model.Settings.Under. The pods of its profiles become those of the first and of the last that is
// configured. later are pods that are not in the cluster yet.
func Configure(c *model.Cluster, configuration json.RawMessage, later ...*v1.Pod) {
	if len(configuration) == 0 {
		return
	}
	before := c.Settings
	c.Settings = before.Under(configuration)
	names := c.Settings.Schedulers()
	pods := append(later, c.Pods...)
	if c.Preemptor != nil {
		pods = append(pods, c.Preemptor)
	}
	for _, p := range pods {
		switch name := p.Spec.SchedulerName; {
		case name == model.DefaultSchedulerName:
			p.Spec.SchedulerName = names[0]
		case before.Schedules(name):
			p.Spec.SchedulerName = names[len(names)-1]
		}
	}
}

// drawConfiguration has the scheduler read some arguments of its plugins from a configuration. They are few, as a system
// has to build a scheduler for each; most are about what the preemptor asks for.
func (g *generator) drawConfiguration(s draw.Source, c *model.Cluster) {
	if c.Preemptor == nil || !plain(&c.Settings) {
		return
	}
	argued, percent := arguments("NodeAffinity", map[string]any{"addedAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpNotIn, Values: []string{"a"}}}}}}}}), 2
	patient := arguments("DynamicResources", map[string]any{"filterTimeout": "0s"})
	switch {
	case g.volumes: // which are rarely in the way as it is
		percent = 0
	case len(c.Preemptor.Spec.ResourceClaims) > 0:
		argued, percent = patient, 12
	case requestsGPUs(c.Preemptor):
		argued, percent = draw.Pick(s, arguments("NodeResourcesFit", map[string]any{"ignoredResources": []string{"example.com/gpu"}}),
			arguments("NodeResourcesFit", map[string]any{"ignoredResourceGroups": []string{"example.com"}}), patient), 12
	}
	if s.Chance(percent) {
		Configure(c, configuration(argued))
	}
}

// arguments are those of a plugin.
func arguments(plugin string, args any) map[string]any {
	return map[string]any{"name": plugin, "args": args}
}

// configuration is one of the default scheduler with arguments of plugins, as JSON.
func configuration(arguments ...map[string]any) json.RawMessage {
	text, err := json.Marshal(map[string]any{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 1,
		"profiles": []any{map[string]any{"schedulerName": model.DefaultSchedulerName, "pluginConfig": arguments}}})
	if err != nil {
		panic(err)
	}
	return text
}
