package podgroup_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// The topology domains of a group, in the cluster of cycleOf.
func TestTopology(t *testing.T) {
	group, all := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "all")
	member := mk.Pod("a", 1, mk.Member("g"))
	inEast := podgroup.TopologyDomain{Name: "e", Group: all, Nodes: []string{"n1", "n2"}, In: &podgroup.TopologyDomain{}}
	for _, tt := range []struct {
		name  string
		key   string
		parts []any
		in    podgroup.TopologyDomain
		want  []string // path: nodes
	}{
		{"without a constraint", group, []any{mk.Group("g", 1)}, podgroup.TopologyDomain{}, []string{": "}},
		{"with no key", group, []any{mk.Group("g", 1, func(g *schedulingv1beta1.PodGroup) {
			g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{}
		})}, podgroup.TopologyDomain{}, []string{": "}},
		{"a composite group with no key", all, []any{mk.Group("g", 1, mk.PartOf("all")), groups(1, func(g *schedulingv1alpha3.CompositePodGroup) {
			g.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{}
		})}, podgroup.TopologyDomain{}, []string{": "}},
		{"by zone", group, []any{mk.Group("g", 1, inOne("zone"))}, podgroup.TopologyDomain{}, []string{"e: n1 n2", "w: n3"}},
		{"by a label that no node has", group, []any{mk.Group("g", 1, inOne("row"))}, podgroup.TopologyDomain{}, nil},
		{"while the gate is off", group, []any{mk.Group("g", 1, inOne("zone")), model.Settings{FeatureGates: map[string]bool{model.GateWorkload: true}}}, podgroup.TopologyDomain{}, []string{": "}},
		{"where a member runs", group, []any{mk.Group("g", 1, inOne("zone")), mk.Pod("b", 1, mk.Member("g"), mk.On("n2"))}, podgroup.TopologyDomain{}, []string{"e: n1 n2"}},
		{"where members run apart", group, []any{mk.Group("g", 1, inOne("rack")), mk.Pod("b", 1, mk.Member("g"), mk.On("n1")), mk.Pod("c", 1, mk.Member("g"), mk.On("n2"))}, podgroup.TopologyDomain{}, nil},
		{"of a composite group", all, []any{mk.Group("g", 1, mk.PartOf("all")), groups(1, allInOne("zone"))}, podgroup.TopologyDomain{}, []string{"e: n1 n2", "w: n3"}},
		{"where a member of one of its groups runs", all, []any{mk.Group("g", 1, mk.PartOf("all")), groups(1, allInOne("rack")), mk.Pod("b", 1, mk.Member("g"), mk.On("n2"))},
			podgroup.TopologyDomain{}, []string{"e2: n2"}},
		{"within that of the group above", group, []any{mk.Group("g", 1, inOne("rack"))}, inEast, []string{"e/e1: n1", "e/e2: n2"}},
		{"that of the group above", group, []any{mk.Group("g", 1)}, inEast, []string{"e: n1 n2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cy := cycleOf(tt.key, append([]any{member}, tt.parts...)...)
			domains, failure := podgroup.Topology(cy, cy.Root, tt.in)
			assert.Empty(t, failure)
			var got []string
			for _, d := range domains {
				got = append(got, strings.Join(d.Path(), "/")+": "+strings.Join(d.Nodes, " "))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestHasNode(t *testing.T) {
	some := podgroup.TopologyDomain{Nodes: []string{"n1", "n2"}}
	assert.True(t, some.Has("n2"))
	assert.False(t, some.Has("n3"))
	assert.True(t, podgroup.TopologyDomain{}.Has("n3"), "any node may do")
	assert.False(t, podgroup.TopologyDomain{Nodes: []string{}}.Has("n3"), "no node may do")
}

// A member that is placed in a domain is not nominated elsewhere; nobody else notices.
func TestSeenNomination(t *testing.T) {
	some := podgroup.TopologyDomain{Nodes: []string{"n1", "n2"}}
	for _, tt := range []struct {
		name       string
		in         podgroup.TopologyDomain
		node, want string
	}{
		{"to none", some, "", ""},
		{"to a node of the domain", some, "n2", "n2"},
		{"elsewhere", some, "n3", ""},
		{"any node may do", podgroup.TopologyDomain{}, "n3", "n3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 1, mk.Nominated(tt.node)), mk.Node("n1", "4"))
			seen := tt.in.Seen(c)
			assert.Equal(t, tt.want, seen.Preemptor.Status.NominatedNodeName)
			assert.Equal(t, "p", seen.Preemptor.Name)
			assert.Equal(t, c.Nodes, seen.Nodes)
			assert.Equal(t, tt.node, c.Preemptor.Status.NominatedNodeName)
		})
	}
}

// Of the nodes n1 to n4, n1 and n3 have room.
func TestOnlyInDomain(t *testing.T) {
	const elsewhere = "TopologyPlacementGenerator"
	c := mk.Cluster(mk.Pod("p", 1, mk.CPU("2")), mk.Node("n1", "2"), mk.Node("n2", "2"), mk.Node("n3", "2"), mk.Node("n4", "2"),
		mk.Pod("x", 0, mk.CPU("1"), mk.On("n2")), mk.Pod("y", 0, mk.CPU("1"), mk.On("n4")))
	some := podgroup.TopologyDomain{Nodes: []string{"n1", "n2"}}
	for _, tt := range []struct {
		name     string
		in       podgroup.TopologyDomain
		fits     []string
		verdicts map[string]string // the plugin, of a node that does not fit
		within   map[string]string // likewise, of nodes of the domain
		nodes    []string          // of the domain
	}{
		{"any node may do", podgroup.TopologyDomain{}, []string{"n1", "n3"}, map[string]string{"n2": "NodeResourcesFit", "n4": "NodeResourcesFit"},
			map[string]string{"n2": "NodeResourcesFit", "n4": "NodeResourcesFit"}, []string{"n1", "n2", "n3", "n4"}},
		{"some may", some, []string{"n1"}, map[string]string{"n2": "NodeResourcesFit", "n3": elsewhere, "n4": elsewhere}, map[string]string{"n2": "NodeResourcesFit"}, []string{"n1", "n2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plugins := func(d *model.Decision) map[string]string {
				all := map[string]string{}
				for node, v := range d.Verdicts {
					all[node] = v.Plugin
					assert.Equal(t, v.Plugin == elsewhere, v.Unresolvable, "whether preemption on %s cannot help", node)
				}
				return all
			}
			nodes := func(d *model.Decision) (all []string) {
				for _, n := range d.Cycle.Nodes {
					all = append(all, n.Name)
				}
				return all
			}
			d := tt.in.Only(model.Documented()).Decide(c)
			assert.Equal(t, tt.fits, d.Fits)
			assert.Equal(t, tt.verdicts, plugins(d))
			within := tt.in.Within(d)
			assert.Equal(t, tt.within, plugins(within))
			assert.Equal(t, tt.nodes, nodes(within))
			assert.Equal(t, tt.verdicts, plugins(d), "the decision stays as it is")
			assert.Len(t, nodes(d), len(c.Nodes))
		})
	}

	t.Run("the filters fail", func(t *testing.T) {
		fails := *model.Documented()
		fails.Filter = func(*model.Cycle) (map[string]*model.Verdict, string) { return nil, "no answer" }
		d := some.Only(&fails).Decide(c)
		assert.Equal(t, []string{"no answer"}, d.Errors)
	})
}
