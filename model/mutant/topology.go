package mutant

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofTopology are wrong about the topology domains of pod groups.
var ofTopology = []breaks{
	{"gangs: any node may do", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		return []podgroup.TopologyDomain{{}}
	})},
	{"gangs: nodes without the label are a domain", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		all := domains(cy, t, in)
		if podgroup.TopologyKey(cy.Cluster, t.Key) == "" {
			return all
		}
		rest := podgroup.TopologyDomain{Nodes: []string{}, Group: t.Key, In: &in}
		for _, n := range cy.First.Nodes {
			if len(cy.Bound) == 0 && !slices.ContainsFunc(all, func(d podgroup.TopologyDomain) bool { return d.Has(n.Name) }) {
				rest.Nodes = append(rest.Nodes, n.Name)
			}
		}
		return append(all, rest)
	})},
	{"gangs: where members run does not matter", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		return domains(cy, withoutRunning(t), in)
	})},
	{"gangs: where members of the groups below run does not matter", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		return domains(cy, variant.Changed(t, func(t *podgroup.Tree) { t.Groups = nil }), in)
	})},
	{"gangs: one domain only is tried", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		return slices.Clip(domains(cy, t, in))[:min(1, len(domains(cy, t, in)))]
	})},
	{"gangs: each node is a domain", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) (all []podgroup.TopologyDomain) {
		for _, d := range domains(cy, t, in) {
			if d.Group != t.Key {
				return []podgroup.TopologyDomain{d}
			}
			for _, n := range d.Nodes {
				all = append(all, *variant.Changed(&d, func(d *podgroup.TopologyDomain) { d.Nodes = []string{n} }))
			}
		}
		return all
	})},
	{"gangs: the gate of topology constraints does not matter", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		return domains(variant.Changed(cy, func(cy *podgroup.Cycle) {
			c := *cy.Cluster
			c.Settings.FeatureGates = maps.Clone(c.Settings.FeatureGates)
			c.Settings.FeatureGates[model.GateTopology] = true
			cy.Cluster = &c
		}), t, in)
	})},
	{"gangs: the constraint of a composite group does not matter", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		if len(t.Groups) > 0 {
			return []podgroup.TopologyDomain{in}
		}
		return domains(cy, t, in)
	})},
	{"gangs: the constraint of a group within another does not matter", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		if t.Key != cy.Root.Key {
			return []podgroup.TopologyDomain{in}
		}
		return domains(cy, t, in)
	})},
	{"gangs: the domains of a group within another may be elsewhere", topology(func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
		anywhere := in
		anywhere.Nodes = nil
		return domains(cy, t, anywhere)
	})},
}

// domains are those of a group by the rules.
func domains(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) []podgroup.TopologyDomain {
	all, _ := podgroup.Topology(cy, t, in)
	return all
}

// withoutRunning is a tree of which no member runs.
func withoutRunning(t *podgroup.Tree) *podgroup.Tree {
	return variant.Changed(t, func(t *podgroup.Tree) {
		t.Bound, t.Groups = []*v1.Pod(nil), slices.Clone(t.Groups)
		for i, g := range t.Groups {
			t.Groups[i] = withoutRunning(g)
		}
	})
}

func topology(is func(*podgroup.Cycle, *podgroup.Tree, podgroup.TopologyDomain) []podgroup.TopologyDomain) func(*answers.Rules) {
	return ofCycle(func(a *podgroup.Algorithm) {
		a.Topology = func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) ([]podgroup.TopologyDomain, string) {
			return is(cy, t, in), ""
		}
	})
}
