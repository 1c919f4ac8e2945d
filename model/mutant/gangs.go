package mutant

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// DecideGroup decides as podgroups.Decide does, but for the broken rule.
func (m Mutant) DecideGroup(c *model.Cluster) (*podgroups.Set, error) {
	if m.distort != nil {
		c = variant.Changed(c, m.distort)
	}
	return podgroups.Decide(c, m.rules)
}

// OfGangs are models that each break one rule about the cycle of a pod group. Of the cycles of pods some
// are right.
func OfGangs() []Mutant {
	var all []Mutant
	for _, m := range slices.Concat(ofTopology, ofGangs) {
		rules := answers.Documented()
		m.change(rules)
		all = append(all, Mutant{m.name, rules, nil})
	}
	return all
}

var ofGangs = []breaks{
	{"gangs: tried before all that have to be scheduled exist", ofCycle(func(a *podgroup.Algorithm) {
		a.Waits = func(*podgroup.Cycle) bool { return false }
	})},
	{"gangs: bound members do not count for whether the group is tried", ofCycle(func(a *podgroup.Algorithm) {
		a.Waits = func(cy *podgroup.Cycle) bool { return len(cy.Members) < cy.Root.Least }
	})},
	{"gangs: one more member has to exist than has to be scheduled", ofCycle(func(a *podgroup.Algorithm) {
		a.Waits = func(cy *podgroup.Cycle) bool { return len(cy.Members)+len(cy.Bound) <= cy.Root.Least }
	})},
	{"gangs: the priority of the pods need not be the group's", failsBut("priority")},
	{"gangs: the preemption policies of the pods need not be the same", failsBut("preemption policy")},
	{"gangs: bound members may differ", ofCycle(func(a *podgroup.Algorithm) {
		a.Fails = func(cy *podgroup.Cycle) []string {
			return podgroup.Fails(variant.Changed(cy, func(cy *podgroup.Cycle) { cy.Bound = nil }))
		}
	})},
	{"gangs: bound members do not count for whether there are enough", enough(func(_ *podgroup.Cycle, g *podgroup.Tree, placed int) bool { return placed >= g.Least })},
	{"gangs: all members have to fit", enough(func(_ *podgroup.Cycle, g *podgroup.Tree, placed int) bool {
		return placed == len(g.Members)+len(g.Groups)
	})},
	{"gangs: one member is enough", enough(func(_ *podgroup.Cycle, _ *podgroup.Tree, placed int) bool { return placed > 0 })},
	{"gangs: all groups of a composite one have to fit", enough(func(cy *podgroup.Cycle, g *podgroup.Tree, placed int) bool {
		return podgroup.Enough(cy, g, placed) && placed >= len(g.Groups)
	})},
	{"gangs: one group of a composite one is enough", enough(func(cy *podgroup.Cycle, g *podgroup.Tree, placed int) bool {
		return podgroup.Enough(cy, g, placed) || len(g.Groups) > 0 && placed > 0
	})},
	{"gangs: a composite group is tried before its groups have their pods", ofCycle(func(a *podgroup.Algorithm) {
		a.Waits = func(cy *podgroup.Cycle) bool { return len(cy.Root.Groups) == 0 && podgroup.Waits(cy) }
	})},
	{"gangs: units go for one group only", ofCycle(func(a *podgroup.Algorithm) {
		a.Helped = func(cy *podgroup.Cycle, p podgroup.Pass) []podgroup.Placement {
			first := cy.Root.Leaves()[slices.IndexFunc(cy.Root.Leaves(), func(g *podgroup.Tree) bool { return g.Has(p.Placed[0].Pod) })]
			return slices.DeleteFunc(slices.Clone(p.Placed), func(at podgroup.Placement) bool { return !first.Has(at.Pod) })
		}
	})},
	{"gangs: no member has to fit if enough are bound", ofCycle(func(a *podgroup.Algorithm) {
		a.Succeeds = func(_ *podgroup.Cycle, enough bool, _ int) bool { return enough }
	})},
	{"gangs: the policy Never means nothing", ofCycle(func(a *podgroup.Algorithm) {
		a.Eligible = func(*podgroup.Cycle) model.Eligibility { return model.Eligibility{OK: true} }
	})},
	{"gangs: preempts again while its victims terminate", ofCycle(func(a *podgroup.Algorithm) {
		a.Ongoing = func(*podgroup.Cycle) bool { return false }
	})},
	{"gangs: waits for pods that terminate on any node", ofCycle(func(a *podgroup.Algorithm) {
		a.Ongoing = func(cy *podgroup.Cycle) bool { return awaits(cy, cy.First.Nodes, cy.OfPods.Awaited) }
	})},
	{"gangs: waits for pods of any priority", ofCycle(func(a *podgroup.Algorithm) {
		a.Ongoing = func(cy *podgroup.Cycle) bool {
			return slices.ContainsFunc(nominated(cy), func(n *filter.Node) bool { return slices.ContainsFunc(n.Pods, cy.OfPods.Awaited) })
		}
	})},
	{"gangs: waits for pods that terminate for another reason", func(r *answers.Rules) {
		r.Awaited = func(p *filter.Pod) bool { return p.DeletionTimestamp != nil }
	}},
	{"gangs: waits for pods that are no longer disruption targets", func(r *answers.Rules) {
		r.Awaited = func(*filter.Pod) bool { return false }
	}},
	{"gangs: pods of the same priority may be preempted", func(r *answers.Rules) {
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool { return u.Priority <= cy.Preemptor.Priority }
	}},
	{"gangs: the own priority of pods counts for whether they may be preempted", func(r *answers.Rules) {
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool {
			return model.Priority(u.Pods[0].Pod) < cy.Preemptor.Priority
		}
	}},
	{"gangs: the domain is the first node", ofCycle(func(a *podgroup.Algorithm) {
		a.Domain = func(cy *podgroup.Cycle) ([]*unit.Unit, string) {
			possible, failure := podgroup.Domain(cy)
			return slices.DeleteFunc(possible, func(u *unit.Unit) bool { return len(u.On(cy.First.Nodes[0])) == 0 }), failure
		}
	})},
	{"gangs: members do not see those placed before", world(func(cy *podgroup.Cycle, m *v1.Pod, _ []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		return podgroup.World(cy, m, nil, gone)
	})},
	{"gangs: what members before it got of devices is free", world(func(cy *podgroup.Cycle, m *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		c := podgroup.World(cy, m, placed, gone)
		c.Extra = cy.Cluster.Extra
		return c
	})},
	{"gangs: nominations of other members count", world(func(cy *podgroup.Cycle, m *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		c := podgroup.World(cy, m, placed, gone)
		for i, p := range c.Pods {
			at := slices.IndexFunc(cy.Members, func(m *v1.Pod) bool { return m.Name == p.Name && m.Namespace == p.Namespace })
			if at >= 0 && p.Spec.NodeName == "" {
				c.Pods[i] = cy.Members[at]
			}
		}
		return c
	})},
	{"gangs: of a unit only the first pod goes", world(func(cy *podgroup.Cycle, m *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		var firsts []*unit.Unit
		for _, u := range gone {
			firsts = append(firsts, variant.Changed(u, func(u *unit.Unit) { u.Pods = u.Pods[:1] }))
		}
		return podgroup.World(cy, m, placed, firsts)
	})},
	{"gangs: nothing is given back", refused(func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, _ []*unit.Unit, from int) []podgroup.Refusal {
		return []podgroup.Refusal{{At: 0, Verdict: &model.Verdict{Plugin: "NodeResourcesFit"}}}
	})},
	{"gangs: everything is given back", refused(func(*podgroup.Cycle, []podgroup.Placement, []*unit.Unit, []*unit.Unit, int) []podgroup.Refusal {
		return []podgroup.Refusal{{At: -1}}
	})},
	{"gangs: only the first member is asked", refused(func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		return podgroup.Refused(cy, placed[:1], emptied, gone, from)
	})},
	{"gangs: only as many members are asked as have to fit", refused(func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		return podgroup.Refused(cy, placed[:min(cy.Root.Least, len(placed))], emptied, gone, from)
	})},
	{"gangs: members are asked without those placed before", refused(func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, _ int) []podgroup.Refusal {
		for i, at := range placed {
			if r := podgroup.Refused(cy, []podgroup.Placement{at}, emptied, gone, 0); r[0].At >= 0 {
				return []podgroup.Refusal{{At: i, Verdict: r[0].Verdict}}
			}
		}
		return []podgroup.Refusal{{At: -1}}
	})},
	{"gangs: what is not given back is forgotten", refused(func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		return podgroup.Refused(cy, placed, emptied, gone[max(0, len(gone)-1):], from)
	})},
	{"gangs: violating units are given back last", func(r *answers.Rules) {
		r.TakeBudgets = func([]int32, []int) int { return -1 }
	}},
	{"gangs: victims that terminate are deleted again", actuate(func(a *model.Actuation, victims []*unit.Unit) {
		a.Deleted = nil
		for _, u := range victims {
			for _, p := range u.Pods {
				a.Deleted = append(a.Deleted, p.Key)
			}
		}
		slices.Sort(a.Deleted)
	})},
	{"gangs: victims are not marked", actuate(func(a *model.Actuation, _ []*unit.Unit) { a.DisruptionTarget = nil })},
	{"gangs: the first victim stays", actuate(func(a *model.Actuation, _ []*unit.Unit) { a.Deleted = a.Deleted[min(1, len(a.Deleted)):] })},
	{"gangs: placed members are not nominated", ofCycle(func(a *podgroup.Algorithm) {
		a.Nominate = func(*podgroup.Cycle, *v1.Pod, podgroup.Course) string { return "" }
	})},
	{"gangs: a group that is not helped stays nominated", ofCycle(func(a *podgroup.Algorithm) {
		a.Nominate = func(cy *podgroup.Cycle, m *v1.Pod, course podgroup.Course) string {
			if course.Preempts {
				return podgroup.Nominate(cy, m, course)
			}
			return m.Status.NominatedNodeName
		}
	})},
}

