package properties_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

var filtersAlone = properties.FiltersAlone()

// Each filter by itself says what the model says, of thousands of pods and nodes;
// and all of them have something to say.
func TestFiltersAlone(t *testing.T) {
	system := inprocess.New()
	defer func() { require.NoError(t, system.Close()) }()
	var stats probe.Stats
	for n, enough := uint64(0), testsize.Times(3000); stats.Filters["NodeName"].Pairs < enough; n++ {
		c := generators.FromSeed(rand.NewPCG(11, n).Uint64())
		d, err := answers.Decide(c, answers.Documented())
		if errors.As(err, new(model.Unmodelled)) {
			continue
		}
		require.NoError(t, err)
		s := &properties.Subject{Release: release.Linked, Context: context.Background(), Cluster: c, Decision: d, System: system}
		findings, err := filtersAlone.Findings(s)
		require.NoError(t, err)
		r := &properties.Result{Cluster: c, Filters: s.FilterCounts(), Findings: findings}
		require.Empty(t, r.Unexplained(), "cluster %d", n)
		stats.Add(r)
	}
	for _, plugin := range answers.FilterPlugins() {
		count := stats.Filters[plugin]
		t.Logf("%s: %+v", plugin, count)
		if plugin != "NodeName" && !testing.Short() { // a pod that waits names no node
			require.Positive(t, count.Resolvable+count.Unresolvable, plugin)
			require.Greater(t, count.Changes, count.Pairs, plugin)
		}
	}
}

// forgetful says of nodes that were changed what it said of them as they were: a
// plugin that takes no notice of changes.
type forgetful struct{ reference.FilterSystem }

func (f forgetful) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	said := map[[2]string]model.FilterRun{}
	return f.FilterSystem.Filters(ctx, c, plugins, func(r model.FilterRun) {
		key := [2]string{r.Plugin, r.Node}
		if r.Change == model.Untouched {
			said[key] = r
		}
		r.Failed = said[key].Failed
		report(r)
	})
}

// A plugin that is wrong about changes only is caught, plugin by plugin.
func TestFiltersAloneCatchesForgetfulPlugins(t *testing.T) {
	system := inprocess.New()
	defer func() { require.NoError(t, system.Close()) }()
	caught := map[string]bool{}
	for n := range uint64(200) {
		c := generators.FromSeed(rand.NewPCG(11, n).Uint64())
		s := &properties.Subject{Release: release.Linked, Context: context.Background(), Cluster: c, System: forgetful{system}}
		_, err := filtersAlone.Check(s)
		require.NoError(t, err)
		for plugin, count := range s.FilterCounts() {
			if count.Differ > 0 {
				caught[plugin] = true
			}
		}
	}
	require.Contains(t, filtersAlone.Lies, "a plugin forgets changes")
	for _, plugin := range []string{"NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"} {
		require.True(t, caught[plugin], plugin)
	}
}

func BenchmarkFiltersAlone(b *testing.B) {
	system := inprocess.New()
	defer func() { require.NoError(b, system.Close()) }()
	pairs := 0
	for i := 0; i < b.N; i++ {
		c := generators.FromSeed(uint64(i))
		s := &properties.Subject{Release: release.Linked, Context: context.Background(), Cluster: c, System: system}
		_, err := filtersAlone.Check(s)
		require.NoError(b, err)
		pairs += s.FilterCounts()["NodeName"].Pairs
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(pairs), "µs/pair")
}
