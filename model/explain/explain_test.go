package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
)

func keysOf(pods []*v1.Pod) (keys []string) {
	for _, p := range pods {
		keys = append(keys, p.Name)
	}
	return keys
}

func decided(t *testing.T, c *model.Cluster) *answers.Set {
	d, err := answers.Decide(c, answers.Documented())
	require.NoError(t, err)
	return d
}

// Possible victims take from their budgets in order of importance.
func TestPossibleVictims(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("3")), mk.Node("n", "3"),
		mk.Pod("low", 1, mk.On("n"), mk.CPU("1"), mk.App("a")),
		mk.Pod("high", 2, mk.On("n"), mk.CPU("1"), mk.App("a")),
		mk.Pod("free", 3, mk.On("n"), mk.CPU("1")),
		mk.Budget("one", 1, mk.ForApp("a")), mk.Budget("two", 2, mk.ForApp("a")))
	possible := explain.PossibleVictims(decided(t, c), "n")
	require.Len(t, possible, 3)
	for i, want := range []struct {
		name, violates string
		budgets        int
	}{{"free", "", 0}, {"high", "", 2}, {"low", "one", 2}} {
		got := possible[i]
		require.Equal(t, want.name, got.Pod.Name)
		require.Len(t, got.Budgets, want.budgets)
		violates := ""
		if got.Violates != nil {
			violates = got.Violates.Name
		}
		require.Equal(t, want.violates, violates)
	}
	require.Empty(t, explain.PossibleVictims(decided(t, c), "elsewhere"))
}

// A node is held for nominated pods only if they alone keep the preemptor away.
func TestHeldFor(t *testing.T) {
	equal, lower := mk.Pod("equal", 9, mk.CPU("1"), mk.Nominated("n")), mk.Pod("lower", 1, mk.CPU("1"), mk.Nominated("n"))
	for _, test := range []struct {
		name         string
		room         string
		pods         []any
		held, dryRun []string
	}{
		{"room for both", "2", []any{equal}, nil, nil},
		{"room for one", "1", []any{equal, lower}, []string{"equal"}, nil},
		{"the lower one does not count", "1", []any{lower}, nil, nil},
		{"room for none", "500m", []any{equal}, nil, nil},
		{"only after preemption", "1", []any{equal, mk.Pod("victim", 0, mk.On("n"), mk.CPU("1"))}, nil, []string{"equal"}},
		{"room for both after preemption", "2", []any{equal, mk.Pod("victim", 0, mk.On("n"), mk.CPU("2"))}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decided(t, mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), append(test.pods, mk.Node("n", test.room))...))
			require.Equal(t, test.held, keysOf(explain.HeldFor(d, "n")))
			require.Equal(t, test.dryRun, keysOf(explain.DryRunHeldFor(d, "n")))
		})
	}
}

func TestPreFilterNames(t *testing.T) {
	names := func(names ...string) *answers.Set {
		p := mk.Pod("p", 9, mk.CPU("1"))
		var fields []v1.NodeSelectorRequirement
		for _, n := range names {
			fields = append(fields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{n}})
		}
		if len(names) > 0 {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: fields}}}}}
		}
		return decided(t, mk.Cluster(p, mk.Node("n", "1"), mk.Node("m", "1")))
	}
	for _, test := range []struct {
		names            []string
		rejects, narrows bool
	}{{nil, false, false}, {[]string{"n"}, false, true}, {[]string{"n", "m"}, true, false}, {[]string{"gone"}, false, false}} {
		require.Equal(t, test.rejects, explain.PreFilterRejects(names(test.names...)), test.names)
		require.Equal(t, test.narrows, explain.PreFilterNarrows(names(test.names...)), test.names)
	}
}
