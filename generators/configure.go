package generators

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	drawn, percent, before := notInZone, 2, func() {}
	switch {
	case len(c.Preemptor.Spec.TopologySpreadConstraints) > 0:
		drawn, percent, before = draw.Pick(s, overZones, overHosts, overDomains), 12, func() { belong(s, c) }
	case len(c.Preemptor.Spec.ResourceClaims) > 0:
		drawn, percent = withoutTimeout, 12
	case requestsGPUs(c.Preemptor):
		drawn, percent = draw.Pick(s, withoutGPU, withoutGroup, withoutTimeout), 12
	}
	if g.volumes { // which are rarely in the way as it is
		percent /= 4
	}
	if s.Chance(percent) {
		before()
		Configure(c, drawn)
	}
}

// belong takes the constraints of the preemptor away, and has a Service select it, mostly, or its ReplicaSet too: it gets those that pods have
// by default.
func belong(s draw.Source, c *model.Cluster) {
	p := c.Preemptor
	p.Spec.TopologySpreadConstraints = nil
	app, labelled := p.Labels["app"]
	if !labelled || s.Chance(15) {
		app = "none"
	}
	selected := map[string]string{"app": app}
	c.Extra = append(c.Extra, &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "service"}, Spec: v1.ServiceSpec{
		Selector: selected, Type: v1.ServiceTypeClusterIP, SessionAffinity: v1.ServiceAffinityNone, InternalTrafficPolicy: new(v1.ServiceInternalTrafficPolicyCluster)}})
	if !labelled || app != p.Labels["app"] || s.Chance(60) {
		return
	}
	const name = "replicas"
	if tier, has := p.Labels["tier"]; has && s.Chance(50) { // which may be others than the Service has
		selected = map[string]string{"app": app, "tier": tier}
	}
	c.Extra = append(c.Extra, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name, UID: name},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selected}}})
	p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: name, Controller: new(true)})
}

// The configurations that are drawn: few, as a system has to build a scheduler for each.
var (
	notInZone = withArguments("NodeAffinity", map[string]any{"addedAffinity": v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpNotIn, Values: []string{"a"}}}}}}}})
	overZones      = spreadByDefault(v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone"})
	overHosts      = spreadByDefault(v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: v1.LabelHostname, NodeTaintsPolicy: new(v1.NodeInclusionPolicyHonor)})
	overDomains    = spreadByDefault(v1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "zone", MinDomains: new(int32(8))}, v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: v1.LabelHostname})
	withoutTimeout = withArguments("DynamicResources", map[string]any{"filterTimeout": "0s"})
	withoutGPU     = withArguments("NodeResourcesFit", map[string]any{"ignoredResources": []string{"example.com/gpu"}})
	withoutGroup   = withArguments("NodeResourcesFit", map[string]any{"ignoredResourceGroups": []string{"example.com"}})
)

// spreadByDefault is a configuration with default constraints that have to be satisfied, and one that only scores.
func spreadByDefault(hard ...v1.TopologySpreadConstraint) json.RawMessage {
	for i := range hard {
		hard[i].WhenUnsatisfiable = v1.DoNotSchedule
	}
	all := append(hard, v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "disk", WhenUnsatisfiable: v1.ScheduleAnyway})
	return withArguments("PodTopologySpread", map[string]any{"defaultConstraints": all, "defaultingType": "List"})
}

// withArguments is a configuration of the default scheduler with arguments of a plugin, as JSON.
func withArguments(plugin string, args any) json.RawMessage {
	text, err := json.Marshal(map[string]any{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 1,
		"profiles": []any{map[string]any{"schedulerName": model.DefaultSchedulerName, "pluginConfig": []any{map[string]any{"name": plugin, "args": args}}}}})
	var sorted any // by key, as cases have it
	if err == nil {
		err = json.Unmarshal(text, &sorted)
	}
	if err == nil {
		text, err = json.Marshal(sorted)
	}
	if err != nil {
		panic(err)
	}
	return text
}
