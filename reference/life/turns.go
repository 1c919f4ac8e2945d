package life

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// What waits goes on one at a time, in the order in which it came.

// waiting is what waits at a place: a goroutine, or something to do.
type waiting struct {
	at    timeline.Place
	what  string // for the order of those that came at once
	on    chan struct{}
	do    func()
	ready func() bool // nil: at once
	takes time.Duration
	gone  atomic.Bool // it waits no more
}

// park makes a goroutine of a scheduler wait at a place. It returns false if the scheduler
// is dead by then.
func (s *scheduler) park(at timeline.Place, ready func() bool) bool {
	return s.parkAs(at, at.String(), ready)
}

// parkAs is park for one of several that may come to a place at once: they go on in the order of what they are.
func (s *scheduler) parkAs(at timeline.Place, what string, ready func() bool) bool {
	return s.wait(&waiting{at: at, what: what, ready: ready})
}

// wait is parkAs for what waits.
func (s *scheduler) wait(w *waiting) bool {
	if s.dead.Load() {
		return false
	}
	w.on = make(chan struct{})
	s.r.arrive(w)
	<-w.on
	return !s.dead.Load()
}

func (r *run) arrive(w *waiting) {
	r.bubble.Progress()
	r.mu.Lock()
	r.arrived = append(r.arrived, w)
	r.mu.Unlock()
	select {
	case r.bell <- struct{}{}:
	default:
	}
}

// look waits until all goroutines wait, and puts those that came in order.
func (r *run) look() {
	synctest.Wait()
	for r.turning.Load() > 0 {
		time.Sleep(time.Nanosecond)
		synctest.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.arrived, func(a, b *waiting) int { return cmp.Compare(a.what, b.what) })
	r.queue = slices.DeleteFunc(append(r.queue, r.arrived...), func(w *waiting) bool { return w.gone.Load() })
	r.arrived = r.arrived[:0]
	select {
	case <-r.bell:
	default:
	}
}

// let makes one of those that wait go on.
func (r *run) let(i int) {
	w := r.queue[i]
	r.queue = slices.Delete(r.queue, i, i+1)
	r.bubble.Progress()
	if w.do != nil {
		w.do()
		return
	}
	close(w.on)
	if w.at.Name == timeline.Pop {
		w.takes = cycleTime
	}
	time.Sleep(w.takes)
}

// settle lets everything go on that is not held, one after another, until all waits.
func (r *run) settle() { r.goOn(math.MaxInt) }

// goOn is settle that ends after a number of moves, when all waits.
func (r *run) goOn(moves int) {
	for range moves {
		if r.broken() {
			return
		}
		r.look()
		i := slices.IndexFunc(r.queue, r.goesOn)
		if i < 0 {
			return
		}
		if r.moves++; r.moves > r.budget {
			r.trace.Endless = fmt.Sprintf("after %d moves the scheduler is not at rest, last at %s", r.moves, r.queue[i].what)
			return
		}
		if r.overlaps != nil {
			r.letOverlap()
		} else {
			r.let(i)
		}
	}
	r.look()
}

// goesOn tells whether what waits is not held, and can go on.
func (r *run) goesOn(w *waiting) bool { return !r.held(w.at) && (w.ready == nil || w.ready()) }

// waits is what is held and could go on.
func (r *run) waits() (at []timeline.Place) {
	for _, w := range r.queue {
		if w.ready == nil || w.ready() {
			at = append(at, w.at)
		}
	}
	return at
}

func (r *run) held(at timeline.Place) bool {
	return slices.ContainsFunc(r.holds, func(p timeline.Place) bool { return p.Holds(at) })
}
