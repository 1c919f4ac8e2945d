package probe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
)

// Groups that preempt are counted by what comes of them, and by their shapes.
func TestGroupsAreCounted(t *testing.T) {
	checker := checktest.Checker(t)
	var s Stats
	for seed := range uint64(250) {
		if c := generators.OfAnyPreemptor(seed, map[string]bool{model.GateWorkload: true}); c.PreemptorGroup != "" {
			r, err := checker.Check(t.Context(), c)
			require.NoError(t, err)
			s.Add(r)
		}
	}
	require.Equal(t, s.Clusters, s.Scheduled+s.Preempted+s.NotHelpful+s.Ineligible+s.InError+s.Unmodelled)
	for what, count := range map[string]int{"scheduled": s.Scheduled, "preempted": s.Preempted, "not helpful": s.NotHelpful, "ineligible": s.Ineligible, "in error": s.InError} {
		require.Positive(t, count, what)
	}
	require.Greater(t, s.Shapes.Count(), 20)
}
