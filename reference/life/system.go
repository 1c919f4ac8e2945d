package life

import (
	"context"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// This file is not part of the drivers of other releases.

func init() { Release = inprocess.Version }

// System is the linked scheduler: single cycles and whole timelines of it.
type System struct{ *inprocess.System }

// New returns a System without any scheduler yet.
func New() System { return System{inprocess.New()} }

var _ reference.LifeSystem = System{}

// Live implements reference.LifeSystem.
func (System) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	return Run(ctx, t)
}
