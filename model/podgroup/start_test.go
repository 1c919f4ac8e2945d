package podgroup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// cycle is that of PodGroup g, with all gates of groups on.
func cycle(parts ...any) *podgroup.Cycle { return startOf(model.PodGroupKey("default", "g"), parts...) }

// startOf is the cycle of a group, likewise.
func startOf(group string, parts ...any) *podgroup.Cycle {
	c := mk.Cluster(nil, append(parts, mk.WithGroups())...)
	c.PreemptorGroup = group
	return podgroup.Documented().NewCycle(c, model.Documented())
}

// atLeastGroups makes a gang of which so many groups have to be scheduled.
func atLeastGroups(least int32) func(*schedulingv1alpha3.CompositePodGroup) {
	return func(g *schedulingv1alpha3.CompositePodGroup) {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: least}
	}
}

// A group waits until as many of its pods, or of its groups, exist as have to be scheduled.
func TestWaits(t *testing.T) {
	a, b, bound := mk.Pod("a", 1, mk.Member("g")), mk.Pod("b", 1, mk.Member("h")), mk.Pod("bound", 1, mk.Member("g"), mk.On("n"))
	part := mk.PartOf("c")
	pair := mk.Composite("c", "", 1, false, atLeastGroups(2))
	elsewhere := mk.Group("k", 1, part)
	elsewhere.Namespace = "other"
	group, composite := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "c")
	for _, tt := range []struct {
		name  string
		group string
		parts []any
		waits bool
	}{
		{"no gang", group, []any{a, mk.Group("g", 1)}, false},
		{"all of a gang", group, []any{a, mk.Group("g", 1, gang(1))}, false},
		{"one of two", group, []any{a, mk.Group("g", 1, gang(2))}, true},
		{"one that is bound counts", group, []any{a, bound, mk.Group("g", 1, gang(2))}, false},
		{"others do not count", group, []any{a, b, mk.Pod("alone", 1), mk.Pod("o", 1, mk.Member("g"), mk.In("other")), mk.Group("g", 1, gang(2))}, true},
		{"groups that are no gang", composite, []any{a, mk.Composite("c", "", 1, false), mk.Group("g", 1, part)}, false},
		{"groups of which none is complete", composite, []any{a, mk.Composite("c", "", 1, false), mk.Group("g", 1, part, gang(2))}, true},
		{"all groups of a gang", composite, []any{a, b, pair, mk.Group("g", 1, part), mk.Group("h", 1, part)}, false},
		{"one group of two is not complete", composite, []any{a, b, pair, mk.Group("g", 1, part), mk.Group("h", 1, part, gang(2))}, true},
		{"a group that is a composite one", composite, []any{a, b, pair, mk.Group("g", 1, part), mk.Composite("d", "c", 1, false), mk.Group("h", 1, mk.PartOf("d"))}, false},
		{"one group of two is elsewhere", composite, []any{a, mk.Pod("o", 1, mk.Member("k"), mk.In("other")), pair, mk.Group("g", 1, part), elsewhere}, true},
		{"one group of two is in another one", composite, []any{a, b, pair, mk.Group("g", 1, part), mk.Group("h", 1, mk.PartOf("d"))}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.waits, podgroup.Waits(startOf(tt.group, tt.parts...)))
		})
	}
}

// A group is not scheduled if its pods do not have its priority, or differ in their preemption policy or, with its gate, from that of the group.
func TestFails(t *testing.T) {
	meek := func(p *v1.Pod) { p.Spec.PreemptionPolicy = new(v1.PreemptNever) }
	never := func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptNever) }
	for _, tt := range []struct {
		name  string
		a, b  *v1.Pod // b is bound
		group *schedulingv1beta1.PodGroup
		gate  bool
		want  []string
	}{
		{"all are alike", mk.Pod("a", 5), mk.Pod("b", 5), mk.Group("g", 5), false, nil},
		{"one has another priority", mk.Pod("a", 5), mk.Pod("b", 4), mk.Group("g", 5), false, []string{"priority"}},
		{"the group has another priority", mk.Pod("a", 5), mk.Pod("b", 5), mk.Group("g", 6), false, []string{"priority"}},
		{"all are meek", mk.Pod("a", 5, meek), mk.Pod("b", 5, meek), mk.Group("g", 5), false, nil},
		{"one is meek", mk.Pod("a", 5), mk.Pod("b", 5, meek), mk.Group("g", 5), false, []string{"preemption policy"}},
		{"one is meek and has another priority", mk.Pod("a", 4), mk.Pod("b", 5, meek), mk.Group("g", 5), false, []string{"priority", "preemption policy"}},
		{"what the group says does not count without the gate", mk.Pod("a", 5), mk.Pod("b", 5), mk.Group("g", 5, never), false, nil},
		{"the group says nothing", mk.Pod("a", 5), mk.Pod("b", 5), mk.Group("g", 5), true, nil},
		{"all are meek, and the group is not", mk.Pod("a", 5, meek), mk.Pod("b", 5, meek), mk.Group("g", 5), true, []string{"preemption policy"}},
		{"all are as meek as the group", mk.Pod("a", 5, meek), mk.Pod("b", 5, meek), mk.Group("g", 5, never), true, nil},
		{"only the group is meek", mk.Pod("a", 5), mk.Pod("b", 5), mk.Group("g", 5, never), true, []string{"preemption policy"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mk.Member("g")(tt.a)
			mk.Member("g")(tt.b)
			mk.On("n")(tt.b)
			cy := cycle(tt.a, tt.b, tt.group, mk.Node("n", "1"))
			cy.Cluster.Settings.FeatureGates[podgroup.GatePolicy] = tt.gate
			assert.Equal(t, tt.want, podgroup.Fails(cy))
		})
	}
	assert.Empty(t, podgroup.Fails(cycle(mk.Pod("a", 5, mk.Member("g"), meek), mk.Group("g", 5))), "it has one pod")
}

