package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// An extender is asked about pods that request one of its resources in some container, as a request or a limit, or about all; those that may be
// ignored are asked last.
func TestExtendersThatAreAsked(t *testing.T) {
	wants := func(containers, inits []v1.Container) *v1.Pod {
		return mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers, p.Spec.InitContainers = containers, inits })
	}
	plain, requests := mk.Container("cpu", "1"), mk.Container("example.com/a", "1")
	limits := v1.Container{Resources: v1.ResourceRequirements{Limits: mk.Resources("example.com/b", "1")}}
	settings := model.Settings{Extenders: []model.Extender{{Name: "ignorable", Ignorable: true}, {Name: "a", ManagedResources: []string{"example.com/a"}},
		{Name: "b", ManagedResources: []string{"example.com/c", "example.com/b"}}, {Name: "all"}}}
	for name, tt := range map[string]struct {
		pod  *v1.Pod
		want []string
	}{
		"no container":      {wants(nil, nil), []string{"all", "ignorable"}},
		"other resources":   {wants([]v1.Container{plain}, []v1.Container{plain}), []string{"all", "ignorable"}},
		"a request":         {wants([]v1.Container{plain, requests}, nil), []string{"a", "all", "ignorable"}},
		"a limit":           {wants([]v1.Container{limits}, []v1.Container{plain}), []string{"b", "all", "ignorable"}},
		"an init container": {wants([]v1.Container{plain}, []v1.Container{requests}), []string{"a", "all", "ignorable"}},
		"both":              {wants([]v1.Container{limits}, []v1.Container{requests}), []string{"a", "b", "all", "ignorable"}},
	} {
		var got []string
		for _, e := range model.Documented().NewCycle(mk.Cluster(tt.pod, settings)).Extenders {
			got = append(got, e.Name)
		}
		assert.Equal(t, tt.want, got, name)
	}
}

// Extenders are asked in turn about the nodes that pass all before. One that fails ends the cycle, unless it may be ignored.
func TestFilterOfExtenders(t *testing.T) {
	const cannot = "Extender (unresolvable)"
	fails := &model.ExtenderFilter{Fails: true}
	for _, tt := range []struct {
		name      string
		extenders []model.Extender
		failed    string
		verdicts  map[string]string // of the nodes a, b and c; that of the node full is always there
	}{
		{"it says something of all nodes", []model.Extender{{Name: "x", Filter: &model.ExtenderFilter{Rejects: []string{"full", "a", "b"}, Excludes: []string{"b"}, Omits: []string{"c"}}}}, "",
			map[string]string{"a": "Extender", "b": cannot, "c": cannot}},
		{"one that is ignored before another one", []model.Extender{{Name: "x", Filter: fails, Ignorable: true}, {Name: "y", Filter: &model.ExtenderFilter{Rejects: []string{"a"}}, Ignorable: true}}, "",
			map[string]string{"a": "Extender"}},
		{"one that fails", []model.Extender{{Name: "x", Filter: &model.ExtenderFilter{}}, {Name: "y", Filter: fails}}, "y", nil},
		{"nothing is left to ask about", []model.Extender{{Name: "x", Filter: &model.ExtenderFilter{Excludes: []string{"a", "b", "c"}}}, {Name: "y", Filter: fails}}, "",
			map[string]string{"a": cannot, "b": cannot, "c": cannot}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			full := []any{mk.Node("full", "1"), mk.Pod("high", 20, mk.CPU("1"), mk.On("full"))}
			d := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), append(full, model.Settings{Extenders: tt.extenders}, mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "1"))...))
			require.Equal(t, tt.failed, d.FilterFails)
			if tt.failed != "" {
				assert.Equal(t, []string{model.ExtenderFilterError}, d.Errors)
				assert.Nil(t, d.Verdicts)
				return
			}
			assert.Empty(t, d.Errors)
			assert.Equal(t, "NodeResourcesFit", d.Verdicts["full"].String())
			got := map[string]string{}
			for name, v := range d.Verdicts {
				if name != "full" {
					got[name] = v.String()
				}
				assert.Equal(t, name != "full", d.Cycle.OnlyExtender[name], name)
			}
			assert.Equal(t, tt.verdicts, got)
		})
	}
}

// Extenders process the candidates in turn, each what the one before has left. A candidate without victims is an error, unless the extender may
// be ignored.
func TestCallExtenders(t *testing.T) {
	const none = int32(0)
	candidates := map[string]*model.Outcome{}
	var dropped, kept []string
	for i := range 40 {
		name := fmt.Sprint("n", i)
		candidates[name] = &model.Outcome{Pods: []*filter.Pod{{Key: "default/v"}, {Key: "default/w"}}, Violations: 1}
		if i%2 == 0 {
			dropped = append(dropped, name)
		} else {
			kept = append(kept, name)
		}
	}
	first := kept[0]
	changes := func(ignorable bool, c model.VictimChange) *model.Extender {
		c.Node = first
		return &model.Extender{Name: "changes", Ignorable: ignorable, Preempt: &model.ExtenderPreempt{Changes: []model.VictimChange{c}}}
	}
	binds, drops := &model.Extender{Name: "binds"}, &model.Extender{Name: "drops", Preempt: &model.ExtenderPreempt{Drops: dropped}}
	for _, tt := range []struct {
		name      string
		extenders []*model.Extender
		failed    string
		left      int
		victims   int // of the first
		violates  int
	}{
		{"one behind another without the verb", []*model.Extender{binds, drops}, "", 20, 2, 1},
		{"one victim is enough", []*model.Extender{drops, changes(false, model.VictimChange{Keeps: new(int32(1))})}, "", 20, 1, 1},
		{"it counts violations", []*model.Extender{changes(false, model.VictimChange{Violations: new(int64(5))}), drops}, "", 20, 2, 5},
		{"no victim", []*model.Extender{drops, changes(false, model.VictimChange{Keeps: new(none)})}, "changes", 0, 0, 0},
		{"one that is ignored before another one", []*model.Extender{{Name: "fails", Ignorable: true, Preempt: &model.ExtenderPreempt{Fails: model.PreemptError}}, drops}, "", 20, 2, 1},
		{"no victim, ignored", []*model.Extender{drops, changes(true, model.VictimChange{Keeps: new(none)})}, "", 19, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left, failed := (&model.Cycle{Extenders: tt.extenders}).CallExtenders(candidates)
			assert.Equal(t, tt.failed, failed)
			assert.Len(t, left, tt.left)
			for _, name := range dropped {
				assert.NotContains(t, left, name)
			}
			if tt.victims > 0 {
				require.Contains(t, left, first)
				assert.Len(t, left[first].Pods, tt.victims)
				assert.Equal(t, tt.violates, left[first].Violations)
			} else {
				assert.NotContains(t, left, first)
			}
		})
	}
}

// Extenders have a say in what is preempted if one of them supports it.
func TestExtendersPreempt(t *testing.T) {
	filters, preempts := &model.Extender{Filter: &model.ExtenderFilter{}}, &model.Extender{Preempt: &model.ExtenderPreempt{}}
	for _, tt := range []struct {
		extenders []*model.Extender
		want      bool
	}{{nil, false}, {[]*model.Extender{filters}, false}, {[]*model.Extender{filters, preempts}, true}} {
		assert.Equal(t, tt.want, (&model.Cycle{Extenders: tt.extenders}).ExtendersPreempt())
	}
}
