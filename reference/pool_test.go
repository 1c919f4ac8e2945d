package reference_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// fake is a system that is in use until release is closed.
type fake struct {
	name    string
	inUse   atomic.Int32
	started chan struct{}
	release chan struct{}
	closed  atomic.Int32
	err     error
}

func (f *fake) Name() string { return f.name }

func (f *fake) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	if f.inUse.Add(1) > 1 {
		panic("used twice at once")
	}
	defer f.inUse.Add(-1)
	f.started <- struct{}{}
	<-f.release
	if f.err != nil {
		panic(f.err)
	}
	return &model.Observation{System: f.name}, nil
}

func (f *fake) Close() error {
	f.closed.Add(1)
	return f.err
}

func newFakes(n int) (fakes []*fake, systems []reference.System) {
	started, release := make(chan struct{}, n), make(chan struct{})
	for range n {
		f := &fake{name: "fake", started: started, release: release}
		fakes, systems = append(fakes, f), append(systems, f)
	}
	return fakes, systems
}

// As many observe at once as there are systems, each with one for itself; one
// more waits, and gives up when its context is done.
func TestPoolSharesItsSystemsOut(t *testing.T) {
	fakes, systems := newFakes(3)
	p := reference.NewPool(systems...)
	require.Equal(t, "fake", p.Name())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := p.Observe(t.Context(), nil)
			assert.NoError(t, err)
		})
	}
	for range 3 {
		<-fakes[0].started // in use at once, or this hangs
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Observe(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
	close(fakes[0].release)
	all.Wait()

	for range 7 { // none was lost
		_, err := p.Observe(t.Context(), nil)
		require.NoError(t, err)
		<-fakes[0].started
	}
	fakes[1].err = errors.New("cannot close")
	require.ErrorContains(t, p.Close(), "cannot close")
	for _, f := range fakes {
		require.EqualValues(t, 1, f.closed.Load())
	}
}

// A system that panics is not lost to the pool.
func TestPoolSurvivesAPanic(t *testing.T) {
	fakes, systems := newFakes(1)
	p := reference.NewPool(systems...)
	close(fakes[0].release)
	fakes[0].err = errors.New("broken")
	require.Panics(t, func() { p.Observe(t.Context(), nil) })
	<-fakes[0].started
	fakes[0].err = nil
	_, err := p.Observe(t.Context(), nil)
	require.NoError(t, err)
}

// A pool passes on what only some systems can do.
func TestPoolUnderCircumstances(t *testing.T) {
	_, systems := newFakes(1)
	_, err := reference.NewPool(systems...).ObserveUnder(t.Context(), nil, reference.Circumstances{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	pool := reference.NewPool(inprocess.New())
	defer pool.Close()
	o, err := pool.ObserveUnder(t.Context(), generators.FromSeed(0), reference.Circumstances{Fault: &reference.Fault{Error: reference.Timeout}})
	require.NoError(t, err)
	require.NotEmpty(t, o.Aftermath.Calls[0].Failed)
}

func TestPoolIsOfOneKind(t *testing.T) {
	require.Panics(t, func() { reference.NewPool() })
	require.Panics(t, func() { reference.NewPool(&fake{name: "a"}, &fake{name: "b"}) })
}

// A pool of real schedulers gives the answers of one, to several goroutines and
// for clusters with different feature gates.
func TestPoolOfSchedulers(t *testing.T) {
	const clusters = 40
	one := inprocess.New()
	defer one.Close()
	pool := reference.NewPool(inprocess.New(), inprocess.New(), inprocess.New())
	defer func() { require.NoError(t, pool.Close()) }()
	var all sync.WaitGroup
	got := make([]*model.Observation, clusters)
	cluster := func(i int) *model.Cluster {
		c := generators.FromSeed(uint64(i))
		if i%4 == 0 {
			c.Settings.FeatureGates = map[string]bool{"SchedulerAsyncPreemption": i%8 == 0}
		}
		return c
	}
	for worker := range 4 {
		all.Go(func() {
			for i := worker; i < clusters; i += 4 {
				var err error
				got[i], err = pool.Observe(t.Context(), cluster(i))
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	for i := range clusters {
		want, err := one.Observe(t.Context(), cluster(i))
		require.NoError(t, err)
		if want.Pick == nil || got[i].Pick == nil { // else upstream may have broken a tie
			require.Empty(t, cmp.Diff(want, got[i], cmpopts.IgnoreFields(model.Crash{}, "Stack")), i)
		}
		require.Equal(t, want.DryRuns, got[i].DryRuns, i)
	}
}
