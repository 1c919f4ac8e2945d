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

// drawConfiguration has the scheduler read some arguments of its plugins from a configuration. Most are about what the
// preemptor asks for.
func (g *generator) drawConfiguration(s draw.Source, c *model.Cluster) {
	if c.Preemptor == nil || !plain(&c.Settings) {
		return
	}
	drawn, percent := notInZone, 2
	switch {
	case len(c.Preemptor.Spec.ResourceClaims) > 0:
		drawn, percent = withoutTimeout, 12
	case requestsGPUs(c.Preemptor):
		drawn, percent = draw.Pick(s, withoutGPU, withoutGroup, withoutTimeout), 12
	}
	if g.volumes { // which are rarely in the way as it is
		percent /= 4
	}
	if s.Chance(percent) {
		Configure(c, drawn)
	}
}

// The configurations that are drawn: few, as a system has to build a scheduler for each.
var (
	notInZone = withArguments("NodeAffinity", map[string]any{"addedAffinity": v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpNotIn, Values: []string{"a"}}}}}}}})
	withoutTimeout = withArguments("DynamicResources", map[string]any{"filterTimeout": "0s"})
	withoutGPU     = withArguments("NodeResourcesFit", map[string]any{"ignoredResources": []string{"example.com/gpu"}})
	withoutGroup   = withArguments("NodeResourcesFit", map[string]any{"ignoredResourceGroups": []string{"example.com"}})
)

// withArguments is a configuration of the default scheduler with arguments of a plugin, as JSON.
func withArguments(plugin string, args any) json.RawMessage {
	text, err := json.Marshal(map[string]any{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 1,
		"profiles": []any{map[string]any{"schedulerName": model.DefaultSchedulerName, "pluginConfig": []any{map[string]any{"name": plugin, "args": args}}}}})
	if err != nil {
		panic(err)
	}
	return text
}
