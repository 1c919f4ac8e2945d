package properties

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

func newChecker(t testing.TB) *Checker {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	return &Checker{System: system}
}

// What kube-scheduler does is among what the model allows, or a known finding.
func TestDifferentialOnGeneratedClusters(t *testing.T) {
	checker := newChecker(t)
	var stats Stats
	for range testsize.Times(1) {
		rapid.Check(t, func(t *rapid.T) {
			r, err := checker.Check(context.Background(), generators.Cluster().Draw(t, "cluster"))
			require.NoError(t, err)
			stats.Add(r)
			for _, f := range r.Unexplained() {
				t.Fatal(f)
			}
		})
	}
	assert.Positive(t, stats.Preempted)
	assert.Positive(t, stats.SeveralCandidates)
	t.Logf("%+v", stats)
}

// With the generators' own seeds there is no shrinking, but a hundred times the
// clusters for the same time.
func TestDifferentialOnManyClusters(t *testing.T) {
	checker := newChecker(t)
	var stats Stats
	for seed := range uint64(testsize.Times(20000)) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err, "seed %d", seed)
		stats.Add(r)
		for _, f := range r.Unexplained() {
			t.Errorf("seed %d: %v", seed, f)
			if stats.Findings > 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%+v", stats)
	if stats.Clusters >= 10000 {
		requireQuotas(t, &stats)
	}
	hard := stats.DecidedBy[model.Tie]
	for _, criterion := range Criteria()[2:5] {
		hard += stats.DecidedBy[criterion]
	}
	assert.GreaterOrEqual(t, 100*hard, 20*stats.SeveralCandidates, "share that a late criterion or nothing decides")
}
