package main

import (
	"context"
	"errors"
	"os"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
)

// halting is a system that ends the process when the scheduler comes to a standstill in it. Its
// goroutines may go on and on, and take all processors from what comes after. The program
// begins anew then, with the scheduler in a process of its own, which can be killed: see guard.
type halting struct{ reference.System }

var (
	_ reference.FilterSystem = halting{}
	_ reference.StressSystem = halting{}
	_ reference.LifeSystem   = halting{}
)

// mayBeginAnew tells whether this is a child whose scheduler runs in it.
func mayBeginAnew() bool { return os.Getenv(isChild) != "" && os.Getenv(isolates) == "" }

// halt ends the process if the scheduler hangs. Whoever started it sees no end of the command.
func halt(c *model.Crash) {
	if c != nil && c.Kind == observation.Hang {
		os.Exit(terminal.CouldNot)
	}
}

// Observe implements reference.System.
func (h halting) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return halted(h.System.Observe(ctx, c))
}

func halted(o *model.Observation, err error) (*model.Observation, error) {
	if o != nil {
		halt(o.Crash)
	}
	return o, err
}

// ObserveUnder implements reference.StressSystem.
func (h halting) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	if s, ok := h.System.(reference.StressSystem); ok {
		return halted(s.ObserveUnder(ctx, c, under))
	}
	return nil, errors.ErrUnsupported
}

// Filters implements reference.FilterSystem.
func (h halting) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	if f, ok := h.System.(reference.FilterSystem); ok {
		return f.Filters(ctx, c, plugins, report)
	}
	return errors.ErrUnsupported
}

// Live implements reference.LifeSystem.
func (h halting) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
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
