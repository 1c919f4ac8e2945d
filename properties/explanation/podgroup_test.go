package explanation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// TestGroupIsToldAsItWas: where the scheduler agrees, what is told of a group is what was observed, and
// is one of all allowed answers.
func TestGroupIsToldAsItWas(t *testing.T) {
	checker := checktest.Checker(t)
	seen := map[string]int{}
	for seed := range uint64(500) {
		c := generators.OfAnyPreemptor(seed, map[string]bool{model.GateWorkload: true})
		if c.PreemptorGroup == "" {
			continue
		}
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		if r.Group == nil || len(r.Findings) > 0 || r.Undecided != "" {
			continue
		}
		g := r.Observation.Group
		e := explanation.Group(r)
		var text strings.Builder
		e.WriteText(&text)
		outcome, _ := explanation.Outcome(r)
		what := strings.Fields(outcome)[0]
		seen[what]++
		require.Equal(t, what == "waits", e.Waits || len(e.Awaits) > 0, "seed %d: %s", seed, outcome)
		require.Equal(t, what == "fits" || strings.Contains(outcome, "fit on"), e.Fits, "seed %d: %s", seed, outcome)
		require.Equal(t, what == "preempts", e.Helps, "seed %d: %s", seed, outcome)
		if a := r.Observation.Actuation; a != nil { // the group had a cycle
			require.Equal(t, a.Deleted, e.Deleted, "seed %d", seed)
		}
		require.Equal(t, e.Fails != "", r.Observation.CycleError != "", "seed %d", seed)
		if e.First != nil {
			require.Equal(t, someNode(g.First), e.First.Placed != nil, "seed %d", seed)
		}
		if e.Helps {
			require.Equal(t, len(g.Victims), victimsOf(e), "seed %d", seed)
			require.Equal(t, e.Reference.Nominated, e.Nominated, "seed %d", seed)
			require.Contains(t, text.String(), fmt.Sprintf("of %d pod", len(e.Pods)), "seed %d", seed)
		}
		if len(c.Pods) > 12 {
			continue
		}
		if courses, exact := explain.Courses(r.Group, 200); exact {
			seen["exact"]++
			require.True(t, slices.ContainsFunc(courses, func(course *explain.Course) bool { return as(course, e) }), "seed %d: none of %d", seed, len(courses))
		}
	}
	for _, what := range []string{"preempts", "fits", "no", "exact"} {
		require.GreaterOrEqual(t, seen[what], 3, "%s: %v", what, seen)
	}
}

func someNode(tries []model.MemberTry) bool {
	return slices.ContainsFunc(tries, func(t model.MemberTry) bool { return t.Node != "" })
}

func victimsOf(e *explanation.OfGroup) (n int) {
	for _, u := range e.Evicted {
		n += len(u.Pods)
	}
	return n
}

// as tells whether a course comes to what is told.
func as(c *explain.Course, e *explanation.OfGroup) bool {
	if c.Waits != e.Waits || c.Binds != e.Fits || c.Preempts != e.Helps || c.Fails != e.Fails || len(c.Nominated) != len(e.Nominated) {
		return false
	}
	for _, n := range e.Nominated {
		if c.Nominated[n.Pod] != n.Node {
			return false
		}
	}
	return c.Actuation == nil || slices.Equal(c.Actuation.Deleted, e.Deleted) && c.Violations == e.Violations
}

// TestGroupThatBreaksDown: of a scheduler that dies with a group is told what the rules say, and that it died.
func TestGroupThatBreaksDown(t *testing.T) {
	stream, err := corpus.Load("../../cmd/preemptcheck/app/testdata/groups/gang.yaml")
	require.NoError(t, err)
	checker := checktest.Checker(t)
	checker.System = checktest.Liar{System: checker.System, Tell: func(_ *model.Cluster, o *model.Observation) {
		*o = model.Observation{System: o.System, Crash: &model.Crash{Kind: model.Panic, Message: "nil map", Where: "here"}}
	}}
	r, err := checker.Check(t.Context(), stream.Cases[0].Cluster)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	outcome, _ := explanation.Outcome(r)
	require.Equal(t, "panic", outcome)
	require.False(t, explanation.IsLeftToChance(r))
	e := explanation.Group(r)
	require.True(t, e.Helps)
	var text strings.Builder
	e.WriteText(&text)
	require.Contains(t, text.String(), "shop/a, shop/b are nominated to node-1")
	require.Contains(t, text.String(), "panic in here: nil map")
}
