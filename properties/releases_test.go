package properties_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

// A promise or a premise that is limited to some releases is made by the linked
// release and not by the oldest.
func TestSince(t *testing.T) {
	limited := map[string]string{}
	for _, p := range all.Properties() {
		if p.Releases != "" {
			limited[p.Name] = p.Releases
		}
	}
	require.Len(t, limited, 4)
	for _, p := range []properties.Premise{
		properties.StartTimesCount, properties.BudgetsAreSpent, properties.DisruptedPodsAreExempt, properties.NominatedNodeIsFirst, properties.VictimsAreMarked,
	} {
		limited["premise "+string(p)] = string(p)
		require.False(t, (&properties.Subject{Release: release.Releases()[0]}).Holds(p), p)
	}
	for promise, releases := range limited {
		require.True(t, release.Linked.In(releases), promise)
		require.False(t, release.Releases()[0].In(releases), promise)
		require.False(t, properties.PromisedBy(release.Releases()[0], releases), promise)
	}
}
