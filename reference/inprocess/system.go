// Package inprocess drives the kube-scheduler that is linked into the binary: its
// own cache, queue, framework and plugins, without an API server, informers that
// run, or waiting. One scheduler is reused for all clusters with the same
// settings.
//
// What upstream leaves to chance is pinned where it can be: the offset of the
// dry runs (always 0), the order of potential nodes (by name), the order of
// budgets (the cluster's), ties between the scores of nodes that fit (first
// name wins), one worker. What remains: the last tie between candidates, which
// upstream breaks by the order of a map, and pods without a start time, which
// count as starting whenever upstream looks.
package inprocess

import (
	"context"
	"slices"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// maxSchedulers is how many schedulers, one for each settings in use, a System
// keeps: nine idle goroutines each.
const maxSchedulers = 16

// System is the linked scheduler as a reference.System. It observes one cluster
// at a time; several Systems run in parallel as long as their clusters set the
// same feature gates, which are one global of the process.
type System struct {
	mu         sync.Mutex
	schedulers []entry // least recently used first
}

type entry struct {
	key settings
	*scheduler
}

var _ reference.System = (*System)(nil)

var once sync.Once

// New returns a System without any scheduler yet.
func New() *System {
	// Upstream reports some conditions, such as a nominated node that is gone,
	// to handlers, the last of which sleeps (runtime.go:256@v0.37.1). The first,
	// which logs, stays.
	once.Do(func() { utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] })
	return &System{}
}

// Name implements reference.System.
func (*System) Name() string { return Version }

// Observe implements reference.System. It fails if upstream knows no such feature
// gate, or does not let it be set; if it refuses the arguments of
// DefaultPreemption; if it would never try the preemptor (bound, terminating,
// gated, of another scheduler or of a pod group); or if two pods have one UID.
//
// If a panic ends the cycle, CycleError tells of it.
func (s *System) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	obs := &model.Observation{System: Version, Filters: map[string]model.Verdict{}, PinnedBudgetOrder: true}
	err := s.with(c, func(sched *scheduler) (bool, error) { return sched.cycle(c, obs) })
	if err != nil {
		return nil, err
	}
	return obs, nil
}

// with calls f with the scheduler for c, and drops the scheduler unless f finds it
// reusable.
func (s *System) with(c *model.Cluster, f func(*scheduler) (reusable bool, err error)) error {
	return s.withKey(newSettings(c.Settings), c, f)
}

func (s *System) withKey(key settings, c *model.Cluster, f func(*scheduler) (reusable bool, err error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := gates.acquire(key.gates, c.Settings.FeatureGates); err != nil {
		return err
	}
	defer gates.release()
	sched, err := s.scheduler(key)
	if err != nil {
		return err
	}
	if err := sched.canRun(c); err != nil {
		return err
	}
	reusable := false
	defer func() {
		if !reusable {
			s.drop(len(s.schedulers) - 1)
		}
	}()
	reusable, err = f(sched)
	return err
}

// scheduler returns the scheduler for key, and moves it to the end of the list.
func (s *System) scheduler(key settings) (*scheduler, error) {
	if i := slices.IndexFunc(s.schedulers, func(e entry) bool { return e.key == key }); i >= 0 {
		e := s.schedulers[i]
		s.schedulers = append(slices.Delete(s.schedulers, i, i+1), e)
		return e.scheduler, nil
	}
	sched, err := newScheduler(key)
	if err != nil {
		return nil, err
	}
	if len(s.schedulers) == maxSchedulers {
		s.drop(0)
	}
	s.schedulers = append(s.schedulers, entry{key, sched})
	return sched, nil
}

// drop ends a scheduler's goroutines, and is all that is safe after a panic.
func (s *System) drop(i int) {
	s.schedulers[i].cancel()
	s.schedulers = slices.Delete(s.schedulers, i, i+1)
}

// Close ends all schedulers. A later Observe starts afresh.
func (s *System) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.schedulers) > 0 {
		s.drop(0)
	}
	return nil
}
