package unit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

func singly(g *schedulingv1beta1.PodGroup) {
	g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
}

func noPriority(g *schedulingv1beta1.PodGroup) { g.Spec.Priority = nil }

// The clusters are those of upstream's TestGetHighestAllAncestor
// (preemption/types_test.go:41@v1.37.1) and TestGetPodPriority
// (preemption/util_test.go:658@v1.37.1).
func TestGroupsOfAPod(t *testing.T) {
	member := func(p *v1.Pod) { mk.Member("g")(p) }
	for _, tt := range []struct {
		name     string
		pod      *v1.Pod
		groups   []runtime.Object
		gates    map[string]bool
		whole    string
		priority int32
	}{
		{"no group", mk.Pod("p", 10), nil, nil, "", 10},
		{"a group that does not exist", mk.Pod("p", 30, member), nil, nil, "", 30},
		{"a group that does not exist, in one that does", mk.Pod("p", 30, member), []runtime.Object{mk.Composite("c", "", 1, true)}, nil, "", 30},
		{"one by one", mk.Pod("p", 10, member), []runtime.Object{mk.Group("g", 50, singly)}, nil, "", 50},
		{"one by one by default", mk.Pod("p", 10, member), []runtime.Object{mk.Group("g", 50)}, nil, "", 50},
		{"as a whole", mk.Pod("p", 10, member), []runtime.Object{mk.Group("g", 50, mk.AsAWhole)}, nil, "PodGroup default/g", 50},
		{"without a priority", mk.Pod("p", 10, member), []runtime.Object{mk.Group("g", 0, noPriority)}, nil, "", 0},
		{"the group of another namespace", mk.Pod("p", 10, member, mk.In("other")), []runtime.Object{mk.Group("g", 50, mk.AsAWhole)}, nil, "", 10},
		{"groups not known", mk.Pod("p", 10, member), []runtime.Object{mk.Group("g", 50, mk.AsAWhole)}, map[string]bool{unit.GateComposite: true}, "", 10},
		{"one by one in a whole", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 0, singly, mk.PartOf("c")), mk.Composite("c", "", 150, true)}, nil, "CompositePodGroup default/c", 150},
		{"one by one in one by one in a whole", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 0, singly, mk.PartOf("c")), mk.Composite("c", "d", 0, false), mk.Composite("d", "", 250, true)}, nil, "CompositePodGroup default/d", 250},
		{"a whole in a whole", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 0, mk.AsAWhole, mk.PartOf("c")), mk.Composite("c", "", 0, true)}, nil, "CompositePodGroup default/c", 0},
		{"a whole in one by one", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 0, mk.AsAWhole, mk.PartOf("c")), mk.Composite("c", "", 7, false)}, nil, "PodGroup default/g", 7},
		{"in one that does not exist", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 50, mk.AsAWhole, mk.PartOf("c"))}, nil, "PodGroup default/g", 50},
		{"two levels below one that does not exist", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 50, mk.PartOf("c")), mk.Composite("c", "d", 150, true)}, nil, "CompositePodGroup default/c", 150},
		{"groups of groups not known", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 50, mk.PartOf("c")), mk.Composite("c", "", 150, true)}, map[string]bool{unit.GateWorkload: true}, "", 50},
		{"in itself", mk.Pod("p", 10, member),
			[]runtime.Object{mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "d", 2, true), mk.Composite("d", "c", 3, false)}, nil, "CompositePodGroup default/c", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gates := tt.gates
			if gates == nil {
				gates = mk.WithGroups().FeatureGates
			}
			groups := unit.Read(tt.groups, gates)
			whole := ""
			if g := groups.Whole(tt.pod); g != nil {
				whole = g.String()
			}
			assert.Equal(t, tt.whole, whole)
			assert.Equal(t, tt.priority, groups.Priority(tt.pod, model.Priority(tt.pod)))
		})
	}
}

