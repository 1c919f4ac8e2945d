package podgroup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// script is a Placer that takes the first of those that are left, and places members as it is told.
type script struct {
	t *testing.T
	// at is the node of a member, as "domain/… member", or "error"; of others it is nowhere.
	at map[string]string
	// take is the domain that is taken, or "error".
	take string
	// log is whom it was asked about, where, and beside whom.
	log   []string
	ended string
}

func (s *script) Group(_ podgroup.TopologyDomain, left []*podgroup.Tree, enough bool) int {
	require.NotEmpty(s.t, left, "the groups left")
	return first(enough)
}

func (s *script) Member(_ podgroup.TopologyDomain, left []*v1.Pod, enough bool) int {
	require.NotEmpty(s.t, left, "the members left")
	return first(enough)
}

func first(enough bool) int {
	if enough {
		return 0
	}
	return -1
}

func (s *script) Place(in podgroup.TopologyDomain, member *v1.Pod, placed []podgroup.Placement) (podgroup.Placement, bool) {
	name := strings.TrimSpace(strings.Join(in.Path(), "/") + " " + member.Name)
	s.log = append(s.log, strings.TrimSpace(name+" "+strings.Join(names(placed), "+")))
	at := podgroup.Placement{Pod: member, Node: s.at[name]}
	return at, at.Node != "error"
}

func (s *script) Take(_ podgroup.TopologyDomain, _ *podgroup.Tree, among []podgroup.Scheduled) (int, bool) {
	var domains []string
	for _, d := range among {
		domains = append(domains, d.Name)
	}
	s.log = append(s.log, fmt.Sprintf("one of %q", domains))
	return max(slices.Index(domains, s.take), 0), s.take != "error"
}

func (s *script) Ends(failure string) { s.ended = failure }

// names are members with their nodes.
func names(placed []podgroup.Placement) (all []string) {
	for _, at := range placed {
		all = append(all, at.Pod.Name+"@"+at.Node)
	}
	return all
}

// gang makes a group of which so many pods have to be scheduled.
func gang(least int32) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: least}
	}
}

// inOne has all pods of a group be on nodes that share the value of a label.
func inOne(label string) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: label}}}
	}
}

// allInOne is inOne for a composite group.
func allInOne(label string) func(*schedulingv1alpha3.CompositePodGroup) {
	return func(g *schedulingv1alpha3.CompositePodGroup) {
		g.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: label}}}
	}
}

// groups is a composite group of which so many groups have to be scheduled.
func groups(least int32, change ...func(*schedulingv1alpha3.CompositePodGroup)) *schedulingv1alpha3.CompositePodGroup {
	return mk.Composite("all", "", 1, false, append(change, func(g *schedulingv1alpha3.CompositePodGroup) {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: least}
	})...)
}

