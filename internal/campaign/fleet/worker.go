package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/store"
)

// Checker checks the clusters of a range. *campaign.Crew is one.
type Checker interface {
	Check(ctx context.Context, first, end uint64) (*campaign.Answer, error)
	Used() (died int, cpuSeconds float64, memory int64)
}

// Options say how a worker works.
type Options struct {
	Store Bucket
	Plan  Plan
	// Index is that of the Job, "" if there is none. A worker goes on with what an earlier one of the same index has claimed.
	Index string
	// For is how long to take up blocks, in all sessions of the index; 0 is no limit.
	For     time.Duration
	Workers int
	Checker Checker
	// Progress is called after each block, and with each pulse, one call at a time.
	Progress func(Worker)
	// Pulse and Silence are the constants of these names if they are 0.
	Pulse, Silence time.Duration
}

// worker is one session.
type worker struct {
	Options
	start time.Time
	spent time.Duration // by earlier sessions of the index

	mu   sync.Mutex
	self Worker
	beat chan struct{} // holds one pulse at a time, so that an older one does not replace a newer one

	// frontier is the first block that is not known to be claimed, stride how far it was moved last time, and spread from how many
	// blocks there the next is drawn: more if others were faster.
	frontier, stride, spread uint64
	// begun: it has claimed, or tried to.
	begun bool
}

// Work checks blocks until there are none left or the time is up, and then those that lost workers have left. When ctx is
// done it gives up the block that it has; all others are kept.
func Work(ctx context.Context, o Options) (Worker, error) {
	if o.Pulse == 0 {
		o.Pulse, o.Silence = Pulse, Silence
	}
	w := &worker{Options: o, start: time.Now(), stride: 1, beat: make(chan struct{}, 1)}
	w.self.Index, w.self.Name = o.Index, string(uuid.NewUUID())
	w.self.Started, w.self.Workers = w.start.UTC(), o.Workers
	w.self.Host, _ = os.Hostname()
	before, err := w.predecessors(ctx)
	if err != nil {
		return w.self, err
	}
	if err := w.pulse(ctx); err != nil {
		return w.self, err
	}
	stop := w.live(ctx)
	err = w.work(ctx, before)
	stop()
	w.mu.Lock()
	w.self.Ended = true
	if err != nil { // what it has claimed is left to others
		w.self.Why = err.Error()
	}
	w.mu.Unlock()
	// Also if ctx is done: who is known to have ended is not waited for.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(w.Pulse, 10*time.Second))
	defer cancel()
	if err = errors.Join(err, w.pulse(last)); err != nil {
		return w.self, err
	}
	// Whoever looks for lost workers does not have to look at this one.
	return w.self, w.Store.Delete(last, workers+w.self.key())
}

