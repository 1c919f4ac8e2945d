package model_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// What is not modelled may be one plugin's, left to chance, and seen.
func TestUnmodelled(t *testing.T) {
	whose := func(plugin string) model.UnmodelledField {
		return model.UnmodelledField{Object: "Pod default/p", Field: "spec.a", Why: "why", By: plugin}
	}
	drawn := whose("A")
	drawn.Chance = true
	seen := drawn
	seen.Seen = true
	for _, tt := range []struct {
		name                   string
		u                      model.Unmodelled
		byA, onlySeen, chances bool
	}{
		{"nothing", nil, true, true, false},
		{"one plugin's", model.Unmodelled{whose("A")}, true, false, false},
		{"another one's", model.Unmodelled{whose("A"), whose("B")}, false, false, false},
		{"nobody's", model.Unmodelled{whose("")}, false, false, false},
		{"lots are drawn", model.Unmodelled{whose("A"), drawn}, false, false, true},
		{"it is seen", model.Unmodelled{seen}, true, true, true},
		{"one of two is", model.Unmodelled{seen, whose("A")}, true, false, true},
	} {
		assert.Equal(t, tt.byA, tt.u.OnlyBy("A"), tt.name)
		assert.Equal(t, tt.onlySeen, tt.u.OnlySeen(), tt.name)
		assert.Equal(t, tt.chances, tt.u.LeftToChance(), tt.name)
	}
	var u model.Unmodelled
	u.Add("Pod default/p", "spec.a", "why")
	u.Add("scheduler", "b", "because")
	assert.Equal(t, "not modelled: Pod default/p: spec.a: why; scheduler: b: because", u.Error())
}

// A copy has lists of its own, also of what was left out.
func TestDeepCopyOfLists(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"))
	c.NotGiven = []model.UnmodelledField{{Object: "dump"}}
	copied := c.DeepCopy()
	assert.Equal(t, c.NotGiven, copied.NotGiven)
	copied.NotGiven[0].Object = "other"
	assert.Equal(t, "dump", c.NotGiven[0].Object)
}

// It goes round the zones, a node of each in turn, and older labels count first.
func TestRound(t *testing.T) {
	in := func(region, zone string) func(*v1.Node) {
		return func(n *v1.Node) {
			n.Labels = map[string]string{v1.LabelTopologyRegion: region, v1.LabelTopologyZone: zone}
		}
	}
	older := func(n *v1.Node) {
		n.Labels = map[string]string{v1.LabelFailureDomainBetaRegion: "r", v1.LabelFailureDomainBetaZone: "y", v1.LabelTopologyRegion: "q", v1.LabelTopologyZone: "x"}
	}
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("x1", "1", in("r", "x")), mk.Node("x2", "1", in("r", "x")), mk.Node("x3", "1", in("r", "x")),
		mk.Node("y1", "1", in("r", "y")), mk.Node("y2", "1", older), mk.Node("of-q", "1", in("q", "x")), mk.Node("none", "1")))
	var names []string
	for _, n := range model.Round(s.Nodes) {
		names = append(names, n.Name)
	}
	assert.Equal(t, []string{"x1", "y1", "of-q", "none", "x2", "y2", "x3"}, names)
}

// What a plugin by itself comes to is told in words.
func TestFilterRunOutcome(t *testing.T) {
	for want, run := range map[string]model.FilterRun{
		"error: oops":         {Error: "oops"},
		"passes":              {},
		"fails, unresolvable": {Failed: &model.Verdict{Unresolvable: true}},
		"fails":               {Failed: &model.Verdict{}},
	} {
		assert.Equal(t, want, run.Outcome())
		run.Plugin, run.Node, run.Change = "NodePorts", "n", model.Untouched
		assert.Equal(t, "NodePorts on n as it is: "+want, run.String())
		run.Pod, run.Change = "default/v", model.Removed
		assert.Equal(t, "NodePorts on n with a pod removed (default/v): "+want, run.String())
	}
}

// The criteria look at all victims, in whatever order an extender tells them.
func TestPrioritiesOfVictims(t *testing.T) {
	o := &model.Outcome{Pods: []*filter.Pod{{Priority: 1}, {Priority: 5}, {Priority: -2}}}
	assert.Equal(t, int32(5), o.HighestPriority())
	assert.Equal(t, 3*int64(1<<31)+4, o.SumOfPriorities())
	better, worse := &model.Outcome{Pods: o.Pods[:1]}, &model.Outcome{Pods: o.Pods[:2]}
	nodes, by := model.Documented().Pick(map[string]*model.Outcome{"a": worse, "b": better, "c": better})
	assert.Equal(t, []string{"b", "c"}, nodes)
	assert.Equal(t, model.Tie, by)
}

// A pod without a priority has priority 0.
func TestPriority(t *testing.T) {
	assert.Equal(t, int32(0), model.Priority(&v1.Pod{}))
	assert.Equal(t, int32(-5), model.Priority(mk.Pod("p", -5)))
}

// Stages are told as the scheduler goes through them, and before the other extension points.
func TestStages(t *testing.T) {
	stages := model.Stages()
	turn := []model.Stage{model.StageFilter, model.StageEligible, model.StageDryRun, model.StagePick, model.StageActuate, model.StagePostFilter, model.StageBind}
	assert.Equal(t, turn, slices.DeleteFunc(stages, func(s model.Stage) bool { return !slices.Contains(turn, s) }))
}
