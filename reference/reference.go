// Package reference holds the systems under test behind one interface: real
// schedulers that say what they do with a cluster, stage by stage.
package reference

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/timeline"
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

// FilterSystem is a System whose filter plugins can be asked one by one.
type FilterSystem interface {
	System
	// Filters asks each of the filter plugins named, as if it were the only one of
	// the profile, about c.Preemptor on every node: as the node is, and for each of
	// its pods, once after it was removed, once after it was added again, and once
	// in the cluster from which it was deleted. Where PreFilter leaves a node out, the
	// plugin is told of no changes.
	Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error
}

// StressSystem is a System whose cycle can be made to run under other circumstances
// than the usual ones.
type StressSystem interface {
	System
	// ObserveUnder is Observe under some circumstances.
	ObserveUnder(ctx context.Context, c *model.Cluster, under Circumstances) (*model.Observation, error)
}

// LifeSystem is a System that whole timelines can be run through.
type LifeSystem interface {
	System
	// Live runs a timeline, and says what was seen. It does not change t. An error means
	// that the timeline could not be run, not that the scheduler failed.
	Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error)
}

// PluginSystem is a System whose plugins can be asked one by one, by their extension points.
type PluginSystem interface {
	System
	// Ask makes the calls in their order, in a scheduler that knows c, and gives an answer to each. It does not change c.
	// Each plugin has a profile for itself. An error means that nothing could be asked, and is a *Standstill if a plugin
	// does not come back.
	Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error)
}

// Circumstances are what a cycle meets besides the cluster. The zero value is those
// of Observe.
type Circumstances struct {
	// Fault is how the API server fails; nil if it does not.
	Fault *Fault
	// Metrics asks for the Metrics of the Aftermath. They are of the whole process, so
	// that no other cycle runs meanwhile.
	Metrics bool
	// Updates, if not 0, is the seed of how the scheduler comes to know the cluster: by
	// updates of what it knew before, and not as it is at once.
	Updates uint64
	// Twin says that just before the pod's cycle a pod like it has one, and is bound. If it
	// fits nowhere, nothing is observed.
	Twin bool
	// Tainted, if not "", is a node that gets a taint after its twin's cycle, which pods
	// should rather avoid. The pod's own cycle comes a second after that of its twin: what
	// was found out for one is not to be used for the other then (batch.go:213@v1.37.1).
	Tainted string
	// Claimless says that pods that come and go by updates mount nothing.
	Claimless bool
}

// LateTaint is the taint that Circumstances.Tainted gets.
var LateTaint = v1.Taint{Key: "late", Effect: v1.TaintEffectPreferNoSchedule}

// Fault is an API call that is answered with an error.
type Fault struct {
	// Call is which of the calls that the scheduler asks for, counted from 0.
	Call int
	// Error is the answer.
	Error APIError
	// Passing says that the call does not fail again when it is tried again.
	Passing bool
}

// APIErrors are all of them.
func APIErrors() []APIError { return []APIError{NotFound, Conflict, InternalError, Timeout} }

func (f Fault) String() string {
	s := fmt.Sprintf("call %d fails with %s", f.Call, f.Error)
	if f.Passing {
		s += ", once"
	}
	return s
}
