package properties_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
)

// cordoned has nobody else run on a node.
func cordoned(n *v1.Node) { n.Spec.Unschedulable = true }

// spreadZones has a pod labelled as foo be spread over zones with the others.
func spreadZones(p *v1.Pod) {
	mk.App("foo")(p)
	p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "foo"}}}}
}

// The rows are those of upstream's TestSelectVictimsOnNode (defaultpreemption/default_preemption_test.go:3047@v1.37.1), in its order. Nodes that it
// does not ask about are cordoned. Where its pods request nothing, and are in nobody's way, they request all of the node here.
func TestVictimsOfUpstream(t *testing.T) {
	whole := mk.AsAWhole
	p := func(change ...func(*v1.Pod)) *v1.Pod { return mk.Pod("p", 100, change...) }
	all, most := mk.CPU("3"), mk.CPU("2")
	foo := mk.App("foo")
	spent := mk.Budget("b", 0, mk.ForApp("foo"))
	apart := func() []any {
		return []any{mk.Group("u", 1, whole), on("n", "x", 1, mk.Member("u")), p(mk.CPU("0"), mk.Away(v1.LabelTopologyZone, "foo"))}
	}
	spread := func(n, m, o func(*v1.Node)) []any {
		return []any{node("n", "5", "z", n), node("m", "4", "z", m), node("o", "4", "y", o), mk.Group("u", 1, whole), p(spreadZones),
			on("n", "a", 1, mk.Member("u"), foo), on("m", "b", 1, mk.Member("u"), foo), on("o", "c", 1000, foo)}
	}
	free := func(*v1.Node) {}
	for _, tt := range []struct {
		name       string
		objects    []any
		victims    []string
		violations int
		fits       bool
	}{
		{"a pod of lower priority", []any{node("n", "5", "z"), on("n", "a", 1, all), p(all)}, []string{"a"}, 0, false},
		{"the lowest priority", []any{node("n", "5", "z"), on("n", "a", 100), on("n", "b", 50), on("n", "c", 1), p(all)}, []string{"c"}, 0, false},
		{"a budget before priority", []any{node("n", "5", "z"), spent, on("n", "a", 1, most, foo), on("n", "b", 50, most), p(all)}, []string{"b"}, 0, false},
		{"priority where both are in the budget", []any{node("n", "5", "z"), spent, on("n", "a", 1, most, foo), on("n", "b", 50, most, foo), p(all)}, []string{"a"}, 1, false},
		{"a group as a whole", []any{node("n", "5", "z"), mk.Group("u", 1, whole), on("n", "a", 1, mk.Member("u")), on("n", "b", 1, most, mk.Member("u")), p(all)}, []string{"a", "b"}, 0, false},
		{"a pod before a group", []any{node("n", "5", "z"), mk.Group("u", 1, whole), on("n", "a", 1), on("n", "b", 1, mk.Member("u")), on("n", "c", 1, mk.Member("u")), p(all)}, []string{"a"}, 0, false},
		{"a group of lower priority before a pod", []any{node("n", "5", "z"), mk.Group("u", 1, whole), on("n", "a", 50, most), on("n", "b", 1, most, mk.Member("u")), p(all)}, []string{"b"}, 0, false},
		{"a pod of lower priority before a group", []any{node("n", "5", "z"), mk.Group("u", 50, whole), on("n", "a", 1, most), on("n", "b", 50, most, mk.Member("u")), p(all)}, []string{"a"}, 0, false},
		{"two violations of a group", []any{node("n", "5", "z"), spent, mk.Group("u", 1, whole), on("n", "a", 1, most, foo, mk.Member("u")), on("n", "b", 1, most, foo, mk.Member("u")), p(all)}, []string{"a", "b"}, 2, false},
		{"a budget before the priority of groups", []any{node("n", "5", "z"), spent, mk.Group("u", 1, whole), mk.Group("w", 50, whole), on("n", "a", 1, most, foo, mk.Member("u")), on("n", "b", 50, most, mk.Member("w")), p(all)}, []string{"b"}, 0, false},
		{"a budget before the priority of groups in mode Single", []any{node("n", "5", "z"), spent, mk.Group("u", 1, singly), mk.Group("w", 50, singly), on("n", "a", 1, most, foo, mk.Member("u")), on("n", "b", 50, most, mk.Member("w")), p(all)}, []string{"b"}, 0, false},
		{"a pod of higher priority", []any{node("n", "5", "z"), on("n", "a", 1000, all), p(all)}, nil, 0, false},
		{"an empty node", []any{node("n", "5", "z"), p(mk.CPU("6"))}, nil, 0, false},
		{"apart from a pod on another node", append(apart(), node("n", "5", "z"), node("m", "4", "z", cordoned), on("m", "y", 1, foo, mk.Member("u"))), []string{"x", "y"}, 0, false},
		{"apart from a pod on its node", append(apart(), node("n", "5", "z", cordoned), node("m", "4", "z"), on("m", "y", 1, foo, mk.Member("u"))), []string{"x", "y"}, 0, false},
		{"apart from a pod that is not on another node", append(apart(), node("n", "5", "z"), node("m", "4", "z", cordoned), on("m", "y", 1, mk.Member("u"))), nil, 0, true},
		{"spread over zones, where the group is", spread(free, cordoned, cordoned), []string{"a", "b"}, 0, false},
		{"spread over zones, where it is not", spread(cordoned, cordoned, free), nil, 0, true},
		{"a group on two nodes", []any{node("n", "5", "z"), node("m", "5", "z", cordoned), mk.Group("u", 1, whole), on("n", "a", 1, all, mk.Member("u")), on("m", "b", 1, all, mk.Member("u")), p(all)}, []string{"a", "b"}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var preemptor *v1.Pod
			var objects []any
			for _, o := range tt.objects {
				if pod, is := o.(*v1.Pod); is && pod.Name == "p" {
					preemptor = pod
					continue
				}
				objects = append(objects, o)
			}
			r, err := checktest.Checker(t).Check(context.Background(), mk.Cluster(preemptor, append(objects, mk.WithGroups())...))
			require.NoError(t, err)
			require.Empty(t, r.Unmodelled)
			require.Empty(t, r.Unexplained())
			assert.Equal(t, tt.fits, len(r.Decision.Fits) > 0)
			var victims []string
			violations := 0
			for _, c := range r.Decision.Choices() {
				for _, key := range c.Outcome.Victims {
					victims = append(victims, key[len("default/"):])
				}
				violations += c.Outcome.Violations
			}
			assert.ElementsMatch(t, tt.victims, victims)
			assert.Equal(t, tt.violations, violations)
			if !tt.fits && tt.victims != nil {
				require.NotNil(t, r.Observation.Pick)
				assert.Len(t, r.Observation.Pick.Victims, len(tt.victims))
			}
		})
	}
}
