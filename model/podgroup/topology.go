package podgroup

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// TopologyDomain is a set of nodes that all members of a group may be placed in together.
type TopologyDomain struct {
	// Name is the value of the label that its nodes share, and Group the group that says so, as Tree.Key; "" if any node may do.
	Name, Group string
	// Nodes are the names of its nodes; nil: all of the cluster.
	Nodes []string
	// In is the domain of the composite group above that it is part of, if there is one.
	In *TopologyDomain
}

// Path are the names of the domains that it is part of, and its own, from the root of the tree down; nil if any node may do.
func (d TopologyDomain) Path() (names []string) {
	for at := &d; at != nil && at.Group != ""; at = at.In {
		names = append(names, at.Name)
	}
	slices.Reverse(names)
	return names
}

// Has tells whether a node is in the domain.
func (d TopologyDomain) Has(node string) bool {
	return d.Nodes == nil || slices.Contains(d.Nodes, node)
}

// Seen is the cluster of a member that is placed in the domain: a nomination to a node elsewhere does not count.
func (d TopologyDomain) Seen(c *model.Cluster) *model.Cluster {
	if node := c.Preemptor.Status.NominatedNodeName; node == "" || d.Has(node) {
		return c
	}
	world, member := *c, *c.Preemptor
	member.Status.NominatedNodeName = ""
	world.Preemptor = &member
	return &world
}

// Only is an algorithm that places a pod in the domain only. Nodes elsewhere are looked at as ever where they matter for those in it.
func (d TopologyDomain) Only(a *model.Algorithm) *model.Algorithm {
	if d.Nodes == nil {
		return a
	}
	only := *a
	only.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := a.Filter(cy)
		for _, n := range cy.Nodes {
			if failure == "" && !d.Has(n.Name) {
				verdicts[n.Name] = &model.Verdict{Plugin: elsewhere, Unresolvable: true}
			}
		}
		return verdicts, failure
	}
	return &only
}

// elsewhere is the plugin of the verdict on a node outside the domain.
const elsewhere = "TopologyPlacementGenerator"

// Within is of a decision what is about the nodes of the domain. It is to be looked at only: its nodes keep their Index, by which
// verdicts of plugins cannot be found in it.
func (d TopologyDomain) Within(of *model.Decision) *model.Decision {
	if d.Nodes == nil {
		return of
	}
	snapshot, cy, within := *of.Cycle.Snapshot, *of.Cycle, *of
	snapshot.Nodes = slices.DeleteFunc(slices.Clone(snapshot.Nodes), func(n *filter.Node) bool { return !d.Has(n.Name) })
	cy.Snapshot = &snapshot
	within.Cycle, within.Verdicts = &cy, maps.Clone(of.Verdicts)
	maps.DeleteFunc(within.Verdicts, func(n string, _ *model.Verdict) bool { return !d.Has(n) })
	return &within
}

// TopologyKey is the label whose value the nodes of all members of a group have to share (scheduling/v1beta1/types.go and
// scheduling/v1alpha3/types.go, TopologyConstraint); "" if there is none, or if the gate TopologyAwareWorkloadScheduling is off.
func TopologyKey(c *model.Cluster, key string) string {
	if !c.Settings.FeatureGates[model.GateTopology] {
		return ""
	}
	switch g := c.Group(key).(type) { // there is one at most
	case *schedulingv1beta1.PodGroup:
		if s := g.Spec.SchedulingConstraints; s != nil && len(s.Topology) > 0 {
			return s.Topology[0].Key
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if s := g.Spec.SchedulingConstraints; s != nil && len(s.Topology) > 0 {
			return s.Topology[0].Key
		}
	}
	return ""
}

// Topology is where the members of a group may be placed, each by itself: where the label has one value, for each value that there is, and
// of these, if members are bound, those with the nodes of all of them (KEP-5732, "Phase 1: Candidate Placement Generation"); by name,
// as our scheduler is handed them, which is left open. Those of a group within another are within the domain in, which the other is tried
// in (KEP-6012, "CompositePodGroup Scheduling Algorithm": "strictly to nodes within the assumed parent domain scope"). Without
// a constraint it is that domain. No documented rule has a failure.
func Topology(cy *Cycle, t *Tree, in TopologyDomain) (all []TopologyDomain, failure string) {
	key := TopologyKey(cy.Cluster, t.Key)
	if key == "" {
		return []TopologyDomain{in}, ""
	}
	nodes := map[string][]string{}
	for _, n := range cy.First.Nodes {
		if value, labelled := n.Labels[key]; labelled && in.Has(n.Name) {
			nodes[value] = append(nodes[value], n.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		all = append(all, TopologyDomain{Name: name, Group: t.Key, Nodes: nodes[name], In: &in})
	}
	return slices.DeleteFunc(all, func(d TopologyDomain) bool {
		return slices.ContainsFunc(t.Running(), func(p *v1.Pod) bool { return !d.Has(p.Spec.NodeName) })
	}), ""
}

// Compare is what comes of comparing several domains in which a group can be scheduled, one of which is taken: by their scores, which are left
// open (KEP-5732, "Phase 3: Placement Scoring and Selection"). gone are the units without which. No documented rule has a failure.
func Compare(*Cycle, []Scheduled, []*unit.Unit) (failure string) { return "" }
