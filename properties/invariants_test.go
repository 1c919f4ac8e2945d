package properties

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
)

// What kube-scheduler does keeps every promise, but for known findings; and the
// clusters are such that every promise says something about some of them.
func TestInvariantsOnGeneratedClusters(t *testing.T) {
	checker := newChecker(t)
	checker.Properties = Invariants()
	applied := map[string]int{}
	for i, p := range checker.Properties {
		checker.Properties[i].Applies = func(s *Subject) bool {
			applies := p.Applies == nil || p.Applies(s)
			if applies {
				applied[p.Name]++
			}
			return applies
		}
	}
	var stats Stats
	for seed := range uint64(testsize.Times(3000)) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err, "seed %d", seed)
		stats.Add(r)
		for _, f := range r.Unexplained() {
			t.Errorf("seed %d: %v", seed, f)
		}
	}
	for _, p := range Invariants() {
		assert.Positive(t, applied[p.Name], "%s says nothing about any cluster", p.Name)
	}
	t.Logf("applied %v, known %v", applied, stats.Known)
}

// Of a system that shows no more than its answer, what it does not show is not
// held against it.
func TestInvariantsOfAnswersAlone(t *testing.T) {
	system := newChecker(t).System
	checker := &Checker{Properties: Invariants(), System: cheat{System: system, tell: func(_ *model.Cluster, o *model.Observation) {
		*o = model.Observation{System: o.System, ScheduledTo: o.ScheduledTo, Pick: o.Pick, Actuation: o.Actuation}
	}}}
	known := 0
	for seed := range uint64(testsize.Times(500)) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err, "seed %d", seed)
		for _, f := range r.Findings {
			if f.Property != Differential {
				assert.NotNil(t, f.Known, "seed %d: %v", seed, f)
				known++
			}
		}
	}
	assert.Positive(t, known, "the answers are still checked")
}

// The ledger names only properties that there are, and each once.
func TestLedgerNamesProperties(t *testing.T) {
	names := map[string]bool{}
	for _, p := range append(Invariants(), Sampled()...) {
		assert.False(t, names[p.Name], "two properties %s", p.Name)
		names[p.Name] = true
	}
	ids := map[string]bool{}
	for _, e := range Ledger() {
		assert.False(t, ids[e.ID], "two findings %s", e.ID)
		ids[e.ID] = true
		assert.True(t, e.Quirk != "" || len(e.Properties) > 0, "nothing recognises %s", e.ID)
		for _, p := range e.Properties {
			assert.True(t, names[p], "%s breaks %s, which is no property", e.ID, p)
		}
	}
}
