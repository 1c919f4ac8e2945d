package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
)

func TestCasesRoundTrip(t *testing.T) {
	s, err := Load("cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		text := written(t, c)
		again := readOne(t, text)
		require.Empty(t, diffCases(c, again), c.File)
		require.Equal(t, text, written(t, again), c.File)
	}
}

// Clusters with everything that generators make are written without what reading
// fills in, and read back as they were.
func TestGeneratedClustersRoundTrip(t *testing.T) {
	for seed := range uint64(testsize.Times(200)) {
		c := &Case{Name: "generated", Finding: &Finding{Property: "differential", Stage: "dry run", Kind: "fewer victims",
			Shape: "budgets, terminating pods", Found: "preemptcheck fuzz --seed 1 --first 4711 --cases 1"}, Cluster: generators.FromSeed(seed)}
		text := written(t, c)
		require.Empty(t, cmp.Diff(c, readOne(t, text), cmpopts.IgnoreFields(Case{}, "File"), cmpopts.EquateEmpty()), "seed %d", seed)
		for _, filledIn := range []string{"status:\n  capacity:", "dnsPolicy:", "terminationMessagePath:", "\n    image:"} {
			require.NotContains(t, text, filledIn, "seed %d", seed)
		}
	}
}
