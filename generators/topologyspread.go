package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spreadOver gives the preemptor topology spread constraints, which mostly count
// pods like itself.
func (g *generator) spreadOver(p *v1.Pod) {
	keys := [][]string{{"zone"}, {v1.LabelHostname}, {"zone", v1.LabelHostname}, {"zone", "disk"}, {"generation"}}[weighted(g.source, 30, 40, 15, 10, 5)]
	for i, key := range keys {
		c := v1.TopologySpreadConstraint{
			MaxSkew:           pick[int32](g.source, 1, 1, 2, 1, 3),
			TopologyKey:       key,
			WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector:     pick(g.source, selectors...),
		}
		if app, ok := p.Labels["app"]; ok && g.chance(60) {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		}
		if i > 0 && g.chance(20) {
			c.WhenUnsatisfiable = v1.ScheduleAnyway
		}
		// With fewer domains than that, all of them have to be nearly empty.
		if c.WhenUnsatisfiable == v1.DoNotSchedule && (g.bottleneck == bySpread && g.chance(55) || g.chance(15)) {
			c.MinDomains = new(pick[int32](g.source, 2, 8, 3, 8, 4, 1))
		}
		if g.chance(25) {
			c.NodeAffinityPolicy = new(pick(g.source, v1.NodeInclusionPolicyIgnore, v1.NodeInclusionPolicyHonor))
		}
		if g.chance(30) {
			c.NodeTaintsPolicy = new(pick(g.source, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
		}
		if g.chance(25) {
			g.matchKeys(&c, p.Labels)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

// matchKeys sets matchLabelKeys: to keys that the selector does not have, one of
// which no pod has. The API server merges them into the selector of a pod that
// it creates; pods from before it did are as they were.
func (g *generator) matchKeys(c *v1.TopologySpreadConstraint, own map[string]string) {
	s := c.LabelSelector
	if s == nil {
		return
	}
	for _, key := range []string{"tier", "app", "version"} {
		_, selected := s.MatchLabels[key]
		if !selected && !slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == key }) && g.chance(60) {
			c.MatchLabelKeys = append(c.MatchLabelKeys, key)
		}
	}
	if g.chance(50) {
		return
	}
	c.LabelSelector = s.DeepCopy()
	for _, key := range c.MatchLabelKeys {
		if value, ok := own[key]; ok {
			c.LabelSelector.MatchExpressions = append(c.LabelSelector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
		}
	}
}
