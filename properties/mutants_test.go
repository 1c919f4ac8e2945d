package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model/mutant"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// mutantClusters is within how many clusters every mutant has to be caught.
const mutantClusters = 20000

// A model that is wrong in one place is caught: there is a generated cluster on
// which the right model agrees with kube-scheduler and the wrong one does not, both
// with the same known findings, if any.
func TestDifferentialCatchesMutants(t *testing.T) {
	checker := checktest.Checker(t)
	lax := "criterion dropped: " + probe.Criteria()[len(probe.Criteria())-2]
	alive := slices.DeleteFunc(mutant.All(), func(m mutant.Mutant) bool { return m.Name == lax })
	for seed := range uint64(mutantClusters) {
		if len(alive) == 0 {
			return
		}
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err)
		if len(r.Unexplained()) > 0 || r.Unmodelled != nil || r.Observation.Crash != nil { // a crash shows no answer
			continue
		}
		var quirks []release.Quirk
		for _, f := range r.Findings {
			for _, id := range f.Known {
				known, _ := ledger.LookUp(id)
				quirks = append(quirks, known.Quirk)
			}
		}
		var survivors []mutant.Mutant
		for _, m := range alive {
			d, err := m.With(quirks...).Seeing(r.Observation).Decide(r.Cluster)
			require.NoError(t, err)
			if dis := d.Admits(r.Observation); dis != nil {
				t.Logf("caught at cluster %5d: %-60s %.100s", seed+1, m.Name, dis)
			} else {
				survivors = append(survivors, m)
			}
		}
		alive = survivors
	}
	for _, m := range alive {
		t.Errorf("not caught: %s", m.Name)
	}
}
