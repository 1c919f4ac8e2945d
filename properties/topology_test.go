package properties_test

import (
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// inOne has all pods of a group be on nodes that share the value of a label.
func inOne(label string) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: label}}}
	}
}

// zoned is a group like gangs have, whose pods have to be in one zone.
func zoned(minCount int32) *schedulingv1beta1.PodGroup {
	return mk.Group("g", 10, gang(minCount), inOne(v1.LabelTopologyZone))
}

// treeIn is tree, all of whose pods have to be on nodes that share the value of a label.
func treeIn(minGroupCount int32, label string) *schedulingv1alpha3.CompositePodGroup {
	c := tree(minGroupCount)
	c.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: label}}}
	return c
}

// leafIn is leaf with such a constraint of its own.
func leafIn(name string, minCount int32, label string) *schedulingv1beta1.PodGroup {
	return mk.Group(name, 10, gang(minCount), mk.PartOf("c"), inOne(label))
}

// rack puts a node in one.
func rack(name string) func(*v1.Node) { return func(n *v1.Node) { n.Labels["rack"] = name } }

// nowhere is a node that is in no zone.
func nowhere(name, cpu string) *v1.Node { return mk.Node(name, cpu) }

// bothInZone has both groups of a composite one be scheduled, in one zone.
func bothInZone(c *schedulingv1alpha3.CompositePodGroup) {
	c.Spec.SchedulingPolicy, c.Spec.SchedulingConstraints = tree(2).Spec.SchedulingPolicy, treeIn(2, v1.LabelTopologyZone).Spec.SchedulingConstraints
}

// inRegion is where all nodes of the clusters are.
func inRegion(n *v1.Node) { n.Labels["region"] = "r" }

// withoutTopology switches the gate off.
func withoutTopology() model.Settings {
	s := mk.WithGroups()
	s.FeatureGates[model.GateTopology], s.FeatureGates[model.GateComposite] = false, false
	return s
}

