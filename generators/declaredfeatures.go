package generators

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// declaredFeatures are what nodes declare: also what no pod asks for, and a name
// from another release.
var declaredFeatures = [][]string{
	nil,
	{filter.FeatureRestartAll},
	{"GuaranteedQoSPodCPUResize"},
	{"ExtendWebSocketsToKubelet", filter.FeatureRestartAll, "SomeLaterFeature"},
}

// needFeature makes the pod need the one feature that the default gates let pods
// ask for, in any container that may have such a rule, or something near it.
func (g *generator) needFeature(spec *v1.PodSpec) {
	c := &spec.Containers[g.Intn(len(spec.Containers))]
	if n := len(spec.InitContainers); n > 0 && g.Chance(50) {
		if init := &spec.InitContainers[n-1]; init.RestartPolicy == nil {
			c = init
		}
	}
	c.RestartPolicy = new(v1.ContainerRestartPolicyNever)
	rule := func(action v1.ContainerRestartRuleAction) v1.ContainerRestartRule {
		return v1.ContainerRestartRule{Action: action, ExitCodes: &v1.ContainerRestartRuleOnExitCodes{
			Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}
	}
	if g.Chance(20) {
		c.RestartPolicyRules = append(c.RestartPolicyRules, rule(v1.ContainerRestartRuleActionRestart))
		if g.Chance(50) {
			return // restarting the container alone is nothing to declare
		}
	}
	c.RestartPolicyRules = append(c.RestartPolicyRules, rule(v1.ContainerRestartRuleActionRestartAllContainers))
}
