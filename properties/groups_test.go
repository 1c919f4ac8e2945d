package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/mutant"
)

// node is a node with a name to select it by, in a zone.
func node(name, cpu, zone string, change ...func(*v1.Node)) *v1.Node {
	return mk.Node(name, cpu, append([]func(*v1.Node){func(n *v1.Node) {
		n.Labels = map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: zone}
	}}, change...)...)
}

// only has a pod run on no other node.
func only(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node} }
}

// noPriority takes the priority from a group.
func noPriority(g *schedulingv1beta1.PodGroup) { g.Spec.Priority = nil }

// singly makes a group whose pods are disrupted independently.
func singly(g *schedulingv1beta1.PodGroup) {
	g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
}

// spreadOver has pods of an app spread evenly over zones.
func spreadOver(app string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: mk.ForApp(app),
		}}
	}
}

// grouped are clusters with pod groups, and what preempting for pod p has to come to.
// It needs one CPU on n unless told otherwise. m and o are other nodes.
var grouped = []struct {
	name    string
	objects []any
	p       []func(*v1.Pod)
	victims []string // none: nobody is preempted
}{
	{"a group goes as a whole", []any{mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.CPU("1"))},
		nil, []string{"u1", "u2"}},
	{"a pod of a group goes by itself, by default", []any{mk.Group("u", 0),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.CPU("1"))},
		nil, []string{"u1"}},
	{"a pod of a group goes by itself, where that says so", []any{mk.Group("u", 0, singly),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.CPU("1"))},
		nil, []string{"u1"}},
	{"a pod of a group that does not exist goes by itself", []any{
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.CPU("1"))},
		nil, []string{"u1"}},
	{"the priority of the group protects its pods", []any{mk.Group("u", 20), mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2"))},
		nil, nil},
	{"the priority of its pods does not", []any{mk.Group("u", 0), mk.Pod("u1", 20, mk.On("n"), mk.Member("u"), mk.CPU("2"))},
		nil, []string{"u1"}},
	{"a group without a priority has 0", []any{mk.Group("u", 0, noPriority), mk.Pod("u1", 20, mk.On("n"), mk.Member("u"), mk.CPU("2"))},
		nil, []string{"u1"}},
	{"a group is more important than an older pod", []any{mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1"), mk.Started(5)), mk.Pod("a", 0, mk.On("n"), mk.CPU("1"), mk.Started(1))},
		nil, []string{"a"}},
	{"a group of groups is more important than a larger, older one of pods", []any{
		mk.Composite("c", "", 0, true), mk.Group("g", 0, mk.PartOf("c")), mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("g1", 0, mk.On("n"), mk.Member("g"), mk.CPU("1"), mk.Started(5)),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1"), mk.Started(1)), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.Started(1))},
		nil, []string{"u1", "u2"}},
	{"a larger group is more important than an older one", []any{mk.Group("u", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1"), mk.Started(5)), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.Started(5)),
		mk.Pod("w1", 0, mk.On("n"), mk.Member("w"), mk.CPU("1"), mk.Started(1))},
		nil, []string{"w1"}},
	{"a group is as old as its first pod", []any{mk.Group("u", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1"), mk.Started(9)), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.Started(1)),
		mk.Pod("w1", 0, mk.On("n"), mk.Member("w"), mk.CPU("1"), mk.Started(5)), mk.Pod("w2", 0, mk.On("m"), mk.Member("w"), mk.Started(5))},
		nil, []string{"w1", "w2"}},
	{"all children of a group of groups go together", []any{
		mk.Composite("c", "", 0, true), mk.Group("g", 0, mk.PartOf("c"), singly), mk.Group("h", 0, mk.PartOf("c"), mk.AsAWhole),
		mk.Pod("g1", 0, mk.On("n"), mk.Member("g"), mk.CPU("2")), mk.Pod("g2", 0, mk.On("m"), mk.Member("g")), mk.Pod("h1", 0, mk.On("o"), mk.Member("h"))},
		nil, []string{"g1", "g2", "h1"}},
	{"the children of a group of groups go by themselves, as wholes", []any{
		mk.Composite("c", "", 0, false), mk.Group("g", 0, mk.PartOf("c"), mk.AsAWhole), mk.Group("h", 0, mk.PartOf("c"), mk.AsAWhole),
		mk.Pod("g1", 0, mk.On("n"), mk.Member("g"), mk.CPU("2")), mk.Pod("g2", 0, mk.On("m"), mk.Member("g")), mk.Pod("h1", 0, mk.On("o"), mk.Member("h"))},
		nil, []string{"g1", "g2"}},
	{"pods of one of two groups of a group of groups, three levels up", []any{
		mk.Composite("top", "", 0, true), mk.Composite("c", "top", 0, false), mk.Group("g", 0, mk.PartOf("c")), mk.Group("h", 0, mk.PartOf("top")),
		mk.Pod("g1", 0, mk.On("n"), mk.Member("g"), mk.CPU("2")), mk.Pod("h1", 0, mk.On("o"), mk.Member("h"))},
		nil, []string{"g1", "h1"}},
	{"a pod whose budget is spent has its group reprieved first", []any{mk.Group("u", 0, mk.AsAWhole), mk.Budget("b", 0, mk.ForApp("x")),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.App("x")),
		mk.Pod("a", 1, mk.On("n"), mk.CPU("1"))},
		nil, []string{"a"}},
	{"each pod of a group may violate a budget", []any{mk.Group("u", 0, mk.AsAWhole), mk.Budget("b", 0, mk.ForApp("x")),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.App("x"), mk.CPU("1")), mk.Pod("u2", 0, mk.On("n"), mk.Member("u"), mk.App("x"), mk.CPU("1")),
		mk.Pod("a", 5, mk.On("m"), mk.App("x"), mk.CPU("2")), mk.Pod("full", 50, mk.On("o"), mk.CPU("2"))},
		[]func(*v1.Pod){mk.CPU("2"), func(p *v1.Pod) { p.Spec.NodeSelector = nil }}, []string{"a"}},
	{"a pod on another node keeps the preemptor away no more", []any{mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.App("x"))},
		[]func(*v1.Pod){mk.Away(v1.LabelTopologyZone, "x")}, []string{"u1", "u2"}},
	{"a pod on another node has its group go", []any{mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.App("x")), mk.Pod("a", 0, mk.On("n"), mk.CPU("1"))},
		[]func(*v1.Pod){mk.Away(v1.LabelTopologyZone, "x")}, []string{"u1", "u2"}},
	{"a pod on another node no longer counts for the spread", []any{mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.App("x"))},
		[]func(*v1.Pod){mk.App("x"), spreadOver("x")}, []string{"u1", "u2"}},
	{"a claim that a pod on another node uses is free", []any{mk.Group("u", 0, mk.AsAWhole), mk.Claim("c", mk.ForOnePod), mk.Volume("c"),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.Mounts("c"))},
		[]func(*v1.Pod){mk.Mounts("c")}, []string{"u1", "u2"}},
	{"a pod waits for a pod of a group of lower priority", []any{mk.Group("u", 0),
		mk.Pod("u1", 20, mk.On("n"), mk.Member("u"), mk.CPU("2"), mk.ByPreemption)},
		[]func(*v1.Pod){mk.Nominated("n")}, nil},
	{"as few groups go as possible", []any{mk.Group("u", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("500m"), mk.Started(1)), mk.Pod("u2", 0, mk.On("n"), mk.Member("u"), mk.CPU("500m"), mk.Started(1)),
		mk.Pod("w1", 0, mk.On("n"), mk.Member("w"), mk.CPU("900m"), mk.Started(5)), mk.Pod("w2", 0, mk.On("m"), mk.Member("w"), mk.Started(5)), mk.Pod("a", 0, mk.On("n"), mk.CPU("100m"))},
		nil, []string{"w1", "w2", "a"}},
}

