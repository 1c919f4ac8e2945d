package properties_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
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
	require.Len(t, limited, 5)
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

// To a pod that preempts in 1.36 pods of groups are like any others: what the model of that release does breaks
// no promise, and what is done today does.
func TestGroupsDoNotCountYet(t *testing.T) {
	v136 := release.Release{Minor: 36, Patch: 3}
	c := mk.Cluster(mk.Pod("p", 5, mk.CPU("2")), mk.Node("n", "2"), mk.Node("m", "1"), mk.Group("u", 0, mk.AsAWhole), model.Settings{FeatureGates: map[string]bool{model.GateWorkload: true}},
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("2")), mk.Pod("u2", 9, mk.On("m"), mk.Member("u"), mk.CPU("1")))
	for _, does := range []release.Release{v136, release.Linked} {
		checker := properties.Checker{System: modelsystem.New(does), Release: v136, Properties: all.Cheap()}
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		require.Same(t, c, r.Cluster)
		require.Nil(t, r.Unmodelled)
		require.Equal(t, does == v136, len(r.Findings) == 0, "%s: %v", does, r.Findings)
	}
}
