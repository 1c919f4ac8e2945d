package properties_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference"
)

// refusing is a system of a release that knows little.
type refusing struct{ what string }

func (r refusing) Name() string { return "v1.13.0" }
func (r refusing) Close() error { return nil }
func (r refusing) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	return nil, &reference.Refusal{System: r.Name(), What: r.what}
}

// What a system refuses is neither an error nor an agreement.
func TestRefusal(t *testing.T) {
	checker := &properties.Checker{System: refusing{"Pod default/a: spec.overhead, spec.resources; DefaultPreemptionArgs"}}
	r, err := checker.Check(t.Context(), generators.FromSeed(0))
	require.NoError(t, err)
	require.Nil(t, r.Observation)
	require.Nil(t, r.Decision)
	require.Empty(t, r.Findings)
	require.Equal(t, model.Unmodelled{
		{Object: "Pod default/a", Field: "spec.overhead, spec.resources", Why: "v1.13.0 does not know it"},
		{Object: "scheduler", Field: "DefaultPreemptionArgs", Why: "v1.13.0 does not know it"},
	}, r.Unmodelled)

	var stats probe.Stats
	stats.Add(r)
	require.Equal(t, 1, int(stats.Unmodelled))
	require.Equal(t, 1, int(stats.Rejected["not modelled: spec.overhead, spec.resources (v1.13.0 does not know it)"]))
}
