// Package reference holds the systems under test behind one interface: real
// schedulers that say what they do with a cluster, stage by stage.
package reference

import (
	"context"

	"github.com/preemptcheck/preemptcheck/model"
)

// System is a scheduler that can be asked what it does with a cluster.
type System interface {
	// Name identifies the system, for example "v1.37.1".
	Name() string
	// Observe runs one scheduling cycle of c.Preemptor and reports it. It does
	// not change c, and its answer does not depend on earlier calls. An error
	// means that the cluster could not be run, not that the scheduler failed:
	// the scheduler's own errors are part of the Observation.
	Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error)
	// Close releases what the system holds.
	Close() error
}
