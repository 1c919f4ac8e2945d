package properties_test

import (
	v1 "k8s.io/api/core/v1"
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

// nowhere is a node that is in no zone.
func nowhere(name, cpu string) *v1.Node { return mk.Node(name, cpu) }

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
}
