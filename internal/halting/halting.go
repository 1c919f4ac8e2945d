// Package halting keeps a scheduler that hangs from going on in the process.
package halting

import (
	"context"
	"errors"
	"os"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
)

// System is a system that ends the process when the scheduler comes to a standstill in it. Its
// goroutines may go on and on, and take all processors from what comes after. The program
// begins anew then, with the scheduler in a process of its own, which can be killed.
type System struct{ reference.System }

var (
	_ reference.FilterSystem = System{}
	_ reference.StressSystem = System{}
	_ reference.LifeSystem   = System{}
	_ reference.PluginSystem = System{}
)

// halt ends the process if the scheduler hangs. Whoever started it sees no end of the command.
func halt(c *model.Crash) {
	if c != nil && c.Kind == observation.Hang {
		os.Exit(terminal.CouldNot)
	}
}

// Observe implements reference.System.
func (h System) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return halted(h.System.Observe(ctx, c))
}

func halted(o *model.Observation, err error) (*model.Observation, error) {
	if o != nil {
		halt(o.Crash)
	}
	return o, err
}

// ObserveUnder implements reference.StressSystem.
func (h System) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	if s, ok := h.System.(reference.StressSystem); ok {
		return halted(s.ObserveUnder(ctx, c, under))
	}
	return nil, errors.ErrUnsupported
}

// Filters implements reference.FilterSystem.
func (h System) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	if f, ok := h.System.(reference.FilterSystem); ok {
		return f.Filters(ctx, c, plugins, report)
	}
	return errors.ErrUnsupported
}

// Ask implements reference.PluginSystem.
func (h System) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	s, ok := h.System.(reference.PluginSystem)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	answers, err := s.Ask(ctx, c, script)
	if stuck := (*reference.Standstill)(nil); errors.As(err, &stuck) {
		halt(stuck.Crash)
	}
	return answers, err
}

// Live implements reference.LifeSystem.
func (h System) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	s, ok := h.System.(reference.LifeSystem)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	trace, err := s.Live(ctx, t)
	if trace != nil {
		halt(trace.Crash)
	}
	return trace, err
}
