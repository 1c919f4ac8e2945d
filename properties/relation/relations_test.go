package relation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// counting counts how often a system is asked.
type counting struct {
	reference.System
	asked int
}

func (s *counting) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	s.asked++
	return s.System.Observe(ctx, c)
}

// Each relation says something about many clusters, and what breaks it is known.
func TestRelationsOnGeneratedClusters(t *testing.T) {
	system := &counting{System: checktest.System(t)}
	applied, preempted, known := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := range uint64(testsize.Times(2000)) {
		s := checktest.Subject(t, system, generators.FromSeed(seed))
		for _, r := range All() {
			asked := system.asked
			findings, err := r.Findings(s)
			require.NoError(t, err, "seed %d, %s", seed, r.Name)
			if system.asked > asked {
				applied[r.Name]++
				if s.Observation.Pick != nil {
					preempted[r.Name]++
				}
			}
			for _, f := range findings {
				if len(f.Known) == 0 {
					t.Errorf("seed %d: %v", seed, f)
				}
			}
			if len(findings) > 0 {
				known[r.Name]++
			}
		}
	}
	for _, r := range All() {
		assert.Greater(t, preempted[r.Name], testsize.Times(50), r.Name)
		t.Logf("%-26s applied %4d, of which preempted %4d, broken in a known way %d", r.Name, applied[r.Name], preempted[r.Name], known[r.Name])
	}
	assert.Positive(t, known["splitting-a-budget"])
	if !testing.Short() { // it is rare
		assert.Positive(t, known["permuting-budgets"])
	}
}
