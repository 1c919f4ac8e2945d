package mutant

import (
	"cmp"
	"slices"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// OfGroups are models that each break one rule about pods that are preempted together.
// Of clusters without pod groups some are right.
func OfGroups() []Mutant {
	var all []Mutant
	for _, m := range ofUnits {
		rules := answers.Documented()
		m.change(rules)
		all = append(all, Mutant{m.name, rules, nil})
	}
	for _, m := range ofGroups {
		all = append(all, Mutant{m.name, answers.Documented(), func(c *model.Cluster) {
			c.Extra, c.Settings = slices.Clone(c.Extra), c.Settings.DeepCopy()
			m.change(c)
		}})
	}
	return all
}

var ofUnits = []breaks{
	{"units: a group matters no more than a pod", importance(func(a, b *unit.Unit) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(len(b.Pods), len(a.Pods)), a.Start.Compare(b.Start))
	})},
	{"units: a group of groups matters no more than one of pods", importance(func(a, b *unit.Unit) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(min(b.Kind, unit.PodGroup), min(a.Kind, unit.PodGroup)),
			cmp.Compare(len(b.Pods), len(a.Pods)), a.Start.Compare(b.Start))
	})},
	{"units: the size of a group does not matter", importance(func(a, b *unit.Unit) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.Kind, a.Kind), a.Start.Compare(b.Start))
	})},
	{"units: a group starts with its last pod", importance(func(a, b *unit.Unit) int {
		return model.MoreImportant(startsLast(a), startsLast(b))
	})},
	{"units: the pods' own priority counts", func(r *answers.Rules) {
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool {
			return model.Priority(u.Pods[0].Pod) < cy.Preemptor.Priority
		}
	}},
	{"units: the pods on other nodes stay", func(r *answers.Rules) {
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *model.Outcome {
			o := model.Reprieve(cy, run, possible, budgetOrder)
			o.Pods = slices.DeleteFunc(o.Pods, func(p *filter.Pod) bool { return p.Node != run.Node })
			o.Victims = nil
			for _, p := range o.Pods {
				o.Victims = append(o.Victims, p.Key)
			}
			return o
		}
	}},
	{"units: constraints find the pods that are gone from other nodes", func(r *answers.Rules) {
		r.PreFilter = func(cy *model.Cycle) model.PreFiltered {
			all, snapshot := *cy, *cy.Snapshot
			snapshot.Nodes = slices.Clone(snapshot.Nodes)
			for _, p := range snapshot.Homeless {
				if p.Node != nil {
					snapshot.Nodes[p.Node.Index] = variant.Changed(snapshot.Nodes[p.Node.Index], func(n *filter.Node) { n.Pods = append(slices.Clip(n.Pods), p) })
				}
			}
			all.Snapshot = &snapshot
			return model.PreFilter(&all)
		}
	}},
	{"units: one violating pod does not make a group violate", func(r *answers.Rules) {
		r.ReprieveOrder = func(violations []int) []int {
			several := slices.Clone(violations)
			for i := range several {
				several[i]--
			}
			return model.ReprieveOrder(several)
		}
	}},
	{"units: a group violates once", func(r *answers.Rules) {
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *model.Outcome {
			o := model.Reprieve(cy, run, possible, budgetOrder)
			o.Violations = 0
			for _, u := range possible {
				if slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return o.Violates[p.Key] != "" }) {
					o.Violations++
				}
			}
			return o
		}
	}},
}

func importance(compare func(a, b *unit.Unit) int) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Importance = compare }
}

func startsLast(u *unit.Unit) *unit.Unit {
	return variant.Changed(u, func(u *unit.Unit) {
		for _, p := range u.Pods {
			if p.Start.After(u.Start) {
				u.Start = p.Start
			}
		}
	})
}

var ofGroups = []mutation[model.Cluster]{
	{"groups: not known", func(c *model.Cluster) { c.Settings.FeatureGates = nil }},
	{"groups: disrupted as a whole by default", podGroups(func(_ *model.Cluster, g *schedulingv1beta1.PodGroup) {
		if g.Spec.DisruptionMode == nil {
			g.Spec.DisruptionMode = asAWhole
		}
	})},
	{"groups: disrupted as a whole, always", podGroups(func(_ *model.Cluster, g *schedulingv1beta1.PodGroup) { g.Spec.DisruptionMode = asAWhole })},
	{"groups: never disrupted as a whole", podGroups(func(_ *model.Cluster, g *schedulingv1beta1.PodGroup) { g.Spec.DisruptionMode = nil })},
	{"groups: without a priority, that of its pods", podGroups(func(c *model.Cluster, g *schedulingv1beta1.PodGroup) {
		for _, p := range c.Pods {
			if g.Spec.Priority == nil && p.Spec.SchedulingGroup != nil && *p.Spec.SchedulingGroup.PodGroupName == g.Name {
				g.Spec.Priority = p.Spec.Priority
			}
		}
	})},
	{"groups: those of groups go one by one", func(c *model.Cluster) {
		for i, o := range c.Extra {
			if g, composite := o.(*schedulingv1alpha3.CompositePodGroup); composite {
				c.Extra[i] = variant.Changed(g, func(g *schedulingv1alpha3.CompositePodGroup) { g.Spec.DisruptionMode = nil })
			}
		}
	}},
	{"groups: one that does not exist goes as a whole", func(c *model.Cluster) {
		known := c.Groups()
		for _, p := range c.Pods {
			if p.Spec.SchedulingGroup != nil && known.Of(p) == nil {
				g := &schedulingv1beta1.PodGroup{}
				g.Namespace, g.Name = p.Namespace, *p.Spec.SchedulingGroup.PodGroupName
				g.Spec.Priority, g.Spec.DisruptionMode = p.Spec.Priority, asAWhole
				c.Extra = append(c.Extra, g)
			}
		}
	}},
}

var asAWhole = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}

// podGroups changes a copy of each PodGroup.
func podGroups(change func(c *model.Cluster, g *schedulingv1beta1.PodGroup)) func(*model.Cluster) {
	return func(c *model.Cluster) {
		for i, o := range c.Extra {
			if g, leaf := o.(*schedulingv1beta1.PodGroup); leaf {
				c.Extra[i] = variant.Changed(g, func(g *schedulingv1beta1.PodGroup) { change(c, g) })
			}
		}
	}
}
