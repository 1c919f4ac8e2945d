// Package life runs whole timelines through the kube-scheduler that is linked into the
// binary: its own loop in a bubble with a clock of its own, against an API server in
// memory, with informers and kubelets that do one thing at a time.
//
// Every goroutine waits at each place it comes to until the driver lets it go on, and the
// driver lets one go on at a time, in the order in which they came. So a timeline run
// again gives the same trace, and a place can be held.
//
// What upstream leaves to chance is pinned: the offset of the dry runs (the cluster's, or
// 0), the order of potential nodes, of budgets and of equal candidates (by name), ties
// between nodes that fit (first name wins), one worker, one scheduling cycle for each
// millisecond of the clock, as pods that are requeued in the same instant are popped in
// the order of a map, and a nanosecond for each pod that the scheduler is told of, as those
// that come in the same instant are popped in the order of a heap.
package life

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// The scheduler's own times (scheduling_queue.go:79@v1.37.1), and how long is waited for
// an outcome to change.
const (
	// flushTime is longer than a pod may wait for an event, with the interval at which
	// that is looked at.
	flushTime = 5*time.Minute + 35*time.Second
	// restTime is how long nothing may change until that counts as the end: longer than
	// the longest backoff, 10 s, and the retries of a binding.
	restTime = 15 * time.Second
	// settleTime is how long an end is waited for.
	settleTime = 30 * time.Minute
	pollTime   = time.Second
	cycleTime  = time.Millisecond
	// eventTime is how long being told of a pod takes. It is less than tick, by which all else
	// is timed, so that it changes no order but that of pods in the queue.
	eventTime = time.Nanosecond
	tick      = 10 * time.Microsecond
	// grid is at which multiples of time what arrives by itself goes on: retries come at
	// times that are drawn, within less than that (retry.DefaultBackoff).
	grid = 100 * time.Millisecond
	// usual is for how long of real time the scheduler may do nothing. An endless loop is found
	// within two seconds.
	usual = 1500 * time.Millisecond
	// endless is how many things may happen at an instant of the clock, for each object.
	endless = 200
)

// beginning is when all timelines begin, so that what has a time is the same whenever one is
// run. The backoff queue looks at its pods at whole seconds (backoff_queue.go:149@v1.37.1).
var beginning = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Release names the scheduler in traces.
var Release string

// Run runs a timeline. An error means that it could not be run, not that the scheduler
// failed: that is part of the trace.
func Run(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	if patience.Raced() {
		if _, err := overlapped(ctx, t, new(int)); err != nil {
			return nil, err
		}
	}
	return runChanged(ctx, t, func(*scheduler) {})
}

// Watch is Run that tells after each step what is held then: where it waits, in the order in
// which it came. What is held at Pop while the queue has no pod to hand out is not told, as it
// could not go on. Nothing is told of steps that a scheduler which has crashed does not come to.
func Watch(ctx context.Context, t *timeline.Timeline, after func(step int, held []timeline.Place)) (*timeline.Trace, error) {
	return runChanged(ctx, t, func(s *scheduler) { s.r.stepped = after })
}

// runChanged is Run with schedulers that are changed before they start.
func runChanged(ctx context.Context, t *timeline.Timeline, change func(*scheduler)) (*timeline.Trace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	linked.Setup()
	gates := linked.NewGateSet(t.Cluster.Settings.FeatureGates)
	if err := linked.Gates.Acquire(gates, t.Cluster.Settings.FeatureGates); err != nil {
		return nil, err
	}
	defer linked.Gates.Release()

	b := bubble.New()
	b.Lend()
	r := &run{tl: t, bubble: b, change: change, trace: &timeline.Trace{System: Release}, tell: timeline.Teller(ctx)}
	var err error
	crash := b.Do(patience.Of(ctx, usual), len(t.Cluster.Objects())+len(t.Steps), func() {
		b.Watch(true)
		defer b.Watch(false)
		defer func() {
			if p := recover(); p != nil {
				r.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
			}
		}()
		err = r.all(ctx)
	})
	if crash == nil {
		crash = b.Endless()
	}
	if crash != nil { // the bubble is lost, and may go on
		return r.brokenOff(crash), nil
	}
	b.Close(r.end)
	r.trace.Crash = r.crash.Load()
	if cannot := r.cannot.Load(); cannot != nil {
		return nil, *cannot
	}
	return r.trace, err
}

