package podgroup_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// unitsOf are the units of these keys that may be preempted.
func unitsOf(cy *podgroup.Cycle, keys ...string) (units []*unit.Unit) {
	possible, _ := podgroup.Domain(cy)
	for _, key := range keys {
		for _, u := range possible {
			if u.Key == "default/"+key {
				units = append(units, u)
			}
		}
	}
	return units
}

// on places members on a node, in turn.
func on(node string, members ...*v1.Pod) (placed []podgroup.Placement) {
	for _, m := range members {
		placed = append(placed, podgroup.Placement{Pod: m, Node: node})
	}
	return placed
}

// c is tried once a is placed, and u is gone: b waits without its nomination, and c keeps its own.
func TestWorld(t *testing.T) {
	a, b, c := mk.Pod("a", 5, mk.Member("g")), mk.Pod("b", 5, mk.Member("g"), mk.Nominated("m")), mk.Pod("c", 5, mk.Member("g"), mk.Nominated("n"))
	cy := cycle(mk.Group("g", 5), mk.Group("u", 1, mk.AsAWhole), mk.Node("n", "1"), mk.Node("m", "1"),
		a, mk.Pod("u1", 1, mk.Member("u"), mk.On("n")), b, mk.Pod("stays", 1, mk.On("n")), c,
		mk.Pod("u2", 1, mk.Member("u"), mk.On("m")), mk.Pod("other", 5, mk.Nominated("n")))
	for _, in := range []func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster{podgroup.World, podgroup.Again} {
		world := in(cy, c, on("m", a), unitsOf(cy, "u"))
		require.NotNil(t, world)
		assert.Equal(t, c, world.Preemptor)
		var pods []string
		for _, p := range world.Pods {
			pods = append(pods, fmt.Sprintf("%s on %q, nominated to %q", p.Name, p.Spec.NodeName, p.Status.NominatedNodeName))
		}
		assert.Equal(t, []string{`a on "m", nominated to ""`, `b on "", nominated to ""`, `stays on "n", nominated to ""`, `other on "", nominated to "n"`}, pods)
	}
	assert.Empty(t, a.Spec.NodeName, "the cluster stays as it is")
	assert.Equal(t, "m", b.Status.NominatedNodeName, "the cluster stays as it is")
}

// u and w were taken, a came to n and b to m, and w was given back. A pod of u is on no node that exists.
func TestMoves(t *testing.T) {
	a, b, c := mk.Pod("a", 5, mk.Member("g")), mk.Pod("b", 5, mk.Member("g")), mk.Pod("c", 5, mk.Member("g"))
	cy := cycle(mk.Group("g", 5), mk.Group("u", 1, mk.AsAWhole), mk.Node("n", "1"), mk.Node("m", "1"),
		a, mk.Pod("lost", 1, mk.Member("u"), mk.On("gone")), mk.Pod("u1", 1, mk.Member("u"), mk.On("n")), mk.Pod("w", 1, mk.On("n")), b, c,
		mk.Pod("u2", 1, mk.Member("u"), mk.On("n")), mk.Pod("u3", 1, mk.Member("u"), mk.On("m")))
	placed := append(on("n", a), on("m", b)...)
	emptied, gone := unitsOf(cy, "u", "w"), unitsOf(cy, "u")
	world := cy.CycleOf(cy.OfPods, podgroup.World(cy, c, placed, gone), placed, emptied, gone)
	moves := map[string][]string{}
	for _, n := range world.Nodes {
		for _, move := range n.Moves {
			what := "-"
			if move.Back {
				what = "+"
			}
			moves[n.Name] = append(moves[n.Name], what+move.Pod.Name)
		}
	}
	assert.Equal(t, map[string][]string{"n": {"-u1", "-u2", "-w", "+a", "+w"}, "m": {"-u3", "+b"}}, moves)
}

// a and b have a node with room for two once x and y are gone. Each is asked with those before it in place.
func TestRefused(t *testing.T) {
	a, b := mk.Pod("a", 5, mk.Member("g"), mk.CPU("1")), mk.Pod("b", 5, mk.Member("g"), mk.CPU("1"))
	cy := cycle(mk.Group("g", 5), a, b, mk.Node("n", "2"), mk.Pod("x", 1, mk.CPU("1"), mk.On("n")), mk.Pod("y", 1, mk.CPU("1"), mk.On("n")))
	for _, tt := range []struct {
		name string
		gone []string
		from int
		at   int
	}{
		{"both are gone", []string{"x", "y"}, 0, -1},
		{"one is back", []string{"x"}, 0, 1},
		{"both are back", nil, 0, 0},
		{"both are back, and the first is not asked", nil, 1, 1},
		{"both are back, and nobody is asked", nil, 2, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refusals := podgroup.Refused(cy, on("n", a, b), unitsOf(cy, "x", "y"), unitsOf(cy, tt.gone...), tt.from)
			require.Len(t, refusals, 1)
			assert.Equal(t, tt.at, refusals[0].At)
			if tt.at < 0 {
				assert.Nil(t, refusals[0].Verdict)
			} else if assert.NotNil(t, refusals[0].Verdict) {
				assert.Equal(t, "NodeResourcesFit", refusals[0].Verdict.Plugin)
			}
		})
	}
}