// A group that is disrupted as a whole is one unit, on all nodes where it has pods.
func TestUnits(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.WithGroups(), mk.Group("u", 5, mk.AsAWhole), mk.Group("s", 6, singly),
		mk.Node("n", "1"), mk.Node("m", "1"),
		mk.Pod("u3", 1, mk.On("m"), mk.Member("u"), mk.Started(3)), mk.Pod("a", 1, mk.On("n"), mk.Started(4)),
		mk.Pod("u1", 2, mk.On("n"), mk.Member("u"), mk.Started(1)), mk.Pod("s1", 2, mk.On("n"), mk.Member("s"), mk.Started(2)),
		mk.Pod("gone", 2, mk.On("gone"), mk.Member("u"), mk.Started(5)), mk.Pod("u2", 2, mk.On("n"), mk.Member("u"), mk.Started(7)),
		mk.Pod("waits", 2, mk.Member("u"), mk.Nominated("n")))
	s := model.NewSnapshot(c)
	names := func(pods []*filter.Pod) (names []string) {
		for _, p := range pods {
			names = append(names, p.Name)
		}
		return names
	}
	units := unit.Of(s, c.Groups())
	n, m := s.Nodes[0], s.Nodes[1]
	on := units.On(n)
	if assert.Len(t, on, 3) {
		assert.Equal(t, []string{"a"}, names(on[0].Pods))
		assert.Equal(t, unit.Pod, on[0].Kind)
		assert.Equal(t, unit.PodGroup, on[1].Kind)
		assert.Equal(t, int32(5), on[1].Priority)
		assert.Equal(t, 1, on[1].Start.Minute())
		assert.Equal(t, []string{"u3", "u1", "gone", "u2"}, names(on[1].Pods))
		assert.Equal(t, []string{"u1", "u2"}, names(on[1].On(n)))
		assert.Equal(t, []string{"u3"}, names(on[1].Elsewhere(n)))
		assert.Equal(t, []string{"s1"}, names(on[2].Pods))
		assert.Equal(t, unit.Pod, on[2].Kind)
		assert.Equal(t, int32(6), on[2].Priority)
		assert.Equal(t, []*unit.Unit{on[1]}, units.On(m))
	}

	left := s.Without(on[1].Elsewhere(n))
	assert.Equal(t, s.Size(), left.Size())
	assert.Empty(t, left.Nodes[1].Pods)
	assert.Equal(t, []string{"u3"}, names(s.Nodes[1].Pods), "the snapshot does not change")
}

// A unit started with the first of its pods, on whatever node, in whatever order.
func TestStartOfAUnit(t *testing.T) {
	for _, starts := range [][3]int{{3, 1, 2}, {1, 2, 3}, {2, 3, 1}, {3, 2, 1}} {
		c := mk.Cluster(mk.Pod("p", 9), mk.WithGroups(), mk.Group("u", 5, mk.AsAWhole), mk.Node("n", "1"), mk.Node("m", "1"))
		for i, node := range []string{"n", "n", "m"} {
			c.Pods = append(c.Pods, mk.Pod(string(rune('a'+i)), 1, mk.On(node), mk.Member("u"), mk.Started(starts[i])))
		}
		s := model.NewSnapshot(c)
		assert.Equal(t, 1, unit.Of(s, c.Groups()).On(s.Nodes[1])[0].Start.Minute(), starts)
	}
}

// A composite group without a priority has 0, whatever its groups say.
func TestCompositeWithoutAPriority(t *testing.T) {
	c := mk.Composite("c", "", 7, true)
	c.Spec.Priority = nil
	groups := unit.Read([]runtime.Object{c, mk.Group("g", 5, mk.PartOf("c"))}, mk.WithGroups().FeatureGates)
	assert.Zero(t, groups.Priority(mk.Pod("p", 3, mk.Member("g")), 3))
	assert.True(t, groups.AnyWhole())
}

// Kinds of units have the names of their objects.
func TestKinds(t *testing.T) {
	for kind, want := range map[unit.Kind]string{unit.Pod: "Pod", unit.PodGroup: "PodGroup", unit.Composite: "CompositePodGroup"} {
		assert.Equal(t, want, kind.String())
	}
}
