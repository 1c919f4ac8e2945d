package reach_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestFloors: drawn timelines come to each choice point in each state, to each failing call, to
// each death, and to the three patterns of bugs in controllers: so often that no campaign that is
// asked for its quotas misses one by chance.
func TestFloors(t *testing.T) {
	const often = 3
	count := map[string]int{}
	for seed := range uint64(reach.Enough) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err, "seed %d", seed)
		for what := range reach.Of(trace) {
			count[what]++
		}
	}
	names := map[string]bool{}
	for _, p := range reach.Probes() {
		t.Logf("%4d %s", count[p.Name], p.Name)
		assert.GreaterOrEqual(t, count[p.Name], often*p.Quota, p.Name)
		assert.False(t, names[p.Name], "%s is a name for two", p.Name)
		names[p.Name] = true
	}
	for what := range count {
		assert.True(t, names[what], "%s is no probe", what)
	}
}