// live lets others know that this worker lives, until stop is called.
func (w *worker) live(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(w.Pulse)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = w.pulse(ctx) // the store was asked for minutes; whoever takes over does no harm
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// pulse writes what the worker does.
func (w *worker) pulse(ctx context.Context) error {
	w.beat <- struct{}{}
	defer func() { <-w.beat }()
	w.mu.Lock()
	w.self.Seconds = time.Since(w.start).Seconds()
	w.self.Deaths, w.self.CPUSeconds, w.self.Memory = w.Checker.Used()
	data, err := json.Marshal(w.self)
	w.tell()
	w.mu.Unlock()
	if err != nil {
		return err
	}
	dir := workers
	if w.self.Ended && w.self.left() == nil {
		dir = ended
	}
	return w.Store.Put(ctx, dir+w.self.key(), data)
}

// predecessors are what earlier sessions of the index have left.
func (w *worker) predecessors(ctx context.Context) (left []Claim, err error) {
	if w.Index == "" {
		return nil, nil
	}
	all, err := readAll(ctx, w.Store, w.Index+"-")
	for _, p := range all {
		w.spent += time.Duration(p.Seconds * float64(time.Second))
		left = append(left, p.left()...)
	}
	return left, err
}

func (w *worker) work(ctx context.Context, before []Claim) error {
	for _, c := range before {
		if err := w.takeOver(ctx, c); err != nil {
			return err
		}
	}
	for w.For == 0 || w.spent+time.Since(w.start) < w.For {
		if err := w.tryPassed(ctx); err != nil {
			return err
		}
		block, err := w.claim(ctx)
		if errors.Is(err, errNoneLeft) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.do(ctx, Claim{block, 1}); err != nil {
			return err
		}
	}
	if err := w.tryPassed(ctx); err != nil {
		return err
	}
	return w.takeOverAll(ctx)
}

// fewPassed is of how many blocks it takes no more requests to try each than to look up which are claimed.
const fewPassed = 3

// tryPassed checks the blocks that were passed over, and that nobody has claimed since: whoever passes over some sees to them.
func (w *worker) tryPassed(ctx context.Context) error {
	if len(w.self.Passed) > fewPassed {
		if err := w.forgetClaimed(ctx); err != nil {
			return err
		}
	}
	for len(w.self.Passed) > 0 {
		if err := w.try(ctx, Claim{w.self.Passed[0], 1}); err != nil {
			return err
		}
		w.mu.Lock()
		w.self.Passed = w.self.Passed[1:]
		w.mu.Unlock()
	}
	return nil
}

// forgetClaimed leaves those of the blocks passed over that nobody has claimed. It lists the claims of a hundred blocks at once.
func (w *worker) forgetClaimed(ctx context.Context) error {
	claimed, listed := map[uint64]bool{}, map[string]bool{}
	for _, block := range w.self.Passed {
		hundred := claimKey(block, 1)[:len(claims)+8]
		if listed[hundred] {
			continue
		}
		listed[hundred] = true
		err := w.Store.List(ctx, hundred, func(o store.Object) {
			if block, _, ok := claimOf(o.Key); ok {
				claimed[block] = true
			}
		})
		if err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.self.Passed = slices.DeleteFunc(w.self.Passed, func(block uint64) bool { return claimed[block] })
	return nil
}

// try checks a block if nobody else has made that try.
func (w *worker) try(ctx context.Context, c Claim) error {
	switch err := w.create(ctx, c); {
	case errors.Is(err, store.ErrTaken):
		return nil
	case err != nil:
		return err
	}
	return w.do(ctx, c)
}

// errNoneLeft is the error of claim if all blocks are claimed.
var errNoneLeft = errors.New("no block is left")

// claim claims a block that nobody has claimed yet: one of the first of these.
func (w *worker) claim(ctx context.Context) (uint64, error) {
	if !w.begun { // all begin at once: each has a block for its first
		w.begun = true
		if first, err := strconv.ParseUint(w.Index, 10, 64); err == nil && first < w.Plan.blocks() {
			if err := w.create(ctx, Claim{first, 1}); !errors.Is(err, store.ErrTaken) {
				return first, err
			}
		}
	}
	for {
		first, err := w.unclaimed(ctx)
		if err != nil {
			return 0, err
		}
		left := w.Plan.blocks() - min(first, w.Plan.blocks())
		if left == 0 {
			return 0, errNoneLeft
		}
		block := first
		if w.spread < left { // of the last ones, none is passed over
			block += rand.Uint64N(w.spread + 1)
		}
		switch err := w.create(ctx, Claim{block, 1}); {
		case err == nil:
			w.spread /= 2
			w.mu.Lock()
			for ; first < block; first++ {
				w.self.Passed = append(w.self.Passed, first)
			}
			w.mu.Unlock()
			return block, nil
		case !errors.Is(err, store.ErrTaken):
			return 0, err
		}
		w.spread = min(2*w.spread+1, maxSpread)
	}
}

// create makes a claim, unless there is that try already: also one of its own.
func (w *worker) create(ctx context.Context, c Claim) error {
	return w.Store.Create(ctx, claimKey(c.Block, c.Try), []byte(w.self.key()+" "+string(uuid.NewUUID())))
}

// maxSpread bounds how many blocks may be passed over for a while.
const maxSpread = 255

// unclaimed is the first block from the frontier on that nobody has claimed, as far as claims have no gaps: it goes up in larger and larger
// steps, and then divides the last one.
func (w *worker) unclaimed(ctx context.Context) (uint64, error) {
	claimed := func(block uint64) (bool, error) {
		if block >= w.Plan.blocks() {
			return false, nil
		}
		return w.Store.Exists(ctx, claimKey(block, 1))
	}
	low, step := w.frontier, w.stride
	if is, err := claimed(low); err != nil || !is {
		return low, err
	}
	high := low + step // low is claimed
	for {
		is, err := claimed(high)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		low, step = high, 2*step
		high = low + step
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		is, err := claimed(middle)
		if err != nil {
			return 0, err
		}
		if is {
			low = middle
		} else {
			high = middle
		}
	}
	w.stride = max(1, high-w.frontier)
	w.frontier = high
	return high, nil
}

// do checks a block that is claimed, and keeps the result, unless another has one.
func (w *worker) do(ctx context.Context, c Claim) error {
	w.mu.Lock()
	w.self.Working = &c
	w.mu.Unlock()
	if err := w.pulse(ctx); err != nil { // whoever takes over has to know which block
		return err
	}
	first, end := w.Plan.clusters(c.Block)
	answer, err := w.Checker.Check(ctx, first, end)
	if err != nil {
		return err
	}
	data, err := json.Marshal(result{c.Block, w.self.key(), answer})
	if err != nil {
		return err
	}
	err = w.Store.Create(ctx, resultKey(c.Block), store.Pack(data))
	if err != nil && !errors.Is(err, store.ErrTaken) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.self.Working = nil
	if err != nil {
		w.self.Lost++
		return nil
	}
	w.self.Blocks++
	if c.Try > 1 {
		w.self.TakenOver++
	}
	w.self.Clusters += answer.Done
	answer.Suspicions(func(kind, detail string, number uint64, toContact bool) {
		if w.self.Suspicions == nil {
			w.self.Suspicions = map[string]*Suspicion{}
		}
		s := w.self.Suspicions[kind]
		if s == nil {
			s = &Suspicion{First: number, Detail: detail, ToContact: toContact}
			w.self.Suspicions[kind] = s
		}
		s.Count++
	})
	w.tell()
	return nil
}

// tell calls Progress with a copy.
func (w *worker) tell() {
	if w.Progress == nil {
		return
	}
	self := w.self
	self.Suspicions = make(map[string]*Suspicion, len(w.self.Suspicions))
	for kind, s := range w.self.Suspicions {
		copied := *s
		self.Suspicions[kind] = &copied
	}
	w.Progress(self)
}

// takeOver checks a block that another one has left, unless there is a result or somebody else does.
func (w *worker) takeOver(ctx context.Context, c Claim) error {
	if is, err := w.Store.Exists(ctx, resultKey(c.Block)); err != nil || is {
		return err
	}
	return w.try(ctx, Claim{c.Block, c.Try + 1})
}

// takeOverAll takes over the blocks of all workers that are lost.
func (w *worker) takeOverAll(ctx context.Context) error {
	lost, err := readLost(ctx, w.Store, w.Silence)
	if err != nil {
		return err
	}
	rand.Shuffle(len(lost), func(i, j int) { lost[i], lost[j] = lost[j], lost[i] })
	for _, c := range lost {
		if err := w.takeOver(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// seen is a worker, and when it last said something by the clock of the store.
type seen struct {
	Worker
	Last time.Time
}

// readWorkers reads the workers whose names begin with a prefix, and of whose times wanted says so.
func readWorkers(ctx context.Context, s Bucket, prefix string, wanted func(time.Time) bool) (all []seen, err error) {
	var found []store.Object
	if err := s.List(ctx, prefix, func(o store.Object) {
		if wanted(o.Modified) {
			found = append(found, o)
		}
	}); err != nil {
		return nil, err
	}
	all = make([]seen, len(found))
	err = side(ctx, len(found), func(ctx context.Context, i int) error {
		data, err := s.Get(ctx, found[i].Key)
		if errors.Is(err, fs.ErrNotExist) { // it has just ended
			return nil
		}
		if err != nil {
			return err
		}
		all[i].Last = found[i].Modified
		if err := json.Unmarshal(data, &all[i].Worker); err != nil {
			return fmt.Errorf("%s/%s: %w", s.Name(), found[i].Key, err)
		}
		return nil
	})
	all = slices.DeleteFunc(all, func(w seen) bool { return w.Name == "" })
	return all, err
}

// readAll reads the workers whose names begin with a prefix.
func readAll(ctx context.Context, s Bucket, prefix string) ([]seen, error) {
	any := func(time.Time) bool { return true }
	gone, err := readWorkers(ctx, s, ended+prefix, any)
	if err != nil {
		return nil, err
	}
	live, err := readWorkers(ctx, s, workers+prefix, any)
	known := map[string]bool{}
	for _, w := range gone {
		known[w.key()] = true
	}
	for _, w := range live {
		if !known[w.key()] { // else it was killed while it ended
			gone = append(gone, w)
		}
	}
	return gone, err
}

// readLost is what workers have left that do not live.
func readLost(ctx context.Context, s Bucket, silence time.Duration) (lost []Claim, err error) {
	now, err := clock(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := readWorkers(ctx, s, workers, func(last time.Time) bool { return now.Sub(last) > silence })
	for _, w := range all {
		lost = append(lost, w.left()...)
	}
	return lost, err
}