// run is one timeline being run.
type run struct {
	tl     *timeline.Timeline
	bubble *bubble.Bubble
	change func(*scheduler)
	trace  *timeline.Trace
	tell   func(part *timeline.Trace)
	start  time.Time
	step   atomic.Int64
	// turning are the members of groups that wait for their turn to be bound.
	turning atomic.Int64
	server  *api.Server
	// scheduler is the one that is alive; life counts takeovers.
	scheduler *scheduler
	// ended: nobody is told of anything any more.
	ended bool
	// stepped is told what is held after a step; nil: nobody is.
	stepped func(step int, held []timeline.Place)
	// overlaps counts how often two went on at once; nil unless it is run for the race detector.
	overlaps *int
	// preemptions are the goroutines that preempt, and whose they are.
	preemptions sync.Map // of goroutine to routine
	crash       atomic.Pointer[model.Crash]
	cannot      atomic.Pointer[error] // why the timeline cannot be run, if so
	stop        func()                // stops listening

	mu      sync.Mutex
	arrived []*waiting // since the last look, in no order
	bell    chan struct{}

	// queue are those that wait, in the order in which they came.
	queue []*waiting
	holds []timeline.Place
	fails []timeline.Failure
	// moves counts what happened at this instant of the clock.
	moves int
	// budget is how many moves an instant may have.
	budget int
}

// all runs the whole timeline.
func (r *run) all(ctx context.Context) (err error) {
	time.Sleep(time.Until(beginning))
	r.start = time.Now()
	r.bell = make(chan struct{}, 1)
	r.stop = linked.Listen(r.bubble, r.logged)
	r.server = api.New(world{r})
	r.budget = endless * (10 + len(r.tl.Cluster.Pods) + len(r.tl.Steps))
	r.server.Load(r.tl.Cluster)
	if r.scheduler, err = newScheduler(r, nil); err != nil {
		return err
	}
	r.change(r.scheduler)
	r.scheduler.run()
	r.settle()
	for i := range r.tl.Steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.broken() {
			r.miss(i)
			return nil
		}
		r.step.Store(int64(i))
		if err := r.do(&r.tl.Steps[i]); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if r.overlaps != nil {
			r.goOn(movesBetweenSteps)
		} else {
			r.settle()
		}
		if e := r.tl.Steps[i].Expect; e != nil {
			r.expect(i, e)
		}
		if r.stepped != nil && !r.broken() {
			r.stepped(i, r.waits())
		}
	}
	r.step.Store(int64(len(r.tl.Steps)))
	r.holds, r.fails = nil, nil
	r.settle()
	if !r.rest() {
		return nil
	}
	if r.scheduler.inCycle.Load() {
		r.crash.CompareAndSwap(nil, r.bubble.Standstill("a scheduling cycle waits for something that never comes"))
		return nil
	}
	r.trace.Quiet = r.observe()
	r.note(timeline.Entry{What: timeline.Rested})
	r.trace.FlushedAt = len(r.trace.Entries)
	r.wait(flushTime)
	if r.rest() {
		r.trace.Flushed = r.observe()
	}
	return nil
}

// brokenOff is what was seen up to now, of a run that nobody can end.
func (r *run) brokenOff(crash *model.Crash) *timeline.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &timeline.Trace{System: r.trace.System, Entries: slices.Clone(r.trace.Entries), Startups: slices.Clone(r.trace.Startups), Courses: slices.Clone(r.trace.Courses),
		Unmet: slices.Clone(r.trace.Unmet), Crash: crash}
}

func (r *run) broken() bool {
	return r.crash.Load() != nil || r.trace.Endless != "" || r.cannot.Load() != nil
}

// unable ends a timeline that cannot be run.
func (r *run) unable(why error) { r.cannot.CompareAndSwap(nil, &why) }

// do carries out a step.
func (r *run) do(s *timeline.Step) error {
	switch {
	case s.Create != nil:
		return r.server.Create(s.Create)
	case s.Change != "":
		return r.server.Change(s.Change, s.With)
	case s.Delete != "":
		return r.server.Delete(s.Delete)
	case s.End != "":
		return r.server.End(s.End)
	case s.Wait > 0:
		r.wait(s.Wait)
	case s.Hold != nil:
		r.note(timeline.Entry{What: timeline.Holding, Object: s.Hold.String()})
		r.holds = append(r.holds, *s.Hold)
	case s.Release != nil:
		r.holds = slices.DeleteFunc(r.holds, func(p timeline.Place) bool { return p == *s.Release })
		var let []timeline.Place
		for _, w := range r.queue {
			if s.Release.Holds(w.at) && !r.held(w.at) {
				let = append(let, w.at)
			}
		}
		r.note(timeline.Entry{What: timeline.Releasing, Object: s.Release.String(), Let: let})
	case s.Next != nil:
		i := slices.IndexFunc(r.queue, func(w *waiting) bool { return s.Next.Holds(w.at) && (w.ready == nil || w.ready()) })
		if i < 0 {
			r.note(timeline.Entry{What: timeline.Releasing, Object: s.Next.String(), Text: "none"})
			return nil
		}
		r.note(timeline.Entry{What: timeline.Releasing, Object: s.Next.String(), Text: "one", Let: []timeline.Place{r.queue[i].at}})
		r.let(i)
	case s.Fail != nil:
		r.note(timeline.Entry{What: timeline.Failing, Object: s.Fail.String()})
		r.fails = append(r.fails, *s.Fail)
		last := &r.fails[len(r.fails)-1]
		last.Times = cmp.Or(last.Times, 1)
	case s.Relist != "":
		r.relist(s.Relist)
	case s.Replace != nil:
		r.server.Replace(s.Replace)
	case s.Takeover:
		return r.takeover(s)
	}
	return nil
}

