package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// sideBySide is how many objects are read at once.
const sideBySide = 32

// side does something n times, sideBySide at once.
func side(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sideBySide)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}

// clock is the time of the store.
func clock(ctx context.Context, s Bucket) (now time.Time, err error) {
	const key = "clock"
	if err := s.Put(ctx, key, []byte(key)); err != nil {
		return now, err
	}
	err = s.List(ctx, key, func(o store.Object) {
		if o.Key == key {
			now = o.Modified
		}
	})
	return now, err
}

// Results are those of a fleet, to be merged.
type Results struct {
	store Bucket
	plan  *Plan
	// Clusters is how many there are to merge: up to the end of the last block that was claimed.
	Clusters uint64
	// Missing is how many of them have no result: who merges has to check them.
	Missing uint64
	// Workers are all that ever worked.
	Workers []Worker
	done    map[uint64]bool
	ahead   map[uint64]chan fetched
}

type fetched struct {
	answer *campaign.Answer
	err    error
}

// AtWork is the error of Read while workers are at work.
type AtWork struct{ Names []string }

func (e *AtWork) Error() string {
	return fmt.Sprintf("%s at work: %s", words.Plural(len(e.Names), "worker"), words.Some(e.Names, 5))
}

// Read looks at what a fleet has done. It is an AtWork if somebody still works.
func Read(ctx context.Context, s Bucket, silence time.Duration) (*Results, error) {
	plan, err := Load(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &Results{store: s, plan: plan, done: map[uint64]bool{}, ahead: map[uint64]chan fetched{}}
	now, err := clock(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := readAll(ctx, s, "")
	if err != nil {
		return nil, err
	}
	busy := &AtWork{}
	for _, w := range all {
		if !w.Ended && now.Sub(w.Last) <= silence {
			busy.Names = append(busy.Names, w.Index+"-"+w.Name)
		}
		r.Workers = append(r.Workers, w.Worker)
	}
	if len(busy.Names) > 0 {
		return nil, busy
	}
	var blocks uint64
	if err := s.List(ctx, claims, func(o store.Object) {
		if block, _, ok := claimOf(o.Key); ok {
			blocks = max(blocks, block+1)
		}
	}); err != nil {
		return nil, err
	}
	if err := s.List(ctx, results, func(o store.Object) {
		if block, ok := resultOf(o.Key); ok {
			r.done[block] = true
		}
	}); err != nil {
		return nil, err
	}
	for block := range blocks {
		first, end := plan.clusters(block)
		r.Clusters = end
		if !r.done[block] {
			r.Missing += end - first
		}
	}
	return r, nil
}

// Plan is that of the fleet.
func (r *Results) Plan() Plan { return *r.plan }

// Known is campaign.Options.Known.
func (r *Results) Known(ctx context.Context, from uint64) (*campaign.Answer, error) {
	block := from / r.plan.Block
	if from%r.plan.Block != 0 || !r.done[block] {
		return nil, nil
	}
	for next := block; next < block+sideBySide; next++ {
		if r.done[next] && r.ahead[next] == nil {
			c := make(chan fetched, 1)
			r.ahead[next] = c
			go func() {
				a, err := r.fetch(ctx, next)
				c <- fetched{a, err}
			}()
		}
	}
	select {
	case f := <-r.ahead[block]:
		delete(r.ahead, block)
		return f.answer, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *Results) fetch(ctx context.Context, block uint64) (*campaign.Answer, error) {
	key := resultKey(block)
	packed, err := r.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	data, err := store.Unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", r.store.Name(), key, err)
	}
	found := &result{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", r.store.Name(), key, err)
	}
	first, end := r.plan.clusters(block)
	if found.Block != block || found.Answer == nil || uint64(found.Answer.Done) != end-first {
		return nil, fmt.Errorf("%s/%s: it is not about the %d clusters of block %d", r.store.Name(), key, end-first, block)
	}
	return found.Answer, nil
}

// Conclude gives a state that was counted from the results the sessions of the workers, and says where it comes from.
func (r *Results) Conclude(s *record.State) {
	own := s.Sessions
	s.Sessions = nil
	for _, w := range r.Workers {
		if w.Blocks > 0 {
			s.Sessions = append(s.Sessions, w.Session)
		}
		s.Deaths += w.Deaths
	}
	if r.Missing > 0 {
		s.Sessions = append(s.Sessions, own...)
	}
	slices.SortStableFunc(s.Sessions, func(a, b record.Session) int { return a.Started.Compare(b.Started) })
	s.Parts = []record.Part{{Dir: r.store.Name(), Seed: s.Config.Seed, Shard: record.Shard{Index: 1, Of: 1}, Next: s.Next, Clusters: s.Stats.Clusters}}
}

// IsFleet tells whether a bucket holds the campaign of a fleet.
func IsFleet(ctx context.Context, s Bucket) (bool, error) {
	is, err := s.Exists(ctx, planKey)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return is, err
}