// groupedCluster is a cluster of grouped.
func groupedCluster(i int) *model.Cluster {
	p := mk.Pod("p", 10, append([]func(*v1.Pod){mk.CPU("1"), only("n")}, grouped[i].p...)...)
	return mk.Cluster(p, append(grouped[i].objects, node("n", "2", "z"), node("m", "2", "z"), node("o", "2", "y"), mk.WithGroups())...)
}

// kube-scheduler preempts pods of groups as the documents tell, and each model that is
// wrong about them in one place shows.
func TestGroupsArePreempted(t *testing.T) {
	checker, alive := checktest.Checker(t), mutant.OfGroups()
	for i, tt := range grouped {
		t.Run(tt.name, func(t *testing.T) {
			r, err := checker.Check(context.Background(), groupedCluster(i))
			require.NoError(t, err)
			require.Empty(t, r.Unmodelled)
			require.Empty(t, r.Unexplained())
			var victims []string
			for _, c := range r.Decision.Choices() {
				for _, key := range c.Outcome.Victims {
					victims = append(victims, key[len("default/"):])
				}
			}
			assert.ElementsMatch(t, tt.victims, victims)
			alive = slices.DeleteFunc(alive, func(m mutant.Mutant) bool {
				d, err := m.Decide(r.Cluster)
				require.NoError(t, err)
				return d.Admits(r.Observation) != nil
			})
		})
	}
	for _, m := range alive {
		t.Errorf("not caught: %s", m.Name)
	}
}
