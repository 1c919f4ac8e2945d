package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/reference"
)

// altered is a scheduler whose observations are changed.
type altered struct {
	reference.System
	change func(*model.Observation)
}

func (a altered) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := a.System.Observe(ctx, c)
	if err == nil {
		a.change(o)
	}
	return o, err
}

// checkOutside checks a cluster with a scheduler that has a plugin, and is the names of what is found, and what was asked.
func checkOutside(t *testing.T, r release.Release, keeps func(string) bool, change func(*model.Observation)) (found []string, result *properties.Result) {
	checker := &properties.Checker{System: altered{checktest.System(t), change}, Release: r, Properties: invariant.All(),
		Outside: &properties.Outside{Unmodelled: model.Unmodelled{{Object: "scheduler", Field: "plugin Mine", Why: "nobody knows"}}, Keeps: keeps}}
	result, err := checker.Check(t.Context(), checktest.Cluster())
	require.NoError(t, err)
	for _, f := range result.Unexplained() {
		found = append(found, f.Property)
	}
	return slices.Compact(found), result
}

// A scheduler with plugins that nobody has modelled is held to what it keeps, also if it is of another release.
func TestOutside(t *testing.T) {
	everything := func(string) bool { return true }
	for _, r := range []release.Release{release.Linked, {Minor: 34, Patch: 7}} {
		found, result := checkOutside(t, r, everything, func(*model.Observation) {})
		require.Empty(t, found)
		require.Nil(t, result.Decision)
		require.NotNil(t, result.Observation)
		require.Contains(t, result.Unmodelled.Error(), "scheduler: plugin Mine: nobody knows")

		twice := func(o *model.Observation) { o.Pick.Victims = append(o.Pick.Victims, o.Pick.Victims[0]) }
		found, _ = checkOutside(t, r, everything, twice)
		require.Contains(t, found, "victims-were-running")
		found, _ = checkOutside(t, r, func(name string) bool { return name == "never-preempts" }, twice)
		require.Empty(t, found)
	}
}

// An error that the cycle would not end in without the plugins is one of theirs, whatever they keep.
func TestNoErrorByPlugins(t *testing.T) {
	nothing := func(string) bool { return false }
	found, result := checkOutside(t, release.Linked, nothing, func(o *model.Observation) {
		for node := range o.DryRuns {
			o.DryRuns[node] = model.DryRun{Error: `priorityclass "a" not found`}
		}
	})
	require.Equal(t, []string{"no-error-by-plugins"}, found)
	require.Contains(t, result.Findings[0].Detail, `the dry run ended in an error: priorityclass "a" not found`)
	found, _ = checkOutside(t, release.Linked, nothing, func(o *model.Observation) { o.PostFilterCode, o.PostFilterMessage = "Error", "no" })
	require.Equal(t, []string{"no-error-by-plugins"}, found)
	found, _ = checkOutside(t, release.Linked, nothing, func(o *model.Observation) { o.CycleError = "no" })
	require.Equal(t, []string{"no-error-by-plugins"}, found)
}
