package model_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// The only candidate is taken.
func TestOnlyCandidate(t *testing.T) {
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 0, mk.CPU("1"), mk.On("n")))).Preempt()
	assert.Equal(t, "n", r.Node)
	assert.Equal(t, model.OnlyCandidate, r.DecidedBy)
	assert.NotNil(t, r.Actuation)
}

// The search for candidates ends as soon as there are enough: 100 of few nodes (docs: reference/config-api/kube-scheduler-config.v1,
// DefaultPreemptionArgs).
func TestSearchEnds(t *testing.T) {
	var objects []any
	for i := range 103 {
		node := fmt.Sprintf("n-%03d", i)
		objects = append(objects, mk.Node(node, "1"), mk.Pod("v-"+node, 0, mk.CPU("1"), mk.On(node)))
	}
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), objects...)).Preempt()
	assert.Len(t, r.DryRuns, 100)
	assert.Len(t, r.Candidates, 100)
}

// The default falls from all of 100 nodes to 5 % of very many (docs: concepts/scheduling-eviction/scheduler-perf-tuning).
func TestNodesToFind(t *testing.T) {
	for _, tt := range []struct {
		percentage *int32
		nodes      int
		want       int
	}{
		{nil, 99, 99},
		{nil, 100, 100},
		{nil, 1000, 420},
		{nil, 5000, 500},
		{nil, 20000, 1000},
		{new(int32(0)), 1000, 420},
		{new(int32(30)), 1000, 300},
		{new(int32(3)), 1000, 100},
		{new(int32(100)), 1000, 1000},
	} {
		assert.Equal(t, tt.want, model.NodesToFind(tt.percentage, tt.nodes), "%+v", tt)
	}
}

// Extenders are asked about the nodes that the search has found. Preemption does not help on those that it did not come to, unlike on those that
// are rejected (kube-scheduler/framework/interface.go:585@v0.37.1).
func TestSearchForExtenders(t *testing.T) {
	cordoned := mk.Node("e", "1")
	cordoned.Spec.Unschedulable = true
	few := func(_ *int32, nodes int) int {
		assert.Equal(t, 5, nodes, "all but what PreFilter leaves out")
		return 2
	}
	only := says{"only", filter.Answer{Nodes: map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true}}}
	extender := func(f model.ExtenderFilter) model.Settings {
		return model.Settings{Extenders: []model.Extender{{Name: "x", Filter: &f}}}
	}
	const cannot, rejects = " (unresolvable)", model.ExtenderName
	for _, tt := range []struct {
		name     string
		first    []filter.Plugin
		settings model.Settings
		found    map[string]bool
		verdicts map[string]string // but for e
		fits     []string
		omitted  string
	}{
		{"nobody knows what was found", nil, extender(model.ExtenderFilter{Rejects: []string{"a", "d"}}), nil,
			map[string]string{"a": rejects, "d": rejects}, []string{"b", "c"}, ""},
		{"one of two is rejected", nil, extender(model.ExtenderFilter{Rejects: []string{"b", "d"}}), map[string]bool{"b": true, "c": true, "e": true},
			map[string]string{"a": rejects + cannot, "b": rejects, "d": rejects + cannot}, []string{"c"}, ""},
		{"one of two is omitted", nil, extender(model.ExtenderFilter{Omits: []string{"b"}}), map[string]bool{"b": true, "c": true, "e": true},
			map[string]string{"a": rejects + cannot, "b": rejects + cannot, "d": rejects + cannot}, []string{"c"}, "b"},
		{"a plugin leaves one out", []filter.Plugin{only}, extender(model.ExtenderFilter{Rejects: []string{"b"}}), map[string]bool{"b": true, "c": true, "e": true},
			map[string]string{"a": "only" + cannot, "b": rejects, "d": "only" + cannot, "left": "only" + cannot}, []string{"c"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := model.Documented()
			a.Plugins, a.NodesToFind, a.Found = append(tt.first, a.Plugins...), few, tt.found
			c := mk.Cluster(mk.Pod("p", 9), tt.settings, mk.Node("d", "1"), mk.Node("c", "1"), cordoned, mk.Node("b", "1"), mk.Node("a", "1"))
			if tt.first != nil {
				c.Nodes = append(c.Nodes, mk.Node("left", "1"))
			}
			d := a.Decide(c)
			require.NotNil(t, d.Search)
			assert.Equal(t, 2, d.Search.Enough)
			assert.Equal(t, []string{"a", "b", "c", "d"}, d.Search.Passing)
			for _, name := range d.Search.Passing {
				assert.Equal(t, slices.Contains(tt.settings.Extenders[0].Filter.Rejects, name) || name == tt.omitted, d.Cycle.OnlyExtender[name], name)
			}
			for name, omitted := range d.Search.Omitted {
				assert.Equal(t, name == tt.omitted, omitted, name)
			}
			assert.Len(t, d.Search.Omitted, 4)
			assert.ElementsMatch(t, tt.fits, d.Fits)
			got := map[string]string{}
			for name, v := range d.Verdicts {
				got[name] = v.String()
			}
			assert.Equal(t, "NodeUnschedulable"+cannot, got["e"])
			delete(got, "e")
			assert.Equal(t, tt.verdicts, got)
			if tt.found != nil {
				assert.True(t, d.Cycle.Absent["a"] && d.Cycle.Absent["d"])
				assert.NotContains(t, d.Verdicts["a"].Reasons, filter.NodeAffinityReason, "it was not looked at")
			}
		})
	}
}

// An extender is asked about all nodes that pass if they are no more than enough. Its error ends the cycle, whatever was found.
func TestSearchThatMatters(t *testing.T) {
	fails := []model.Extender{{Name: "x", Filter: &model.ExtenderFilter{Fails: true}}}
	for _, tt := range []struct {
		name      string
		extenders []model.Extender
		enough    int
		found     map[string]bool
		matters   bool
		fails     string
	}{
		{"nobody is asked", nil, 1, nil, false, ""},
		{"it does not filter", []model.Extender{{Name: "x", Preempt: &model.ExtenderPreempt{}}}, 1, nil, false, ""},
		{"just enough", []model.Extender{{Name: "x", Filter: &model.ExtenderFilter{}}}, 2, nil, false, ""},
		{"it fails", fails, 1, nil, true, "x"},
		{"it fails on the node that was found", fails, 1, map[string]bool{"b": true}, true, "x"},
	} {
		a := model.Documented()
		a.NodesToFind, a.Found = func(*int32, int) int { return tt.enough }, tt.found
		d := a.Decide(mk.Cluster(mk.Pod("p", 9), model.Settings{Extenders: tt.extenders}, mk.Node("a", "1"), mk.Node("b", "1")))
		assert.Equal(t, tt.matters, d.Search != nil, tt.name)
		assert.Equal(t, tt.fails, d.FilterFails, tt.name)
	}
}
