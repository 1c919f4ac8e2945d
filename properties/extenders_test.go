package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// With extenders every property holds, or is known not to: they are in few of the
// generated clusters, which is why these are picked here.
func TestPropertiesWithExtenders(t *testing.T) {
	checker := checktest.Checker(t)
	checker.Properties = slices.Concat(invariant.All(), relation.All())
	known := map[string]int{}
	for seed, left := uint64(0), testsize.Times(400); left > 0; seed++ {
		c := generators.FromSeed(seed)
		if c.Settings.Extenders == nil {
			continue
		}
		left--
		r, err := checker.Check(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, r.Unexplained(), "seed %d", seed)
		for _, f := range r.Findings {
			for _, id := range f.Known {
				known[id]++
			}
		}
	}
	t.Log(known)
	for _, quirk := range []release.Quirk{release.ExtenderRejectionIsError, release.NothingLeftKeepsNomination} {
		assert.Positive(t, known[string(quirk)], quirk)
	}
}
