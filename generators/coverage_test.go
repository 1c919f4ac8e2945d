package generators_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// TestClustersAreHard runs clusters through the real scheduler and counts what
// they exercise.
func TestClustersAreHard(t *testing.T) {
	clusters := testsize.Times(4000)
	checker := properties.Checker{System: inprocess.New()}
	defer func() { require.NoError(t, checker.System.Close()) }()

	var stats probe.Stats
	verdicts, ineligible, beyond := map[string]int{}, map[string]int{}, 0
	for seed := range uint64(clusters) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoErrorf(t, err, "seed %d", seed)
		require.NotNilf(t, r.Observation, "seed %d: %v", seed, r.Unmodelled)
		if r.Unmodelled != nil {
			beyond++
		}
		stats.Add(r)
		for _, v := range r.Observation.Filters {
			verdicts[v.String()]++
		}
		for _, run := range r.Observation.DryRuns {
			if run.Failed != nil {
				verdicts["dry run: "+run.Failed.String()]++
			}
		}
		if e := r.Observation.Eligible; e != nil && !e.OK {
			ineligible[e.Reason]++
		}
	}
	t.Logf("%+v", stats)
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		t.Logf("%6d %s", verdicts[v], v)
	}
	t.Log(ineligible)

	share := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	require.Greater(t, share(stats.Preempted, clusters), 52.0, "percent that preempt")
	require.InDelta(t, 11, share(stats.Scheduled, clusters), 5, "percent that fit as they are")
	require.Greater(t, share(stats.SeveralCandidates, stats.Preempted), 40.0, "percent with a choice")

	require.InDelta(t, 2.5, share(beyond, clusters), 2, "percent that are not modelled")

	criteria := probe.Criteria()
	late := 0
	for i, name := range criteria {
		require.Greaterf(t, stats.DecidedBy[name], clusters/400, "decided by %s", name)
		if i >= 2 {
			late += stats.DecidedBy[name]
		}
	}
	require.Greater(t, share(late, stats.SeveralCandidates), 20.0, "percent decided at the third criterion or later")

	for _, verdict := range []model.Verdict{
		{Plugin: "NodeUnschedulable", Unresolvable: true},
		{Plugin: "TaintToleration", Unresolvable: true},
		{Plugin: "NodeAffinity", Unresolvable: true},
		{Plugin: "NodePorts"},
		{Plugin: "NodeResourcesFit"},
		{Plugin: "NodeResourcesFit", Unresolvable: true},
	} {
		require.Greater(t, verdicts[verdict.String()], clusters/100, verdict.String())
	}
	require.GreaterOrEqual(t, len(ineligible), 2, fmt.Sprint(ineligible))
}
