// Package inprocess drives the kube-scheduler that is linked into the binary: its
// own cache, queue, framework and plugins, without an API server, informers that
// run, or waiting. One scheduler is reused for all clusters with the same
// settings.
//
// What upstream leaves to chance is pinned where it can be: the offset of the
// dry runs (the cluster's, or 0), the order of potential nodes (by name), the
// order of budgets (the cluster's), ties between the scores of nodes that fit (first
// name wins), the last tie between candidates (by name, from the same offset on), one
// worker unless the cluster asks for more. What remains: pods without a
// start time, which count as starting whenever upstream looks.
package inprocess

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// maxSchedulers is how many schedulers, one for each settings in use, a System
// keeps: nine idle goroutines each. Of 50 different settings that generated clusters have, 24 come often.
const maxSchedulers = 32

// System is the linked scheduler as a reference.System. It observes one cluster
// at a time; several Systems run in parallel as long as their clusters set the
// same feature gates, which are one global of the process.
type System struct {
	mu         sync.Mutex
	schedulers []entry // least recently used first
	// build makes the extenders of a cluster.
	build func([]model.Extender) ([]fwk.Extender, error)
}

type entry struct {
	key settings
	*scheduler
}

var _ reference.StressSystem = (*System)(nil)

// New returns a System without any scheduler yet.
func New() *System {
	linked.Setup()
	return &System{build: buildExtenders}
}

// Name implements reference.System.
func (*System) Name() string { return Version }

// Observe implements reference.System. It fails if upstream knows no such feature
// gate, or does not let it be set; if it refuses the arguments of
// DefaultPreemption; if it would never try the preemptor (bound, terminating,
// gated, of another scheduler or of a pod group; or a group without a pod that waits); or if two
// pods have one UID.
//
// A scheduler that panics or hangs is part of the Observation, as its Crash.
func (s *System) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return s.ObserveUnder(ctx, c, reference.Circumstances{})
}

// ObserveUnder implements reference.StressSystem.
func (s *System) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.PreemptorGroup != "" && (under.Twin || under.Updates != 0) {
		return nil, errors.ErrUnsupported
	}
	workers := c.Settings.Workers()
	one := workers == nil || *workers == 1
	obs := &model.Observation{System: Version, Filters: map[string]model.Verdict{}, PinnedBudgetOrder: true, PinnedDryRuns: one}
	r := &recorder{obs: obs, nomination: model.NominationUntold, tell: observation.Teller(ctx)}
	err := s.withKey(newSettings(c.Settings), c, under.Metrics, patience.Of(ctx, bubble.Patience),
		func(sched *scheduler) (bool, error) { return sched.cycle(c, under, r) })
	if lost, ok := errors.AsType[errLost](err); ok {
		seen := r.seen() // obs itself still belongs to the bubble
		seen.Crash = lost.crash
		return seen, nil
	}
	if err != nil {
		return nil, err
	}
	return obs, nil
}

// errLost is the error of a scheduler that came to a standstill.
type errLost struct{ crash *model.Crash }

func (e errLost) Error() string { return e.crash.String() }

// with calls f with the scheduler for c, in the scheduler's bubble, and drops the
// scheduler unless f finds it reusable.
func (s *System) with(c *model.Cluster, f func(*scheduler) (reusable bool, err error)) error {
	return s.withKey(newSettings(c.Settings), c, false, bubble.Patience, f)
}

// withKey is with for a scheduler of certain settings; alone keeps all others of the
// process out meanwhile. A standstill is noticed when patience is over.
func (s *System) withKey(key settings, c *model.Cluster, alone bool, patience time.Duration, f func(*scheduler) (reusable bool, err error)) error {
	defer enter(alone)()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := linked.Gates.Acquire(key.gates, c.Settings.FeatureGates); err != nil {
		return err
	}
	defer linked.Gates.Release()
	sched, err := s.scheduler(key)
	if err != nil {
		return err
	}
	if err := sched.canRun(c); err != nil {
		return err
	}
	var done struct {
		reusable bool
		err      error
	}
	if crash := sched.bubble.Do(patience, len(c.Nodes)+len(c.Pods), func() { done.reusable, done.err = f(sched) }); crash != nil {
		s.schedulers = s.schedulers[:len(s.schedulers)-1] // nobody can end it
		return errLost{crash}
	}
	if !done.reusable {
		s.drop(len(s.schedulers) - 1)
	}
	return done.err
}

// scheduler returns the scheduler for key, and moves it to the end of the list.
func (s *System) scheduler(key settings) (*scheduler, error) {
	if i := slices.IndexFunc(s.schedulers, func(e entry) bool { return e.key == key }); i >= 0 {
		e := s.schedulers[i]
		s.schedulers = append(slices.Delete(s.schedulers, i, i+1), e)
		return e.scheduler, nil
	}
	b := bubble.New()
	b.Lend()
	var sched *scheduler
	var err error
	b.Do(bubble.Patience, 0, func() { sched, err = newScheduler(key, b) })
	if err != nil {
		b.Close(func() {})
		return nil, err
	}
	if len(s.schedulers) == maxSchedulers {
		s.drop(0)
	}
	sched.build = s.build
	s.schedulers = append(s.schedulers, entry{key, sched})
	return sched, nil
}

// drop ends a scheduler's goroutines, and is all that is safe after a panic.
func (s *System) drop(i int) {
	s.schedulers[i].bubble.Close(s.schedulers[i].cancel)
	s.schedulers = slices.Delete(s.schedulers, i, i+1)
}

// Configurable makes a scheduler with the settings, and says why that fails, if it does.
func Configurable(s model.Settings) error {
	system := New()
	defer system.Close()
	defer enter(false)()
	key := newSettings(s)
	if err := linked.Gates.Acquire(key.gates, s.FeatureGates); err != nil {
		return err
	}
	defer linked.Gates.Release()
	_, err := system.scheduler(key)
	return err
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
