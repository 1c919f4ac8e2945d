package generators

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/volumes"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// double gives some preemptors two of what most have one of: a loop that ends early, or one entry for
// all, shows nowhere else. It draws from a source of its own.
func (g *generator) double(s draw.Source, c *model.Cluster) {
	p := c.Preemptor
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil && s.Chance(30) {
		g.anotherTerm(s, p, &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil && s.Chance(30) {
		g.anotherTerm(s, p, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if s.Chance(15) && g.podAffinity && plain(&c.Settings) {
		c.Settings.FeatureGates = idleGates() // with the one that looks at terms about hosts in another way
	}
	if len(p.Spec.TopologySpreadConstraints) > 0 && s.Chance(25) {
		twoKeys(s, p)
	}
	if len(filter.NeededFeatures(p)) > 0 && !hasCondition(p, v1.PodResizePending) && s.Chance(25) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonDeferred})
	}
	if g.volumes && g.bottleneck < byClaim && s.Chance(20) {
		volumes.AnotherClaim(s, c)
	}
	for i := range c.Settings.Extenders {
		if e := &c.Settings.Extenders[i]; e.Ignorable && e.Preempt != nil && e.Preempt.Fails == "" && s.Chance(15) {
			e.Preempt.Changes = nil
			for _, n := range c.Nodes {
				e.Preempt.Changes = append(e.Preempt.Changes, model.VictimChange{Node: n.Name, Keeps: new(int32(draw.Weighted(s, 80, 20)))})
			}
		}
	}
}

// anotherTerm adds a term about domains of the other kind.
func (g *generator) anotherTerm(s draw.Source, p *v1.Pod, terms *[]v1.PodAffinityTerm) {
	from := *g
	from.Source = s
	another := from.podTerm(p)
	another.TopologyKey = "zone"
	if (*terms)[0].TopologyKey == "zone" {
		another.TopologyKey = v1.LabelHostname
	}
	if s.Chance(40) { // in namespaces that it selects by their labels
		another.Namespaces, another.NamespaceSelector = nil, draw.Pick(s, &metav1.LabelSelector{}, &metav1.LabelSelector{}, ofRed, ofNobody)
	}
	*terms = slices.Insert(slices.Clone(*terms), s.Intn(len(*terms)+1), another)
}

// twoKeys gives a pod two labels, and a constraint of it that counts any pod both of their keys in
// matchLabelKeys, from before the API server merged them into selectors.
func twoKeys(s draw.Source, p *v1.Pod) {
	p.Labels = maps.Clone(p.Labels)
	for key, value := range map[string]string{"app": "a", "tier": "x"} {
		if _, labelled := p.Labels[key]; !labelled {
			metav1.SetMetaDataLabel(&p.ObjectMeta, key, value)
		}
	}
	c := &p.Spec.TopologySpreadConstraints[0]
	c.LabelSelector = &metav1.LabelSelector{}
	c.MatchLabelKeys = draw.Pick(s, []string{"tier", "app"}, []string{"app", "tier"}, []string{"version", "app"})
}
