package unmodelled_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// What the documents leave open, or contradict each other about, is not modelled.
func TestGroupsUnmodelled(t *testing.T) {
	member := mk.Pod("a", 0, mk.On("n"), mk.Member("g"))
	keeps := mk.WithGroups()
	keeps.Extenders = []model.Extender{{Preempt: &model.ExtenderPreempt{Changes: []model.VictimChange{{Node: "n", Keeps: new(int32(1))}}}}}
	for _, tt := range []struct {
		name  string
		parts []any
		want  string
	}{
		{"one tree", []any{mk.WithGroups(), mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "", 1, true)}, ""},
		{"priorities differ", []any{mk.WithGroups(), mk.Group("g", 2, mk.PartOf("c")), mk.Composite("c", "", 1, true)},
			"CompositePodGroup default/c: spec.priority: groups of one tree that differ in priority"},
		{"priorities differ, but groups of groups are not known", []any{
			model.Settings{FeatureGates: map[string]bool{model.GateWorkload: true}}, mk.Group("g", 2, mk.PartOf("c")), mk.Composite("c", "", 1, true)}, ""},
		{"part of itself", []any{mk.WithGroups(), mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "c", 1, true)},
			"CompositePodGroup default/c: spec.parentCompositePodGroupName: a group that is part of itself"},
		{"four levels", []any{mk.WithGroups(), mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "d", 1, true), mk.Composite("d", "e", 1, true), mk.Composite("e", "", 1, true)}, ""},
		{"five levels", []any{mk.WithGroups(), mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "d", 1, true), mk.Composite("d", "e", 1, true),
			mk.Composite("e", "f", 1, true), mk.Composite("f", "", 1, true)},
			"CompositePodGroup default/f: spec.parentCompositePodGroupName: a tree of groups that is deeper than a Workload may be"},
		{"an extender keeps some", []any{keeps, mk.Group("g", 1, mk.AsAWhole)},
			"Pod default/a: spec.schedulingGroup: an extender that keeps some of the victims, where they go together"},
		{"an extender keeps some of those that go one by one", []any{keeps, mk.Group("g", 1)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9), append(tt.parts, mk.Node("n", "1"), member)...)
			got := ""
			for _, f := range unmodelled.In(c, model.NewSnapshot(c)) {
				got += f.String()
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