func ofCycle(change func(*podgroup.Algorithm)) func(*answers.Rules) {
	return func(r *answers.Rules) { change(r.OfGroups) }
}

// failsBut makes groups not fail for a reason.
func failsBut(reason string) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) {
		a.Fails = func(cy *podgroup.Cycle) []string {
			return slices.DeleteFunc(podgroup.Fails(cy), func(r string) bool { return r == reason })
		}
	})
}

func enough(is func(cy *podgroup.Cycle, g *podgroup.Tree, placed int) bool) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) { a.Enough = is })
}

func world(of func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) { a.World = of })
}

func refused(is func(*podgroup.Cycle, []podgroup.Placement, []*unit.Unit, []*unit.Unit, int) []podgroup.Refusal) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) { a.Refused = is })
}

func actuate(change func(a *model.Actuation, victims []*unit.Unit)) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) {
		a.Actuate = func(cy *podgroup.Cycle, placed []podgroup.Placement, victims []*unit.Unit) *model.Actuation {
			written := podgroup.Actuate(cy, placed, victims)
			change(written, victims)
			return written
		}
	})
}

// nominated are the nodes to which members are nominated.
func nominated(cy *podgroup.Cycle) (nodes []*filter.Node) {
	for _, m := range cy.Members {
		if n := cy.First.Node(m.Status.NominatedNodeName); n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// awaits tells whether a pod of lower priority on one of the nodes is awaited.
func awaits(cy *podgroup.Cycle, nodes []*filter.Node, awaited func(*filter.Pod) bool) bool {
	return slices.ContainsFunc(nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return p.Priority < cy.Priority() && awaited(p) })
	})
}
