package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

func keysOf(pods []*v1.Pod) (keys []string) {
	for _, p := range pods {
		keys = append(keys, p.Name)
	}
	return keys
}

func decided(t *testing.T, c *Cluster) *Decision {
	d, err := Decide(c, Documented())
	require.NoError(t, err)
	return d
}

// Possible victims take from their budgets in order of importance.
func TestPossibleVictims(t *testing.T) {
	c := aCluster(aPod("p", 9, cpu("3")), aNode("n", "3"),
		aPod("low", 1, on("n"), cpu("1"), app("a")),
		aPod("high", 2, on("n"), cpu("1"), app("a")),
		aPod("free", 3, on("n"), cpu("1")),
		aBudget("one", 1, forApp("a")), aBudget("two", 2, forApp("a")))
	possible := decided(t, c).PossibleVictims("n")
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
	require.Empty(t, decided(t, c).PossibleVictims("elsewhere"))
}

// A node is held for nominated pods only if they alone keep the preemptor away.
func TestHeldFor(t *testing.T) {
	equal, lower := aPod("equal", 9, cpu("1"), nominated("n")), aPod("lower", 1, cpu("1"), nominated("n"))
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
		{"only after preemption", "1", []any{equal, aPod("victim", 0, on("n"), cpu("1"))}, nil, []string{"equal"}},
		{"room for both after preemption", "2", []any{equal, aPod("victim", 0, on("n"), cpu("2"))}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decided(t, aCluster(aPod("p", 9, cpu("1")), append(test.pods, aNode("n", test.room))...))
			require.Equal(t, test.held, keysOf(d.HeldFor("n")))
			require.Equal(t, test.dryRun, keysOf(d.DryRunHeldFor("n")))
		})
	}
}

func TestPreFilterNames(t *testing.T) {
	names := func(names ...string) *Decision {
		p := aPod("p", 9, cpu("1"))
		var fields []v1.NodeSelectorRequirement
		for _, n := range names {
			fields = append(fields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{n}})
		}
		if len(names) > 0 {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: fields}}}}}
		}
		return decided(t, aCluster(p, aNode("n", "1"), aNode("m", "1")))
	}
	for _, test := range []struct {
		names            []string
		rejects, narrows bool
	}{{nil, false, false}, {[]string{"n"}, false, true}, {[]string{"n", "m"}, true, false}, {[]string{"gone"}, false, false}} {
		require.Equal(t, test.rejects, names(test.names...).PreFilterRejects(), test.names)
		require.Equal(t, test.narrows, names(test.names...).PreFilterNarrows(), test.names)
	}
}
