package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// TestPickByFirstVictim: where only the answer shows, a node may be picked for the priority of the first victim alone, if that
// may be the first, and is.
func TestPickByFirstVictim(t *testing.T) {
	documented := release.Linked.Rules()
	quirk := release.With(documented, release.PickByOwnPriority)
	n1, reversed, n0 := []string{"default/v2", "default/v1"}, []string{"default/v1", "default/v2"}, []string{"default/v0"}
	for _, tt := range []struct {
		name    string
		whole   bool
		started int // v1; all others in minute 2
		rules   *answers.Rules
		node    string
		victims []string
		allowed bool
	}{
		{"documented: fewest victims", false, 2, documented, "n0", n0, true},
		{"documented: never more", false, 2, documented, "n1", n1, false},
		{"v2 is first", false, 2, quirk, "n1", n1, true},
		{"v1 is first", false, 2, quirk, "n1", reversed, false},
		{"v1 could have been first", false, 2, quirk, "n0", n0, true},
		{"v1 is more important", false, 1, quirk, "n1", n1, false},
		{"pods of a unit, in any order", true, 1, quirk, "n1", n1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			group := mk.Group("g", 5)
			other := mk.Group("h", 5)
			if tt.whole {
				mk.AsAWhole(group)
				mk.AsAWhole(other)
			}
			c := mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n0", "2"), mk.Node("n1", "2"), group, other, mk.WithGroups(),
				mk.Pod("v0", 1, mk.CPU("2"), mk.On("n0"), mk.Member("h"), mk.Started(2)),
				mk.Pod("v1", 2, mk.CPU("1"), mk.On("n1"), mk.Member("g"), mk.Started(tt.started)),
				mk.Pod("v2", 0, mk.CPU("1"), mk.On("n1"), mk.Member("g"), mk.Started(2)))
			set, err := answers.Decide(c, tt.rules)
			require.NoError(t, err)
			dis := set.Admits(&model.Observation{Pick: &model.Pick{Node: tt.node, Victims: tt.victims}, PostFilterCode: "Success"})
			require.Equal(t, tt.allowed, dis == nil, "%v", dis)
		})
	}
}

// TestPickByVictimsOwnPriority: of two pods of a group that are alike but for their own priorities either may be the victim, and by that
// another node may be picked.
func TestPickByVictimsOwnPriority(t *testing.T) {
	documented := release.Linked.Rules()
	quirk := release.With(documented, release.PickByOwnPriority)
	for _, tt := range []struct {
		name         string
		own          int32 // priority of v0
		rules        *answers.Rules
		node, victim string
		allowed      bool
	}{
		{"documented: either goes", 3, documented, "n0", "default/v0", true},
		{"documented: nobody of higher priority", 3, documented, "n1", "default/v2", false},
		{"v1 may be the victim", 3, quirk, "n0", "default/v1", true},
		{"v0 may be the victim", 3, quirk, "n1", "default/v2", true},
		{"v0 is not taken for v1", 3, quirk, "n0", "default/v0", false},
		{"both are of low priority", 1, quirk, "n1", "default/v2", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n0", "2"), mk.Node("n1", "1"), mk.Group("g", 0), mk.WithGroups(),
				mk.Pod("v0", tt.own, mk.CPU("1"), mk.On("n0"), mk.Member("g"), mk.Started(2)),
				mk.Pod("v1", 1, mk.CPU("1"), mk.On("n0"), mk.Member("g"), mk.Started(2)),
				mk.Pod("v2", 2, mk.CPU("1"), mk.On("n1"), mk.Started(2)))
			set, err := answers.Decide(c, tt.rules)
			require.NoError(t, err)
			dis := set.Admits(&model.Observation{Pick: &model.Pick{Node: tt.node, Victims: []string{tt.victim}}, PostFilterCode: "Success"})
			require.Equal(t, tt.allowed, dis == nil, "%v", dis)
		})
	}
}

// TestLeastOfTwoDomains: where a unit on two nodes is given back for a single pod, a domain may be overlooked; where all of it is on the
// node itself, the counts are right.
func TestLeastOfTwoDomains(t *testing.T) {
	documented := release.Linked.Rules()
	quirk := release.With(documented, release.LeastOfTwoDomains)
	zone := func(name string) func(*v1.Node) {
		return func(n *v1.Node) { n.Labels = map[string]string{"zone": name} }
	}
	evenly := func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: mk.ForApp("a")}}
	}
	const nobody = ""
	for _, tt := range []struct {
		name  string
		other string // node of the rest of the group
		rules *answers.Rules
		want  []string // victims on n1
	}{
		{"documented", "n3", documented, []string{"default/c"}},
		{"on two nodes", "n3", quirk, []string{"default/c", nobody}},
		{"on the node alone", "n1", quirk, []string{"default/a default/b default/c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			group := mk.Group("g", 0)
			mk.AsAWhole(group)
			c := mk.Cluster(mk.Pod("p", 9, mk.App("a"), mk.CPU("1"), evenly), mk.Node("n1", "9", zone("a")), mk.Node("n2", "0", zone("b")), mk.Node("n3", "0", zone("c")), group, mk.WithGroups(),
				mk.Pod("a", 0, mk.App("a"), mk.On("n1")), mk.Pod("b", 0, mk.App("a"), mk.On("n1")), mk.Pod("c", 0, mk.App("a"), mk.On("n1")),
				mk.Pod("d", 0, mk.On("n1"), mk.Member("g")), mk.Pod("e", 0, mk.App("a"), mk.On(tt.other), mk.Member("g")), mk.Pod("f", 0, mk.App("a"), mk.On(tt.other), mk.Member("g")),
				mk.Pod("g", 0, mk.App("a"), mk.On("n2")), mk.Pod("h", 0, mk.App("a"), mk.On("n3")))
			set, err := answers.Decide(c, tt.rules)
			require.NoError(t, err)
			outcomes, failed := set.DryRunOn("n1")
			require.Nil(t, failed)
			var got []string
			for _, o := range outcomes {
				got = append(got, strings.Join(o.Victims, " "))
			}
			require.ElementsMatch(t, tt.want, got)
		})
	}
}
