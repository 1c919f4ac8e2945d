package reach_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestFloors: drawn timelines come to each choice point in each state, to each failing call, to
// each death, and to the three patterns of bugs in controllers.
func TestFloors(t *testing.T) {
	const drawn, floor = 2000, 1
	count := map[string]int{}
	for seed := range uint64(drawn) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err, "seed %d", seed)
		for what := range reach.Of(trace) {
			count[what]++
		}
	}
	for _, what := range all() {
		t.Logf("%4d %s", count[what], what)
		assert.GreaterOrEqual(t, count[what], floor, what)
	}
}

func all() (all []string) {
	for _, place := range timeline.Places() {
		for _, state := range reach.States() {
			all = append(all, reach.At(place, state))
		}
	}
	for _, call := range timeline.Calls() {
		all = append(all, reach.Fails(call, false), reach.Fails(call, true))
	}
	for _, state := range reach.States() {
		all = append(all, reach.Dies(state))
	}
	for _, state := range reach.PodStates() {
		all = append(all, reach.Told("updated", state), reach.Told("deleted", state))
	}
	return append(all, reach.Stale, reach.Unobserved, reach.Intermediate)
}
