package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Those that violate a budget are reprieved first, however many of it each violates (docs: pod-priority-preemption, "PodDisruptionBudget is
// supported, but not guaranteed").
func TestReprieveOrder(t *testing.T) {
	assert.Equal(t, []int{1, 2, 0, 3}, model.ReprieveOrder([]int{0, 1, 2, 0}))
}

// As many as possible may stay, in the order in which they are considered: an unimportant pod that violates a budget before an important one
// that does not. One that does not fit ends nothing.
func TestReprieve(t *testing.T) {
	for _, tt := range []struct {
		name, cpu          string // of the preemptor, on a node of 4
		reprieved, victims []string
		violations         int
		violates           map[string]string
	}{
		{"nobody has to go", "0", []string{"default/u1", "default/u2", "default/low", "default/high"}, []string{}, 0, nil},
		{"the most important has to", "1", []string{"default/u1", "default/u2", "default/low"}, []string{"default/high"}, 0, nil},
		{"a pod that violates has to", "2", []string{"default/u1", "default/u2"}, []string{"default/high", "default/low"}, 1, map[string]string{"default/low": "default/b"}},
		{"a group has to, as a whole", "3", []string{"default/low"}, []string{"default/high", "default/u1", "default/u2"}, 2,
			map[string]string{"default/u1": "default/b", "default/u2": "default/b"}},
		{"all have to", "4", nil, []string{"default/high", "default/u1", "default/u2", "default/low"}, 3,
			map[string]string{"default/u1": "default/b", "default/u2": "default/b", "default/low": "default/b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, mk.CPU(tt.cpu)), mk.WithGroups(), mk.Node("n", "4"), mk.Group("u", 1, mk.AsAWhole), mk.Budget("b", 0, mk.ForApp("x")),
				mk.Pod("low", 0, mk.On("n"), mk.CPU("1"), mk.App("x")), mk.Pod("high", 2, mk.On("n"), mk.CPU("1")),
				mk.Pod("u1", 1, mk.On("n"), mk.CPU("1"), mk.App("x"), mk.Member("u")), mk.Pod("u2", 1, mk.On("n"), mk.CPU("1"), mk.App("x"), mk.Member("u")))
			cy := model.Documented().NewCycle(c)
			o := cy.DryRun(cy, cy.Node("n"), nil).Listed
			require.NotNil(t, o)
			assert.Equal(t, tt.reprieved, o.Reprieved)
			assert.Equal(t, tt.victims, o.Victims)
			assert.Equal(t, tt.violations, o.Violations)
			assert.Equal(t, tt.violates, o.Violates)
		})
	}
}

// Preemption does not help where the preemptor does not fit even once all that may go have gone.
func TestTooFewMayGo(t *testing.T) {
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "2"),
		mk.Pod("low", 0, mk.On("n"), mk.CPU("1")), mk.Pod("high", 9, mk.On("n"), mk.CPU("1")))).Preempt()
	run := r.DryRuns["n"]
	require.NotNil(t, run)
	require.NotNil(t, run.Failed)
	assert.Equal(t, "NodeResourcesFit", run.Failed.Plugin)
	assert.Len(t, run.Possible, 1)
	assert.Nil(t, run.Listed)
}

// A candidate that violates a budget is one, however many pods violate it.
func TestTwoViolationsOnANode(t *testing.T) {
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "2"), mk.Budget("b", 0, mk.ForApp("x")),
		mk.Pod("v", 0, mk.On("n"), mk.CPU("1"), mk.App("x")), mk.Pod("w", 0, mk.On("n"), mk.CPU("1"), mk.App("x")))).Preempt()
	require.Equal(t, "n", r.Node)
	assert.Equal(t, 2, r.Candidates["n"].Violations)
}

