package properties

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
)

// A promise that is limited to some releases is one that there is, made by the
// linked release and not by the oldest.
func TestSince(t *testing.T) {
	known := []string{startTimesCount, victimsAreMarked, disruptedExempt, nominatedFirst, budgetsSpent}
	for _, p := range slices.Concat(Invariants(), Sampled()) {
		known = append(known, p.Name)
	}
	for promise, releases := range since {
		require.Contains(t, known, promise)
		require.True(t, model.Linked.In(releases), promise)
		require.False(t, model.Releases()[0].In(releases), promise)
		require.False(t, (&Subject{Release: model.Releases()[0]}).makes(promise), promise)
	}
}
