// Package bubble runs the goroutines of a scheduler with a clock of their own, and notices
// when they come to a standstill.
package bubble

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
)

// Bubble is a synctest bubble: the goroutines of a scheduler, with a clock of their
// own that moves on only while all of them wait. So "nothing is left to do" can be
// told from "something takes long", and a wait of minutes costs microseconds.
type Bubble struct {
	work chan func()
	// cycles runs cycles, one at a time: a goroutine that lasts, as the stack of a new
	// one is copied over and over until it is large enough.
	cycles chan func()
	over   chan struct{} // closed when the last of its goroutines has ended
	id     string        // as stacks name it: "synctest bubble 7]"
	// progress counts what the scheduler was seen doing. It is looked at while the
	// bubble is watched.
	progress atomic.Uint64
	watching atomic.Bool
	// moment is the bubble's time when progress was last made; sameMoment counts the progress
	// at it; and most is how much of that is not yet endless.
	moment, sameMoment, most atomic.Int64
	endless                  atomic.Pointer[model.Crash]
	// outside is for Outside, of which away counts the calls that are on.
	outside chan call
	free    chan chan any // the channel for its answer, which has to be made outside
	away    atomic.Int64
}

// call is a function to be called outside of a bubble; what it panics with goes into the channel.
type call struct {
	f    func()
	done chan any
}

// Progress notes that the scheduler was seen doing something. It does not return to a
// scheduler that goes on and on while its clock stands still.
func (b *Bubble) Progress() {
	b.progress.Add(1)
	if !b.watching.Load() {
		return
	}
	if now := time.Now().UnixNano(); b.moment.Swap(now) != now {
		b.sameMoment.Store(0)
	}
	if most := b.most.Load(); b.sameMoment.Add(1) > most && most > 0 {
		b.GoesOn(fmt.Sprintf("more than %d steps within an instant of its clock", most))
	}
}

// GoesOn keeps the goroutine that calls for ever: it does something over and over, what
// tells what. The first that does is what Endless returns.
func (b *Bubble) GoesOn(what string) {
	own := stack(false)
	b.endless.CompareAndSwap(nil, &model.Crash{Kind: model.Hang, Message: "it goes on for ever: " + what, Where: observation.Innermost(own), Stack: string(own)})
	select {}
}

// Endless describes what goes on for ever; nil if nothing does.
func (b *Bubble) Endless() *model.Crash { return b.endless.Load() }

// Watch says whether the scheduler is expected to be doing something: without progress
// it then counts as at a standstill.
func (b *Bubble) Watch(on bool) {
	b.sameMoment.Store(0) // cycles may follow one another at one moment
	b.watching.Store(on)
}

func New() *Bubble {
	b, now := &Bubble{work: make(chan func()), over: make(chan struct{}), outside: make(chan call), free: make(chan chan any, 1)}, time.Now()
	b.free <- make(chan any, 1)
	go func() {
		defer close(b.over)
		// A bubble whose goroutines all wait for ever ends in a panic. That is no
		// news: see Settle.
		defer func() { _ = recover() }()
		synctest.Test(new(testing.T), func(*testing.T) {
			b.id = Current()
			time.Sleep(time.Until(now)) // its clock starts in the year 2000
			b.cycles = make(chan func())
			defer close(b.cycles)
			run := func() {
				for f := range b.cycles {
					f()
				}
			}
			if DeepStacks {
				go onDeepStack(run)
			} else {
				go run()
			}
			for f := range b.work {
				f()
			}
		})
	}()
	return b
}

// DeepStacks makes new goroutines begin with larger stacks. It is for processes that run
// thousands of cycles, and is to be set before the first Bubble is made.
//
// The runtime makes the stacks of new goroutines as large as those that wait are on average
// (release notes of Go 1.19, "Runtime"). Of a scheduler's goroutines a dozen wait with next to
// nothing on theirs, and those that each cycle begins need so much that their stacks are copied
// three times over. One that waits deep within its stack makes it 8 to 16 KiB.
var DeepStacks bool

