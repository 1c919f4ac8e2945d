package invariant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// What kube-scheduler does keeps every promise, but for known findings; and the
// clusters are such that every promise says something about some of them.
func TestInvariantsOnGeneratedClusters(t *testing.T) {
	checker := checktest.Checker(t)
	checker.Properties = All()
	applied := map[string]int{}
	for i, p := range checker.Properties {
		checker.Properties[i].Applies = func(s *properties.Subject) bool {
			applies := p.Applies == nil || p.Applies(s)
			if applies {
				applied[p.Name]++
			}
			return applies
		}
	}
	var stats probe.Stats
	for seed := range uint64(testsize.Times(3000)) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err, "seed %d", seed)
		stats.Add(r)
		for _, f := range r.Unexplained() {
			t.Errorf("seed %d: %v", seed, f)
		}
	}
	for _, p := range All() {
		assert.Positive(t, applied[p.Name], "%s says nothing about any cluster", p.Name)
	}
	t.Logf("applied %v, known %v", applied, stats.Known)
}

// Of a system that shows no more than its answer, what it does not show is not
// held against it.
func TestInvariantsOfAnswersAlone(t *testing.T) {
	system := checktest.Checker(t).System
	checker := &properties.Checker{Properties: All(), System: checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) {
		*o = model.Observation{System: o.System, ScheduledTo: o.ScheduledTo, Pick: o.Pick, Actuation: o.Actuation}
	}}}
	known := 0
	for seed := range uint64(testsize.Times(500)) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err, "seed %d", seed)
		for _, f := range r.Findings {
			if f.Property != properties.Differential {
				assert.NotNil(t, f.Known, "seed %d: %v", seed, f)
				known++
			}
		}
	}
	assert.Positive(t, known, "the answers are still checked")
}