// The first of the members that wait is tried in the cluster as it is, with the priority of the group.
func TestFirst(t *testing.T) {
	cy := cycle(mk.Group("g", 7), mk.Pod("bound", 1, mk.Member("g"), mk.On("n")), mk.Pod("a", 1, mk.Member("g")), mk.Pod("b", 1, mk.Member("g")), mk.Node("n", "1"))
	assert.Equal(t, "default/a", cy.First.Preemptor.Key)
	assert.Equal(t, int32(7), cy.Priority())
}

// DynamicResources is asked first about groups of pods without topology constraints.
func TestAsksOfDevices(t *testing.T) {
	constrained := func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{}
	}
	group, composite := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "c")
	for _, tt := range []struct {
		name  string
		key   string
		group any
		gate  bool
		want  bool
	}{
		{"a group", group, mk.Group("g", 1), true, true},
		{"a group with constraints", group, mk.Group("g", 1, constrained), true, false},
		{"a group with constraints that do not count", group, mk.Group("g", 1, constrained), false, true},
		{"a composite group", composite, mk.Composite("c", "", 1, false), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(nil, tt.group)
			c.PreemptorGroup, c.Settings.FeatureGates = tt.key, map[string]bool{model.GateTopology: tt.gate}
			assert.Equal(t, tt.want, (&podgroup.Cycle{Cluster: c}).AsksOfDevices())
		})
	}
}

// A group waits for its victims: pods of lower priority that terminate by preemption where a member is nominated to.
func TestOngoing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      *v1.Pod // a is not nominated
		victim *v1.Pod
		want   bool
	}{
		{"a victim", mk.Pod("b", 5, mk.Nominated("n")), mk.Pod("v", 1, mk.On("n"), mk.ByPreemption), true},
		{"it terminates for another reason", mk.Pod("b", 5, mk.Nominated("n")), mk.Pod("v", 1, mk.On("n"), mk.Terminating), false},
		{"it is as important", mk.Pod("b", 5, mk.Nominated("n")), mk.Pod("v", 5, mk.On("n"), mk.ByPreemption), false},
		{"on another node", mk.Pod("b", 5, mk.Nominated("m")), mk.Pod("v", 1, mk.On("n"), mk.ByPreemption), false},
		{"nobody is nominated", mk.Pod("b", 5), mk.Pod("v", 1, mk.On("n"), mk.ByPreemption), false},
		{"the nominated node is gone", mk.Pod("b", 5, mk.Nominated("gone")), mk.Pod("v", 1, mk.On("gone"), mk.ByPreemption), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, nominated := range []string{"", "gone", "m"} {
				a := mk.Pod("a", 5, mk.Member("g"), mk.Nominated(nominated))
				mk.Member("g")(tt.b)
				cy := cycle(mk.Group("g", 5), a, tt.b, mk.Pod("stays", 1, mk.On("n")), tt.victim, mk.Node("m", "1"), mk.Node("n", "1"))
				assert.Equal(t, tt.want, podgroup.Ongoing(cy), "a is nominated to %q", nominated)
			}
		})
	}
}

// What may be preempted are the units of lower priority on all nodes, each once.
func TestDomain(t *testing.T) {
	cy := cycle(mk.Group("g", 5), mk.Pod("a", 5, mk.Member("g")), mk.Group("whole", 1, mk.AsAWhole), mk.Node("n", "1"), mk.Node("m", "1"),
		mk.Pod("w1", 1, mk.Member("whole"), mk.On("n")), mk.Pod("equal", 5, mk.On("n")), mk.Pod("low", 4, mk.On("n")),
		mk.Pod("w2", 1, mk.Member("whole"), mk.On("m")), mk.Pod("zero", 0, mk.On("m")))
	possible, failure := podgroup.Domain(cy)
	assert.Empty(t, failure)
	var names []string
	for _, u := range possible {
		names = append(names, u.Key)
	}
	assert.Equal(t, []string{"default/whole", "default/low", "default/zero"}, names)
}

// Members are bound, or preempted for, if enough are scheduled and one is placed now.
func TestSucceeds(t *testing.T) {
	assert.True(t, podgroup.Succeeds(nil, true, 1))
	assert.False(t, podgroup.Succeeds(nil, true, 0), "all are bound already")
	assert.False(t, podgroup.Succeeds(nil, false, 1))
}
