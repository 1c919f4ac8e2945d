package modelsystem

import (
	"context"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Careless is a scheduler with two bugs: in a dry run with several victims it
// overlooks the last, and in one with violations it counts one too few. Neither
// depends on which of equally good nodes it picks.
type Careless struct{ reference.System }

// Observe implements reference.System.
func (s Careless) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := s.System.Observe(ctx, c)
	if err != nil {
		return nil, err
	}
	for node, run := range o.DryRuns {
		if n := len(run.Victims); n > 1 {
			run.Victims = run.Victims[:n-1]
		} else if run.Violations > 0 {
			run.Violations--
		}
		o.DryRuns[node] = run
	}
	return o, nil
}