// Where only an extender rejects the node nobody has to go, and preemption does not help. Without an extender an outcome without victims is
// an error: a plugin that rejects before any node is looked at may come to pass all.
func TestNobodyHasToGo(t *testing.T) {
	extender := model.Settings{Extenders: []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Rejects: []string{"n"}}}}}
	resolvable := says{"resolvable", filter.Answer{Rejection: filter.Resolvable("r")}}
	for _, tt := range []struct {
		name     string
		settings model.Settings
		plugins  []filter.Plugin
		failed   string
	}{
		{"an extender", extender, model.DefaultPlugins(), model.ExtenderName},
		{"a plugin", model.Settings{}, []filter.Plugin{resolvable}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := model.Documented()
			a.Plugins = tt.plugins
			r := a.Decide(mk.Cluster(mk.Pod("p", 9), tt.settings, mk.Node("n", "1"), mk.Pod("v", 0, mk.On("n")))).Preempt()
			run := r.DryRuns["n"]
			require.NotNil(t, run)
			assert.Empty(t, run.Listed.Victims)
			assert.Equal(t, tt.failed != "", run.Failed != nil)
			if run.Failed != nil {
				assert.Equal(t, tt.failed, run.Failed.Plugin)
			}
			assert.False(t, run.IsCandidate())
		})
	}
}

// The pods of a group go from other nodes too, and come back with it: the preemptor minds those of app x in its zone, on whatever node
// (docs: workload-api/disruption-and-priority, "all pods from the PodGroup have to be disrupted together").
func TestGroupsOnOtherNodes(t *testing.T) {
	zone := func(n *v1.Node) { n.Labels = map[string]string{"zone": "z"} }
	shuns := func(u, v string) *model.Cluster {
		return mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Away("zone", "x")), mk.WithGroups(), mk.Node("n", "3", zone), mk.Node("m", "3", zone),
			mk.Group("u", 2, mk.AsAWhole), mk.Pod("u1", 2, mk.On("n"), mk.Member("u")), mk.Pod("u2", 2, mk.On("m"), mk.App(u), mk.Member("u")),
			mk.Group("v", 1, mk.AsAWhole), mk.Pod("v1", 1, mk.On("n"), mk.Member("v")), mk.Pod("v2", 1, mk.On("m"), mk.App(v), mk.Member("v")))
	}
	for apps, want := range map[[2]string][2][]string{
		{"x", "y"}: {{"default/u1", "default/u2"}, {"default/v1", "default/v2"}},
		{"y", "x"}: {{"default/v1", "default/v2"}, {"default/u1", "default/u2"}},
		{"x", "x"}: {{"default/u1", "default/u2", "default/v1", "default/v2"}, nil},
	} {
		cy := model.Documented().NewCycle(shuns(apps[0], apps[1]))
		require.NotNil(t, cy.FitsIn(model.SceneOf(cy.Node("n"))), apps)
		run := cy.DryRun(cy, cy.Node("n"), nil)
		require.Nil(t, run.Failed, apps)
		assert.Equal(t, want, [2][]string{run.Listed.Victims, run.Listed.Reprieved}, apps)
	}
}

// What is gone from other nodes is told in the cluster's order, and a scene stays as it is when others are made of it.
func TestScenes(t *testing.T) {
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), mk.WithGroups(), mk.Node("n", "1"), mk.Node("m", "1"),
		mk.Group("u", 0, mk.AsAWhole), mk.Group("v", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u")), mk.Pod("v1", 0, mk.On("n"), mk.Member("v")), mk.Pod("w1", 0, mk.On("n"), mk.Member("w")),
		mk.Pod("u2", 0, mk.On("m"), mk.Member("u")), mk.Pod("v2", 0, mk.On("m"), mk.Member("v")), mk.Pod("w2", 0, mk.On("m"), mk.Member("w"))))
	n := cy.Node("n")
	units := cy.Units.On(n)
	u, v, w := units[0], units[1], units[2]

	s := model.SceneOf(n).Away(w, v)
	assert.Equal(t, []string{"u1"}, namesOf(s.Pods))
	assert.Equal(t, []string{"v2", "w2"}, namesOf(s.Gone))
	assert.Equal(t, []filter.Move{{Pod: w.Pods[0]}, {Pod: v.Pods[0]}}, s.Moves)
	back := s.Back(w)
	assert.Equal(t, []string{"u1", "w1"}, namesOf(back.Pods))
	assert.Equal(t, []string{"v2"}, namesOf(back.Gone))

	s.Gone = append(make([]*filter.Pod, 0, 3), s.Gone...) // with room for more
	assert.Equal(t, []string{"u2", "v2", "w2"}, namesOf(s.Away(u).Gone))
	assert.Equal(t, []string{"v2", "w2"}, namesOf(s.Gone))
}