// deep is how much of its stack that one takes, in bytes.
const deep = 128 << 10

//go:noinline
func onDeepStack(f func()) {
	var room [deep]byte
	f()
	runtime.KeepAlive(&room)
}

// Lend lets goroutines of the bubble call Outside, until the bubble is over. It must be called outside.
func (b *Bubble) Lend() {
	go func() {
		for {
			select {
			case c := <-b.outside:
				func() {
					defer func() { c.done <- recover() }()
					c.f()
				}()
			case <-b.over:
				return
			}
		}
	}()
}

// Outside calls f outside of the bubble, whose clock stands still meanwhile. What waits for a network does so
// all the time: a bubble that holds its goroutines never comes to rest. However long f takes, it is no standstill.
func (b *Bubble) Outside(f func()) {
	b.away.Add(1)
	defer b.away.Add(-1)
	c := <-b.free
	b.outside <- call{f, c}
	p := <-c
	b.free <- c
	if p != nil {
		panic(p)
	}
}

// ID identifies the bubble in the process, as Current does.
func (b *Bubble) ID() string { return b.id }

// Current identifies the bubble of the goroutine that calls; "" if it is in none.
func Current() string { return bubbleID.FindString(firstLine()) }

// Goroutine identifies the goroutine that calls: "goroutine 7".
func Goroutine() string {
	name, _, _ := strings.Cut(firstLine(), " [")
	return name
}

func firstLine() string {
	var first [256]byte // of the stack
	return string(first[:runtime.Stack(first[:], false)])
}

var bubbleID = regexp.MustCompile(`synctest bubble \d+\]`)

func stack(all bool) []byte {
	for size := 1 << 20; ; size *= 4 { // schedulers that hang leave their goroutines behind
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, all); n < size || !all {
			return buffer[:n]
		}
	}
}

// Close calls last in the bubble, and returns when its goroutines have ended: what a
// binding cycle still does would be counted among what others do. Goroutines that do
// not end are left behind.
func (b *Bubble) Close(last func()) {
	b.work <- last
	close(b.work)
	select {
	case <-b.over:
	case <-time.After(Patience):
	}
}

// Patience is how long a cycle may show no progress, besides PerObject for each object that a
// single step may look at.
const (
	Patience  = 2 * time.Second
	PerObject = 40 * time.Microsecond
	// mostSteps is how often progress may be made while the clock stands still, besides
	// mostPerObject times for each object. Filters are asked of each node, dry runs as well, and
	// each victim is written to twice, a few times over where a call fails.
	mostSteps     = 10_000
	mostPerObject = 1_000
	// deadlockPatience is how long no goroutine may run if some wait for a lock.
	deadlockPatience = 200 * time.Millisecond
	tick             = 50 * time.Millisecond
)

// Do runs f in the bubble. If it comes to a standstill, Do returns without it, and the bubble is
// lost. Patience, and PerObject for each of so many objects, is how long it may show no progress
// while it is watched.
func (b *Bubble) Do(patience time.Duration, objects int, f func()) *model.Crash {
	patience += time.Duration(objects) * PerObject
	b.most.Store(int64(mostSteps + objects*mostPerObject))
	done := make(chan struct{})
	b.work <- func() {
		defer close(done)
		f()
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	seen, idle, last := uint64(0), time.Duration(0), time.Now()
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		// A machine that does not run this loop in time does not run the scheduler
		// either: that does not count.
		late := time.Since(last) > 2*tick
		last = time.Now()
		switch now := b.progress.Load(); {
		case !b.watching.Load() || now != seen || b.away.Load() > 0:
			seen, idle = now, 0
		case !late:
			idle += tick
		}
		if crash := b.Endless(); crash != nil && idle >= deadlockPatience {
			return crash // others wait for what it holds
		}
		if idle == deadlockPatience && deadlocked(b.goroutines()) {
			return standstill("it waits for a lock that is never released", b.goroutines())
		}
		if idle >= patience {
			return standstill(fmt.Sprintf("nothing happened for %s", patience.Round(tick)), b.goroutines())
		}
	}
}