// A placed member is asked on a node from which all units were taken, and to which those that are not gone were given back.
func TestRefusedAfterMoves(t *testing.T) {
	a := mk.Pod("a", 5, mk.Member("g"))
	cy := cycle(mk.Group("g", 5), a, mk.Node("n", "1"), mk.Pod("x", 1, mk.On("n")), mk.Pod("y", 1, mk.On("n")))
	ofPods := *cy.OfPods
	var moves []string
	ofPods.Fits = func(cy *model.Cycle, n *filter.Node, v filter.View) *model.Verdict {
		for _, move := range v.Moves {
			moves = append(moves, fmt.Sprint(move.Pod.Name, " back: ", move.Back))
		}
		return model.Fits(cy, n, v)
	}
	cy.OfPods = &ofPods
	podgroup.Refused(cy, on("n", a), unitsOf(cy, "x", "y"), unitsOf(cy, "x"), 0)
	assert.Equal(t, []string{"x back: false", "y back: false", "y back: true"}, moves)
}

// A pod asks for node n by name, or for a claim. Both nodes are cordoned, and filters before that for affinity say so where they are asked.
func TestFitsAt(t *testing.T) {
	cordoned := func(n *v1.Node) { n.Spec.Unschedulable = true }
	onlyN := func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"n"}}}}}}}}
	}
	for _, tt := range []struct {
		name   string
		pod    *v1.Pod
		plugin string
	}{
		{"left out", mk.Pod("p", 1, onlyN), "NodeAffinity"},
		{"left out, and nominated elsewhere", mk.Pod("p", 1, onlyN, mk.Nominated("n")), "NodeAffinity"},
		{"a nominated node is asked about even if it is left out", mk.Pod("p", 1, onlyN, mk.Nominated("m")), "NodeUnschedulable"},
		{"not left out", mk.Pod("p", 1), "NodeUnschedulable"},
		{"rejected whatever the node", mk.Pod("p", 1, mk.Mounts("missing")), "VolumeRestrictions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := podgroup.FitsAt(model.Documented().NewCycle(mk.Cluster(tt.pod, mk.Node("n", "1", cordoned), mk.Node("m", "1", cordoned))), "m")
			if assert.NotNil(t, v) {
				assert.Equal(t, tt.plugin, v.Plugin)
			}
		})
	}
	assert.Nil(t, podgroup.FitsAt(model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 1, onlyN), mk.Node("n", "1"))), "n"))
}

// Of the nodes of all members pods of lower priority lose their nominations, and each victim is deleted.
func TestActuate(t *testing.T) {
	a, b, c := mk.Pod("a", 5, mk.Member("g")), mk.Pod("b", 5, mk.Member("g")), mk.Pod("c", 5, mk.Member("g"), mk.Nominated("n"))
	cy := cycle(mk.Group("g", 5), a, b, c, mk.Group("u", 1, mk.AsAWhole), mk.Node("n", "1"), mk.Node("m", "1"), mk.Node("o", "1"),
		mk.Pod("u1", 1, mk.Member("u"), mk.On("n")), mk.Pod("u2", 1, mk.Member("u"), mk.On("m")), mk.Pod("x", 1, mk.On("n")),
		mk.Pod("second", 4, mk.Nominated("n")), mk.Pod("first", 4, mk.Nominated("m")), mk.Pod("equal", 5, mk.Nominated("n")), mk.Pod("elsewhere", 4, mk.Nominated("o")))
	assert.Equal(t, &model.Actuation{
		Deleted:          []string{"default/u1", "default/u2", "default/x"},
		DisruptionTarget: []string{"default/u1", "default/u2", "default/x"},
		Cleared:          []string{"default/first", "default/second"},
	}, podgroup.Actuate(cy, append(on("n", a, b), on("m", c)...), unitsOf(cy, "x", "u")))
}

// Of members that are not bound only those are nominated that units are preempted for.
func TestNominate(t *testing.T) {
	a, b := mk.Pod("a", 5), mk.Pod("b", 5, mk.Nominated("n"))
	second := append(on("m", mk.Pod("other", 5)), on("n", a)...)
	assert.Equal(t, "n", podgroup.Nominate(nil, a, podgroup.Course{Second: second, Preempts: true}))
	assert.Empty(t, podgroup.Nominate(nil, b, podgroup.Course{Second: second, Preempts: true}), "it is not helped")
	assert.Empty(t, podgroup.Nominate(nil, a, podgroup.Course{Second: second}), "nobody is preempted")
}
