package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// A scheduler has the pods of its profiles.
func TestSchedules(t *testing.T) {
	for second, want := range map[string][]string{"": {model.DefaultSchedulerName}, "second": {model.DefaultSchedulerName, "second"}} {
		var s model.Settings
		if second != "" {
			s.SecondProfile = &model.Profile{SchedulerName: second}
		}
		var has []string
		for _, name := range []string{model.DefaultSchedulerName, "second", "third"} {
			if s.Schedules(name) {
				has = append(has, name)
			}
		}
		assert.Equal(t, want, has)
	}
}

// A configuration takes the place of the other settings, and what a profile says comes first (docs: reference/config-api/kube-scheduler-config.v1).
func TestConfiguredSettings(t *testing.T) {
	plain := model.Settings{Parallelism: new(int32(2)), PercentageOfNodesToScore: new(int32(30)), DryRunOffset: new(int32(3)),
		FeatureGates: map[string]bool{"A": true}, Extenders: []model.Extender{{Name: "e"}}, SecondProfile: &model.Profile{SchedulerName: "two"}}
	require.Equal(t, plain, plain.Under(nil))
	assert.Equal(t, int32(2), *plain.Workers())
	assert.Equal(t, int32(30), *plain.NodesToScore("two"))
	assert.Equal(t, []string{model.DefaultSchedulerName, "two"}, plain.Schedulers())
	assert.Equal(t, []string{model.DefaultSchedulerName}, model.Settings{}.Schedulers())
	assert.Equal(t, 3, plain.Offset())
	assert.Zero(t, model.Settings{}.Offset())

	text := `{"parallelism": 5, "percentageOfNodesToScore": 40, "profiles": [{"schedulerName": "one"}, {"schedulerName": "two", "percentageOfNodesToScore": 50}]}`
	s := plain.Under([]byte(text))
	assert.Equal(t, model.Settings{Configuration: []byte(text), DryRunOffset: plain.DryRunOffset, FeatureGates: plain.FeatureGates, Extenders: plain.Extenders}, s)
	assert.Equal(t, []string{"one", "two"}, s.Schedulers())
	assert.Equal(t, int32(5), *s.Workers())
	for name, want := range map[string]int32{"one": 40, "two": 50, "three": 40} {
		assert.Equal(t, want, *s.NodesToScore(name), name)
		assert.Equal(t, name != "three", s.Schedules(name), name)
	}
	for text, want := range map[string][]string{
		`{}`:                 {model.DefaultSchedulerName},
		`{"profiles": [{}]}`: {model.DefaultSchedulerName},
		`{"profiles": [{"schedulerName": "a"}, {}]}`: {"a", ""},
	} {
		assert.Equal(t, want, model.Settings{Configuration: []byte(text)}.Schedulers(), text)
	}

	for _, tt := range []struct {
		gates map[string]bool
		want  bool
	}{{nil, true}, {map[string]bool{model.GateAsyncPreemption: true}, true}, {map[string]bool{model.GateAsyncPreemption: false}, false}} {
		assert.Equal(t, tt.want, model.Settings{FeatureGates: tt.gates}.AsyncPreemption())
	}
}

// How many candidates are enough the profile of the preemptor says.
func TestCandidatesOfTheProfile(t *testing.T) {
	second := model.Settings{MinCandidateNodesAbsolute: new(int32(1)), MinCandidateNodesPercentage: new(int32(0)),
		SecondProfile: &model.Profile{SchedulerName: "two", MinCandidateNodesAbsolute: new(int32(2)), MinCandidateNodesPercentage: new(int32(0))}}
	configured := model.Settings{Configuration: []byte(`{"profiles": [{"schedulerName": "one"}, {"schedulerName": "two", "pluginConfig": [
		{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 5}},
		{"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": 2, "minCandidateNodesPercentage": 0}},
		{"name": "NodeAffinity", "args": {"minCandidateNodesAbsolute": 1}}]}]}`)}
	for _, tt := range []struct {
		settings model.Settings
		name     string
		want     int
	}{
		{second, model.DefaultSchedulerName, 1},
		{second, "two", 2},
		{second, "three", 1},
		{configured, "one", 4},
		{configured, "two", 2},
		{model.Settings{MinCandidateNodesAbsolute: new(int32(1)), MinCandidateNodesPercentage: new(int32(75))}, model.DefaultSchedulerName, 3},
		{model.Settings{MinCandidateNodesAbsolute: new(int32(0)), MinCandidateNodesPercentage: new(int32(0))}, model.DefaultSchedulerName, 1},
	} {
		c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), func(p *v1.Pod) { p.Spec.SchedulerName = tt.name }), tt.settings)
		for i := range 4 {
			node := fmt.Sprint("n", i)
			c.Nodes, c.Pods = append(c.Nodes, mk.Node(node, "1")), append(c.Pods, mk.Pod("on-"+node, 0, mk.CPU("1"), mk.On(node)))
		}
		assert.Equal(t, tt.want, model.Documented().Decide(c).NumCandidates, tt.name)
	}
}

// Nodes have other names in all that extenders say of them.
func TestRenameNodes(t *testing.T) {
	settings := func(of func(string) string) model.Settings {
		a, b := of("a"), of("b")
		return model.Settings{Extenders: []model.Extender{
			{Name: "neither"},
			{Name: "filters", Filter: &model.ExtenderFilter{Rejects: []string{a, b}, Excludes: []string{b, a}, Omits: []string{a, b}}},
			{Name: "preempts", Preempt: &model.ExtenderPreempt{Drops: []string{a, b}, Changes: []model.VictimChange{{Node: a, Reverses: true}, {Node: b}}}},
		}}
	}
	same := func(name string) string { return name }
	s := settings(same)
	assert.Equal(t, settings(strings.ToUpper), s.RenameNodes(strings.ToUpper))
	assert.Equal(t, settings(same), s, "it is a copy")
}
