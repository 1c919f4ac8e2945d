package reference

import (
	"context"
	"errors"
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Pool is several systems of one kind as one System, for use by several
// goroutines at once: each Observe has a system for itself.
type Pool struct {
	systems []System
	idle    chan System
}

var (
	_ FilterSystem = (*Pool)(nil)
	_ StressSystem = (*Pool)(nil)
	_ LifeSystem   = (*Pool)(nil)
	_ PluginSystem = (*Pool)(nil)
)

// NewPool makes one System of several, which it owns from then on. It panics if
// there are none or if their names differ: they would not answer alike.
func NewPool(systems ...System) *Pool {
	if len(systems) == 0 {
		panic("reference: a pool of no systems")
	}
	p := &Pool{systems: systems, idle: make(chan System, len(systems))}
	for _, s := range systems {
		if s.Name() != systems[0].Name() {
			panic(fmt.Sprintf("reference: a pool of both %s and %s", systems[0].Name(), s.Name()))
		}
		p.idle <- s
	}
	return p
}

// Name implements System.
func (p *Pool) Name() string { return p.systems[0].Name() }

// Observe implements System. It waits until a system is free; if ctx is done
// before, its error is returned.
func (p *Pool) Observe(ctx context.Context, c *model.Cluster) (o *model.Observation, err error) {
	err = p.with(ctx, func(s System) (err error) {
		o, err = s.Observe(ctx, c)
		return err
	})
	return o, err
}

// Filters implements FilterSystem, if the systems do; else the error is
// errors.ErrUnsupported.
func (p *Pool) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	return p.with(ctx, func(s System) error {
		if f, ok := s.(FilterSystem); ok {
			return f.Filters(ctx, c, plugins, report)
		}
		return errors.ErrUnsupported
	})
}

// Ask implements PluginSystem, if the systems do; else the error is errors.ErrUnsupported.
func (p *Pool) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) (answers []calls.Answer, err error) {
	err = p.with(ctx, func(s System) error {
		if s, ok := s.(PluginSystem); ok {
			answers, err = s.Ask(ctx, c, script)
			return err
		}
		return errors.ErrUnsupported
	})
	return answers, err
}

// ObserveUnder implements StressSystem, if the systems do; else the error is
// errors.ErrUnsupported.
func (p *Pool) ObserveUnder(ctx context.Context, c *model.Cluster, under Circumstances) (o *model.Observation, err error) {
	err = p.with(ctx, func(s System) (err error) {
		if s, ok := s.(StressSystem); ok {
			o, err = s.ObserveUnder(ctx, c, under)
			return err
		}
		return errors.ErrUnsupported
	})
	return o, err
}

// Live implements LifeSystem, if the systems do; else the error is
// errors.ErrUnsupported.
func (p *Pool) Live(ctx context.Context, t *timeline.Timeline) (trace *timeline.Trace, err error) {
	err = p.with(ctx, func(s System) error {
		if s, ok := s.(LifeSystem); ok {
			trace, err = s.Live(ctx, t)
			return err
		}
		return errors.ErrUnsupported
	})
	return trace, err
}

// with waits until a system is free, and calls f with it.
func (p *Pool) with(ctx context.Context, f func(System) error) error {
	select {
	case s := <-p.idle:
		defer func() { p.idle <- s }() // after a panic, too
		return f(s)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements System: it closes all systems, once none is in use.
func (p *Pool) Close() error {
	for range p.systems {
		<-p.idle
	}
	var errs []error
	for _, s := range p.systems {
		errs = append(errs, s.Close())
		p.idle <- s
	}
	return errors.Join(errs...)
}
