package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// spreadOver gives the preemptor topology spread constraints, which mostly count
// pods like itself.
func (g *generator) spreadOver(p *v1.Pod) {
	keys := [][]string{{"zone"}, {v1.LabelHostname}, {"zone", v1.LabelHostname}, {"zone", "disk"}, {"generation"}}[draw.Weighted(g.Source, 30, 40, 15, 10, 5)]
	for i, key := range keys {
		c := v1.TopologySpreadConstraint{
			MaxSkew:           draw.Pick[int32](g.Source, 1, 1, 2, 1, 3),
			TopologyKey:       key,
			WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector:     draw.Pick(g.Source, selectors...),
		}
		if app, ok := p.Labels["app"]; ok && g.Chance(60) {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		}
		if i > 0 && g.Chance(20) {
			c.WhenUnsatisfiable = v1.ScheduleAnyway
		}
		// With fewer domains than that, all of them have to be nearly empty.
		if c.WhenUnsatisfiable == v1.DoNotSchedule && (g.bottleneck == bySpread && g.Chance(55) || g.Chance(15)) {
			c.MinDomains = new(draw.Pick[int32](g.Source, 2, 8, 3, 8, 4, 1))
		}
		if g.Chance(25) {
			c.NodeAffinityPolicy = new(draw.Pick(g.Source, v1.NodeInclusionPolicyIgnore, v1.NodeInclusionPolicyHonor))
		}
		if g.Chance(30) {
			c.NodeTaintsPolicy = new(draw.Pick(g.Source, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
		}
		if g.Chance(25) {
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
		if !selected && !slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == key }) && g.Chance(60) {
			c.MatchLabelKeys = append(c.MatchLabelKeys, key)
		}
	}
	if g.Chance(50) {
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

// spellOut has some constraints of a pod, of those with matchLabelKeys, say in two requirements what one says.
func spellOut(s draw.Source, p *v1.Pod) {
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		if len(c.MatchLabelKeys) == 0 || c.LabelSelector == nil || c.LabelSelector.MatchLabels["app"] == "" || !s.Chance(50) {
			continue
		}
		c.LabelSelector = c.LabelSelector.DeepCopy()
		app := c.LabelSelector.MatchLabels["app"]
		delete(c.LabelSelector.MatchLabels, "app")
		c.LabelSelector.MatchExpressions = append([]metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists},
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{app}}}, c.LabelSelector.MatchExpressions...)
	}
}