// zonedGangs are more gangs, with topology constraints.
var zonedGangs = []gangCase{
	{"there is room for one in each zone", parts([]any{zoned(2), node("n", "1", "z"), node("m", "1", "y")}, of("g", "g1", "g2")), "nobody", nil},
	{"there is room for both in one zone", parts([]any{zoned(2), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "y")}, of("g", "g1", "g2")), "fits", nil},
	{"as many as fit in one zone", parts([]any{mk.Group("g", 10, basic, inOne(v1.LabelTopologyZone)), node("n", "1", "z"), node("m", "1", "y")}, of("g", "g1", "g2")), "fits", nil},
	{"one zone is large enough", parts([]any{zoned(2), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "y"),
		on("n", "a", 1), on("m", "b", 1), on("o", "c", 1)}, of("g", "g1", "g2")), "a+b", nil},
	{"either zone is", parts([]any{zoned(2), node("n", "2", "z"), node("m", "2", "y"), on("n", "a", 1), on("n", "b", 1), on("m", "c", 1, mk.CPU("2"))}, of("g", "g1", "g2")), "a+b or c", nil},
	{"no zone is", parts([]any{zoned(3), node("n", "2", "z"), node("m", "2", "y"), on("n", "a", 1), on("m", "b", 1)}, of("g", "g1", "g2", "g3")), "no help", nil},
	{"there is room in another zone than where members run", parts([]any{zoned(1), node("n", "2", "z"), node("m", "2", "y"), on("n", "g0", 10, mk.Member("g")), on("n", "a", 1)}, of("g", "g1")), "a", nil},
	{"there is room where members run", parts([]any{zoned(1), node("n", "1", "z"), node("m", "2", "z"), node("o", "2", "y"), on("n", "g0", 10, mk.Member("g"))}, of("g", "g1")), "fits", nil},
	{"members run in the zone that is full", parts([]any{zoned(1), node("n", "2", "z"), node("m", "2", "y"), on("n", "g0", 10, mk.Member("g")), on("n", "a", 20)}, of("g", "g1")), "nobody", nil},
	{"there is room on a node in no zone", parts([]any{zoned(1), node("n", "1", "z"), nowhere("m", "1"), on("n", "a", 1)}, of("g", "g1")), "a", nil},
	{"there are no zones", parts([]any{zoned(1), nowhere("n", "1"), nowhere("m", "1"), on("n", "a", 1)}, of("g", "g1")), "no help", nil},
	{"members run in two zones", parts([]any{zoned(1), node("n", "1", "z"), node("m", "2", "y"), on("n", "g0", 10, mk.Member("g")), on("m", "g2", 10, mk.Member("g"))}, of("g", "g1")), "fails", []string{"unknown-topology-domain-is-error"}},
	{"a member runs in no zone", parts([]any{zoned(1), nowhere("n", "1"), node("m", "2", "y"), on("n", "g0", 10, mk.Member("g"))}, of("g", "g1")), "fails", []string{"unknown-topology-domain-is-error"}},
	{"a zone is a value of another label", parts([]any{mk.Group("g", 10, gang(2), inOne(v1.LabelHostname)), node("n", "1", "z"), node("m", "1", "z"), node("o", "2", "z"), on("o", "a", 1)}, of("g", "g1", "g2")), "a", nil},
	{"the gate is off", parts([]any{zoned(1), withoutTopology(), node("n", "1", "z"), nowhere("m", "1"), on("n", "a", 1)}, of("g", "g1")), "fits", nil},
	{"a pod of another zone keeps members away from the region", parts([]any{zoned(1), node("n", "1", "z", inRegion), node("m", "1", "y", inRegion), on("n", "a", 1),
		on("m", "b", 20, mk.Away("region", "x")), member("g1", mk.App("x"))}), "no help", nil},
	{"a member is nominated to another zone", parts([]any{zoned(2), node("n", "2", "z"), node("m", "1", "y"), on("n", "a", 1, mk.CPU("2")), member("g1", mk.Nominated("m")), member("g2")}), "a", nil},
	{"a pod of a group that preempts goes with those of other zones", parts([]any{zoned(1), mk.Group("u", 1, mk.AsAWhole), node("n", "1", "z"), node("m", "1", "y"),
		on("n", "u1", 1, mk.Member("u")), on("m", "u2", 1, mk.Member("u"))}, of("g", "g1")), "u1+u2", nil},
	{"a zone for two groups", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "1", "y"), node("o", "1", "y"),
		on("m", "a", 1), on("n", "b", 1)}, of("g", "g1"), of("h", "h1")), "a", nil},
	{"no zone for two groups", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "1", "y")}, of("g", "g1"), of("h", "h1")), "nobody", nil},
	{"no zone for two groups even if emptied", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "1", "y"), on("n", "a", 1)}, of("g", "g1"), of("h", "h1")), "no help", nil},
	{"each of two groups in a zone of its own", parts([]any{tree(2), leafIn("g", 2, v1.LabelTopologyZone), leafIn("h", 2, v1.LabelTopologyZone), node("n", "2", "z"), node("m", "1", "y"), node("o", "1", "y"),
		on("o", "a", 1)}, of("g", "g1", "g2"), of("h", "h1", "h2")), "a", nil},
	{"a group that need not be in one zone beside one that does", parts([]any{tree(2), leafIn("g", 2, v1.LabelTopologyZone), leaf("h", 2), node("n", "2", "z"), node("m", "1", "y"), node("o", "1", "x"),
		on("n", "a", 1)}, of("g", "g1", "g2"), of("h", "h1", "h2")), "a", nil},
	{"racks within a zone", parts([]any{treeIn(2, v1.LabelTopologyZone), leafIn("g", 2, "rack"), leafIn("h", 1, "rack"), node("n", "2", "z", rack("1")), node("m", "1", "y", rack("2")), node("o", "2", "y", rack("3")),
		on("o", "a", 1), on("n", "b", 20)}, of("g", "g1", "g2"), of("h", "h1")), "a", nil},
	{"a rack that is in two zones", parts([]any{treeIn(1, v1.LabelTopologyZone), leafIn("g", 2, "rack"), node("n", "1", "z", rack("1")), node("m", "1", "y", rack("1"))}, of("g", "g1", "g2")), "nobody", nil},
	{"the first group takes the rack that the second one needs", parts([]any{treeIn(2, v1.LabelTopologyZone), leafIn("g", 1, "rack"), leafIn("h", 2, "rack"), node("n", "2", "z", rack("1")), node("m", "1", "z", rack("2")), on("m", "a", 20)}, of("g", "g1"), of("h", "h1", "h2")), "nobody", nil},
	{"a group that runs decides in which zone the other is", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "2", "y"), on("m", "h1", 10, mk.Member("h")), on("m", "a", 1)}, of("g", "g1")), "a", nil},
	{"a zone that is full decides for the zone of the group that runs", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "2", "y"), on("m", "h1", 10, mk.Member("h")), on("m", "a", 20)}, of("g", "g1")), "nobody", nil},
	{"groups of a tree run in two zones", parts([]any{treeIn(2, v1.LabelTopologyZone), leaf("g", 1), leaf("h", 1), node("n", "2", "z"), node("m", "1", "y"), on("m", "h1", 10, mk.Member("h")), on("n", "g2", 10, mk.Member("g"))}, of("g", "g1")), "fails", []string{"unknown-topology-domain-is-error"}},
	{"a group within a tree runs in two zones", parts([]any{tree(1), leafIn("g", 1, v1.LabelTopologyZone), leaf("h", 1), node("n", "3", "z"), node("m", "1", "y"), on("m", "g2", 10, mk.Member("g")), on("n", "g3", 10, mk.Member("g"))}, of("g", "g1"), of("h", "h1")), "fails", []string{"unknown-topology-domain-is-error"}},
	{"a tree within a tree in one zone", parts([]any{tree(2), mk.Composite("in", "c", 10, false, bothInZone), leaf("g", 1), mk.Group("h", 10, gang(1), mk.PartOf("in")), mk.Group("i", 10, gang(1), mk.PartOf("in")),
		node("n", "1", "z"), node("m", "2", "y"), on("m", "a", 1), member("g1", only("n"))}, of("h", "h1"), of("i", "i1")), "a", nil},
	{"a group without nodes of its label", parts([]any{tree(1), leafIn("g", 1, "rack"), leaf("h", 1), node("n", "1", "z"), on("n", "a", 1)}, of("g", "g1"), of("h", "h1")), "a", nil},
}
