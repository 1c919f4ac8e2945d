package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

func checks(t *testing.T, count int) (all []Check) {
	for range count {
		checker := checktest.Checker(t)
		checker.Properties = invariant.All()
		all = append(all, checker.Check)
	}
	return all
}

// Every cluster of the smallest bound keeps every promise.
func TestExhaustiveSmallest(t *testing.T) {
	bounds := bounded.Bounds(1)
	var s Sweep
	require.NoError(t, s.Run(context.Background(), bounded.Classes(bounds...), checks(t, 2), func(suspects []Suspect) error {
		for _, suspect := range suspects {
			require.NoError(t, suspect.Err)
			for _, f := range suspect.Result.Unexplained() {
				t.Errorf("class %d: %v", suspect.Class, f)
			}
		}
		return nil
	}))
	classes, clusters := bounded.Count(bounds...)
	require.Equal(t, classes, s.Classes)
	require.Equal(t, clusters, s.Clusters)
	require.EqualValues(t, classes, s.Stats.Clusters)
	require.Zero(t, s.Stats.Scheduled, "no node has room by itself")
	require.Positive(t, s.Stats.NotHelpful)
	require.Equal(t, s.Stats.Preempted, s.Gap.Measured+s.Gap.TooLarge+s.Gap.Misfits)
	for _, criterion := range probe.Criteria() {
		require.Positivef(t, s.Stats.DecidedBy[criterion], "decided by %s", criterion)
	}
	t.Logf("%d clusters, %d classes", clusters, classes)
}

// A sweep that is ended after any batch, stored and taken up again comes to the
// same, and shows each suspect once.
func TestSweepGoesOnWhereItWas(t *testing.T) {
	bound := bounded.Bound{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1}
	// wrong complains of every preemption that takes just one pod.
	wrong := func(workers int) (all []Check) {
		for _, check := range checks(t, workers) {
			all = append(all, func(ctx context.Context, c *model.Cluster) (*properties.Result, error) {
				r, err := check(ctx, c)
				if err == nil && r.Observation.Pick != nil && len(r.Observation.Pick.Victims) == 1 {
					r.Findings = append(r.Findings, properties.Finding{Property: "never one victim", Stage: model.StagePick})
				}
				return r, err
			})
		}
		return all
	}
	var whole Sweep
	var suspects []uint64
	note := func(to *[]uint64) func([]Suspect) error {
		return func(found []Suspect) error {
			for _, s := range found {
				*to = append(*to, s.Class)
			}
			return nil
		}
	}
	require.NoError(t, whole.Run(context.Background(), bounded.Classes(bound), wrong(1), note(&suspects)))
	require.NotEmpty(t, suspects)

	var parts Sweep
	var again []uint64
	killed := errors.New("killed")
	for runs := 0; ; runs++ {
		stored, err := json.Marshal(parts)
		require.NoError(t, err)
		parts = Sweep{}
		require.NoError(t, json.Unmarshal(stored, &parts))
		batches := 0
		err = parts.Run(context.Background(), bounded.Classes(bound), wrong(2), func(found []Suspect) error {
			require.NoError(t, note(&again)(found))
			if batches++; batches == 2 {
				return killed
			}
			return nil
		})
		if err == nil {
			require.Positive(t, runs)
			break
		}
		require.ErrorIs(t, err, killed)
	}
	require.Equal(t, whole.Classes, parts.Classes)
	require.Equal(t, whole.Clusters, parts.Clusters)
	require.Equal(t, whole.Stats.Findings, parts.Stats.Findings)
	require.Equal(t, whole.Stats.DecidedBy, parts.Stats.DecidedBy)
	require.Equal(t, whole.Gap.Measured, parts.Gap.Measured)
	require.Equal(t, suspects, again)
}

func TestSweepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var s Sweep
	err := s.Run(ctx, bounded.Classes(bounded.Bounds(1)...), checks(t, 1), func([]Suspect) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	classes, _ := bounded.Count(bounded.Bounds(1)...)
	require.Positive(t, s.Classes)
	require.Less(t, s.Classes, classes)
}
