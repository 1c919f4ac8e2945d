// Package contract asks the plugins of the kube-scheduler that is linked into the binary one by one: each has a
// profile for itself. The scheduler's own event handlers fill its cache and its queue, from informers that are told
// by hand, so that a plugin sees a change as it would see it in a cluster. No scheduling cycle runs.
package contract

import (
	"context"
	"slices"
	"sync"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// System answers for the plugins of the linked scheduler: see reference.PluginSystem. It asks about one cluster at a time.
type System struct {
	mu         sync.Mutex
	schedulers []*scheduler // least recently used first
}

// maxSchedulers is how many are kept, one for each settings in use.
const maxSchedulers = 4

// settings is what a scheduler is built for.
type settings struct {
	gates         linked.GateSet
	noConstraints bool
	// profile is the name of the preemptor's, configuration the whole that it is part of.
	profile, second, configuration string
}

// New returns a System without any scheduler yet.
func New() *System {
	linked.Setup()
	return &System{}
}

// Ask is that of reference.PluginSystem.
func (s *System) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) (answers []calls.Answer, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	gates := c.Settings.FeatureGates
	key := settings{gates: linked.NewGateSet(gates), noConstraints: c.Settings.NoDefaultConstraints, configuration: string(c.Settings.Configuration)}
	if c.Preemptor != nil {
		key.profile = c.Preemptor.Spec.SchedulerName
	}
	if p := c.Settings.SecondProfile; p != nil {
		key.second = p.SchedulerName
	}
	if err := linked.Gates.Acquire(key.gates, gates); err != nil {
		return nil, err
	}
	defer linked.Gates.Release()
	sched, err := s.scheduler(key, c.Settings)
	if err != nil {
		return nil, err
	}
	reusable := false
	objects := len(c.Nodes) + len(c.Pods) + len(c.Extra) + len(script)
	if crash := sched.bubble.Do(patience.Of(ctx, bubble.Patience), objects, func() { answers, reusable, err = sched.ask(c, script) }); crash != nil {
		s.schedulers = s.schedulers[:len(s.schedulers)-1] // nobody can end it
		return nil, &reference.Standstill{Crash: crash}
	}
	if !reusable {
		s.drop(len(s.schedulers) - 1)
	}
	return answers, err
}

// scheduler returns the scheduler for key, and moves it to the end of the list.
func (s *System) scheduler(key settings, of model.Settings) (*scheduler, error) {
	if i := slices.IndexFunc(s.schedulers, func(e *scheduler) bool { return e.key == key }); i >= 0 {
		e := s.schedulers[i]
		s.schedulers = append(slices.Delete(s.schedulers, i, i+1), e)
		return e, nil
	}
	b := bubble.New()
	var sched *scheduler
	var err error
	b.Do(bubble.Patience, 0, func() { sched, err = newScheduler(key, of, b) })
	if err != nil {
		b.Close(func() {})
		return nil, err
	}
	if len(s.schedulers) == maxSchedulers {
		s.drop(0)
	}
	s.schedulers = append(s.schedulers, sched)
	return sched, nil
}

// drop ends a scheduler's goroutines, and is all that is safe after a panic.
func (s *System) drop(i int) {
	s.schedulers[i].bubble.Close(s.schedulers[i].cancel)
	s.schedulers = slices.Delete(s.schedulers, i, i+1)
}

// Close ends all schedulers. A later Ask starts afresh.
func (s *System) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.schedulers) > 0 {
		s.drop(0)
	}
	return nil
}
