package properties_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// TestVisible: what users see of an answer that is allowed stage by stage is
// allowed, with the known findings that occur.
func TestVisible(t *testing.T) {
	checker := checktest.Checker(t)
	rules := release.With(answers.Documented(), ledger.QuirksOf(release.Linked)...)
	for seed := range uint64(testsize.Times(2000)) {
		c := generators.FromSeed(seed)
		o, err := checker.System.Observe(t.Context(), c)
		require.NoError(t, err)
		d, err := answers.Decide(c, rules)
		if errors.As(err, new(model.Unmodelled)) {
			continue
		}
		require.NoError(t, err)
		contrast := d.AdmitsVisible(o)
		if contrast == nil || contrast.Undecided {
			continue
		}
		require.NotNil(t, d.Admits(o), "cluster %d: %+v", seed, contrast)
	}
}