// now is the scheduler's clock since the start.
func (r *run) now() time.Duration { return time.Since(r.start).Truncate(tick) }

// after calls f when so much time has passed since now.
func (r *run) after(d time.Duration, f func()) {
	time.AfterFunc(d-time.Since(r.start)+r.now(), f)
}

// note adds an entry to the trace.
func (r *run) note(e timeline.Entry) {
	e.At, e.Step = r.now(), int(r.step.Load())
	r.saw(&timeline.Trace{Entries: []timeline.Entry{e}})
}

// saw adds to the trace, unless the scheduler has broken: it would have done no more. Of a run for the race detector nothing is noted.
func (r *run) saw(part *timeline.Trace) {
	if r.crash.Load() != nil || r.overlaps != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace.Add(part)
	r.tell(part)
}

// wait lets the clock go on.
func (r *run) wait(d time.Duration) {
	for until := time.Now().Add(d); !r.broken(); {
		r.settle()
		left := time.Until(until)
		if left <= 0 {
			return
		}
		r.moves = 0
		next := min(left, pollTime)
		timer, due := time.NewTimer(next), time.Now().Add(next)
		select {
		case <-r.bell:
		case <-timer.C:
		}
		// Upstream draws how long it waits before it tries a call again. What comes when
		// the timer is due needs no grid: which of the two is seen is left to chance.
		if time.Now().Add(tick).Before(due) {
			now := time.Since(r.start)
			time.Sleep(min(now.Truncate(grid)+grid-now, left))
		}
		timer.Stop()
	}
}

// rest waits until the outcome changes no more. It reports whether it came to that.
func (r *run) rest() bool {
	last, since := "", time.Now()
	for begin := time.Now(); !r.broken(); {
		if now := r.server.Outcome(); now != last || r.server.Terminating() > 0 {
			last, since = now, time.Now()
		}
		if time.Since(since) >= r.restTime() {
			return true
		}
		if time.Since(begin) > settleTime {
			r.trace.Endless = fmt.Sprintf("after %s the cluster is not at rest", settleTime)
			return false
		}
		r.wait(pollTime)
	}
	return false
}

// restTime is how long nothing may change until that counts as the end. The longest backoff of a group is longer the more
// pods it has (backoff_queue.go:255@v1.37.1).
func (r *run) restTime() time.Duration {
	if !r.tl.Cluster.Settings.FeatureGates["GenericWorkload"] {
		return restTime
	}
	return restTime + time.Duration(10*math.Sqrt(float64(r.server.Pods()))*float64(time.Second))
}

// takeover ends the scheduler, and starts another.
func (r *run) takeover(step *timeline.Step) (err error) {
	e := timeline.Entry{What: timeline.TakenOver}
	if behind := step.BehindWords(); behind != "" {
		e.Text = "behind by " + behind
	}
	r.note(e)
	r.kill()
	if r.scheduler, err = newScheduler(r, step.Behind); err != nil {
		return err
	}
	r.change(r.scheduler)
	r.scheduler.run()
	return nil
}

// kill ends the scheduler: what waits of it goes on, and does nothing any more.
func (r *run) kill() {
	s := r.scheduler
	s.end()
	for range settleTime / time.Second { // of its own retries
		r.look()
		mine := false
		for i := 0; i < len(r.queue); i++ {
			if w := r.queue[i]; w.do == nil {
				r.let(i)
				mine = true
				i--
			}
		}
		r.queue = slices.DeleteFunc(r.queue, func(w *waiting) bool { return w.at.Name.OfKind() || w.at.Name == timeline.Permit })
		if !mine {
			return
		}
		time.Sleep(time.Second)
	}
}

// end ends everything, so that the bubble can be closed.
func (r *run) end() {
	if r.stop != nil {
		r.stop()
	}
	if r.scheduler == nil {
		return
	}
	r.ended = true
	r.scheduler.end()
	for range 100 {
		r.look()
		if len(r.queue) == 0 {
			return
		}
		for len(r.queue) > 0 {
			if w := r.queue[0]; w.on != nil {
				close(w.on)
			}
			r.queue = r.queue[1:]
		}
	}
}