// settleTime is how long the scheduler's clock may go on before what it does counts
// as endless. Its own retries end within seconds; DynamicResources gives a filter 10.
const settleTime = 15 * time.Second

// Settle calls f and returns when nothing that it began goes on: ended tells. If it
// goes on for ever, Settle returns what it waits for. It must be called in a bubble.
func (b *Bubble) Settle(f func(), ended func() bool) *model.Crash {
	b.Watch(true)
	defer b.Watch(false)
	done := make(chan struct{})
	b.cycles <- func() {
		defer close(done)
		f()
	}
	over := func() bool {
		synctest.Wait()
		select {
		case <-done:
			return ended()
		default:
			return false
		}
	}
	if over() {
		return nil
	}
	for range settleTime / time.Second {
		if crash := b.Endless(); crash != nil {
			return crash
		}
		time.Sleep(time.Second)
		if over() {
			return nil
		}
	}
	if crash := b.Endless(); crash != nil {
		return crash
	}
	if left := b.goroutines(); len(left) > 0 {
		return standstill("it waits for something that never comes", left)
	}
	return nil // the aftermath says what is left
}

// Exited is what to panic with where the scheduler would end its process, with that status.
type Exited int

func (e Exited) String() string { return fmt.Sprintf("the process ends with status %d", int(e)) }

// Crashed describes a panic, given the stack in which it was recovered.
func Crashed(p any, stack []byte) *model.Crash {
	// What comes before the last call of panic is the recovery itself.
	from := stack
	if i := bytes.LastIndex(stack, []byte("\npanic(")); i >= 0 {
		from = stack[i+1:]
	}
	kind := model.Panic
	if _, ok := p.(Exited); ok {
		kind = model.Exit
	}
	return &model.Crash{Kind: kind, Message: fmt.Sprint(p), Where: observation.Innermost(from), Stack: string(from)}
}

// ofCycle is in the stacks of the goroutines that a cycle began. The others wait for
// work all the time.
var ofCycle = regexp.MustCompile(`\)\.ScheduleOne\(|prepareCandidateAsync|runBindingCycle|ParallelizeUntil`)

// goroutines are the stacks of those that a cycle began and that have not ended.
func (b *Bubble) goroutines() []string {
	var stacks []string
	for g := range strings.SplitSeq(string(stack(true)), "\n\n") {
		if strings.Contains(g, b.id) && ofCycle.MatchString(g) {
			stacks = append(stacks, g)
		}
	}
	return stacks
}

var (
	mayGoOn       = regexp.MustCompile(`^goroutine \d+ \[(running|runnable|syscall|IO wait|sleep)`)
	waitsForLock  = regexp.MustCompile(`^goroutine \d+ \[(sync\.(RW)?Mutex|semacquire)`)
	waitsForOther = regexp.MustCompile(`^goroutine \d+ \[sync\.WaitGroup|\)\.beforeCall\(`)
)

// deadlocked tells whether none of the goroutines runs, and one of them waits for a lock.
func deadlocked(goroutines []string) bool {
	return slices.ContainsFunc(goroutines, waitsForLock.MatchString) && !slices.ContainsFunc(goroutines, mayGoOn.MatchString)
}

// Standstill describes what the goroutines that a cycle began wait for.
func (b *Bubble) Standstill(message string) *model.Crash { return standstill(message, b.goroutines()) }

// standstill describes what the goroutines wait for, first those that do not wait
// for others of them.
func standstill(message string, goroutines []string) *model.Crash {
	slices.SortStableFunc(goroutines, func(a, b string) int {
		return cmp.Compare(len(waitsForOther.FindString(a)), len(waitsForOther.FindString(b)))
	})
	crash := &model.Crash{Kind: model.Hang, Message: message, Where: observation.NotUpstream, Stack: strings.Join(goroutines, "\n\n")}
	for _, g := range goroutines {
		if crash.Where = observation.Innermost([]byte(g)); crash.Where != observation.NotUpstream {
			break
		}
	}
	return crash
}