// labelled gives a node labels: names and values in turn.
func labelled(pairs ...string) func(*v1.Node) {
	return func(n *v1.Node) {
		n.Labels = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			n.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

// cycleOf is the cycle of a group in a cluster with the nodes n1 and n2 of zone e, of which n1 is in rack e1 and n2 in rack e2, n3 of zone w
// in rack w1, and n4, which is in none.
func cycleOf(key string, parts ...any) *podgroup.Cycle {
	c := mk.Cluster(nil, append([]any{mk.WithGroups(), mk.Node("n1", "4", labelled("zone", "e", "rack", "e1")), mk.Node("n2", "4", labelled("zone", "e", "rack", "e2")),
		mk.Node("n3", "4", labelled("zone", "w", "rack", "w1")), mk.Node("n4", "4")}, parts...)...)
	c.PreemptorGroup = key
	return podgroup.Documented().NewCycle(c, model.Documented())
}

// Members are placed group by group, in each topology domain, beside those that were placed before and not taken back.
func TestPlace(t *testing.T) {
	group, all := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "all")
	of := func(group string, names ...string) (parts []any) {
		for _, name := range names {
			parts = append(parts, mk.Pod(name, 1, mk.Member(group)))
		}
		return parts
	}
	// both is a composite group that needs so many of its groups x, which needs all of its members, and y, whose member is c.
	both := func(least int32, x ...string) []any {
		return slices.Concat(of("x", x...), of("y", "c"), []any{groups(least), mk.Group("x", 1, gang(int32(len(x))), mk.PartOf("all")), mk.Group("y", 1, gang(1), mk.PartOf("all"))})
	}
	for _, tt := range []struct {
		name   string
		parts  []any
		at     map[string]string
		take   string
		fails  string // the group whose topology domains are not found, which is an error
		log    []string
		placed []string
		tried  []string
		enough bool
	}{
		{name: "all members", parts: append(of("g", "a", "b", "c"), mk.Group("g", 1, gang(3))), at: map[string]string{"a": "n1", "b": "n3", "c": "n4"},
			log:    []string{"a", "b a@n1", "c a@n1+b@n3", `one of [""]`},
			placed: []string{"a@n1", "b@n3", "c@n4"}, tried: []string{"a@n1", "b@n3", "c@n4"}, enough: true},
		{name: "as many as there have to be", parts: append(of("g", "a", "b", "c"), mk.Group("g", 1, gang(2))), at: map[string]string{"a": "n1", "c": "n1"},
			log:    []string{"a", "b a@n1", "c a@n1", `one of [""]`},
			placed: []string{"a@n1", "c@n1"}, tried: []string{"a@n1", "c@n1"}, enough: true},
		{name: "too few", parts: append(of("g", "a", "b"), mk.Group("g", 1, gang(2))), at: map[string]string{"a": "n1"},
			log: []string{"a", "b a@n1"}, tried: []string{"a@n1"}},
		{name: "those left could not do", parts: append(of("g", "a", "b", "c"), mk.Group("g", 1, gang(3))), at: map[string]string{"b": "n1", "c": "n1"}, log: []string{"a"}},
		{name: "nobody beside one that runs, which is enough", parts: append(of("g", "a"), mk.Group("g", 1, gang(1)), mk.Pod("b", 1, mk.Member("g"), mk.On("n1"))),
			log: []string{"a", `one of [""]`}},
		{name: "one ends in an error", parts: append(of("g", "a", "b", "c"), mk.Group("g", 1, gang(1))), at: map[string]string{"a": "n1", "b": "error", "c": "n1"},
			log: []string{"a", "b a@n1"}, placed: []string{"a@n1"}, tried: []string{"a@n1"}},
		{name: "there is a domain for both", parts: append(of("g", "a", "b"), mk.Group("g", 1, gang(2), inOne("zone"))), at: map[string]string{"e a": "n1", "w a": "n3", "w b": "n3"},
			log:    []string{"e a", "e b a@n1", "w a", "w b a@n3", `one of ["w"]`},
			placed: []string{"a@n3", "b@n3"}, tried: []string{"a@n3", "b@n3"}, enough: true},
		{name: "the domain that is taken", parts: append(of("g", "a"), mk.Group("g", 1, gang(1), inOne("rack"))), at: map[string]string{"e1 a": "n1", "e2 a": "n2", "w1 a": "n3"}, take: "e2",
			log: []string{"e1 a", "e2 a", "w1 a", `one of ["e1" "e2" "w1"]`}, placed: []string{"a@n2"}, tried: []string{"a@n2"}, enough: true},
		{name: "taking a domain ends in an error", parts: append(of("g", "a"), mk.Group("g", 1, gang(1), inOne("zone"))), at: map[string]string{"e a": "n1", "w a": "n3"}, take: "error",
			log: []string{"e a", "w a", `one of ["e" "w"]`}, placed: []string{"a@n1"}, tried: []string{"a@n1"}},
		{name: "too few in each domain: those of the first", parts: append(of("g", "a", "b"), mk.Group("g", 1, gang(2), inOne("zone"))), at: map[string]string{"e a": "n1", "w a": "n3"},
			log: []string{"e a", "e b a@n1", "w a", "w b a@n3"}, tried: []string{"a@n1"}},
		{name: "an error in the first domain", parts: append(of("g", "a", "b"), mk.Group("g", 1, gang(1), inOne("zone"))), at: map[string]string{"e a": "error", "w a": "n3", "w b": "n3"}, log: []string{"e a"}},
		{name: "an error in the second domain", parts: append(of("g", "a", "b"), mk.Group("g", 1, gang(1), inOne("zone"))), at: map[string]string{"e a": "n1", "e b": "n1", "w a": "n3", "w b": "error"},
			log: []string{"e a", "e b a@n1", "w a", "w b a@n3"}, placed: []string{"a@n3"}, tried: []string{"a@n3"}},
		{name: "what was placed of a group is taken back", parts: both(1, "a", "b"),
			at: map[string]string{"a": "n1", "c": "n2"}, log: []string{"a", "b a@n1", "c", `one of [""]`, `one of [""]`},
			placed: []string{"c@n2"}, tried: []string{"a@n1", "c@n2"}, enough: true},
		{name: "both groups in one zone, of which one is in one rack",
			parts:  slices.Concat(of("x", "a", "b"), of("y", "c"), []any{groups(2, allInOne("zone")), mk.Group("x", 1, gang(2), inOne("rack"), mk.PartOf("all")), mk.Group("y", 1, gang(1), mk.PartOf("all"))}),
			at:     map[string]string{"e/e2 a": "n2", "e/e2 b": "n2", "e c": "n1", "w c": "n3"},
			log:    []string{"e/e1 a", "e/e2 a", "e/e2 b a@n2", `one of ["e2"]`, "e c a@n2+b@n2", `one of ["e"]`, "w/w1 a", `one of ["e"]`},
			placed: []string{"a@n2", "b@n2", "c@n1"}, tried: []string{"a@n2", "b@n2", "c@n1"}, enough: true},
		{name: "one group is not enough", parts: both(2, "a"),
			at: map[string]string{"a": "n1"}, log: []string{"a", `one of [""]`, "c a@n1"}, tried: []string{"a@n1"}},
		{name: "groups left could not do", parts: both(2, "a"),
			at: map[string]string{"c": "n1"}, log: []string{"a"}},
		{name: "a group ends in an error", parts: both(1, "a"),
			at: map[string]string{"a": "error", "c": "n1"}, log: []string{"a"}},
		{name: "a group ends in an error in the first domain", parts: slices.Concat(of("x", "a"), []any{groups(1, allInOne("zone")), mk.Group("x", 1, gang(1), mk.PartOf("all"))}),
			at: map[string]string{"e a": "error", "w a": "n3"}, log: []string{"e a"}},
		{name: "looking for the domains of a group fails", fails: "podgroup/default/x",
			parts: both(1, "a"), at: map[string]string{"a": "n1", "c": "n1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := group
			if slices.ContainsFunc(tt.parts, func(part any) bool { _, is := part.(*schedulingv1alpha3.CompositePodGroup); return is }) {
				key = all
			}
			cy := cycleOf(key, tt.parts...)
			cy.Topology = func(cy *podgroup.Cycle, of *podgroup.Tree, in podgroup.TopologyDomain) ([]podgroup.TopologyDomain, string) {
				if of.Key == tt.fails {
					return nil, "no domains"
				}
				return podgroup.Topology(cy, of, in)
			}
			s := &script{t: t, at: tt.at, take: tt.take}
			p := cy.Place(s)
			assert.Equal(t, tt.log, s.log)
			assert.Equal(t, tt.placed, names(p.Placed), "placed")
			assert.Equal(t, tt.tried, names(p.Tried), "tried")
			assert.Equal(t, tt.enough, p.Enough)
			assert.Equal(t, tt.fails != "", s.ended == "no domains", "whether the cycle ends, as no domains are found")
		})
	}
}
