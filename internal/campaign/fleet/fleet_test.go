package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// faulty is an S3 server that answers as it should, or not: it says that there is too much to do, it drops a connection before it has
// done anything, or after it has done all.
type faulty struct {
	http.Handler
	one atomic.Int64 // in so many requests; 0 is none
	all atomic.Int64
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.all.Add(1)
	if one := f.one.Load(); one > 0 && rand.Int64N(one) == 0 {
		switch rand.IntN(3) {
		case 0:
			http.Error(w, `<Error><Code>SlowDown</Code></Error>`, http.StatusServiceUnavailable)
			return
		case 1:
			f.Handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}
	f.Handler.ServeHTTP(w, r)
}

// bucket is the address of a new bucket of a server.
func bucket(t *testing.T) (string, *faulty) {
	t.Setenv("AWS_ACCESS_KEY_ID", "tests")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "tests")
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("nights"))
	f := &faulty{Handler: gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return "s3://nights/one?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(server.URL), f
}

func open(t testing.TB, address string) *store.Store {
	s, err := store.Open(context.Background(), address)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	s.Pause = time.Millisecond
	return s
}

// toy checks clusters in no time: it only counts them. It is unequally fast, and now and then it dies.
type toy struct {
	slow time.Duration
	dies int // once in so many blocks; 0 is never
}

var errKilled = errors.New("killed")

func (y toy) Check(ctx context.Context, first, end uint64) (*campaign.Answer, error) {
	select {
	case <-time.After(y.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if y.dies > 0 && rand.IntN(y.dies) == 0 {
		return nil, errKilled
	}
	return toyAnswer(first, end), nil
}

func toyAnswer(first, end uint64) *campaign.Answer {
	return &campaign.Answer{Done: int(end - first), Stats: probe.Stats{Clusters: int(end - first), Exercised: map[string]int{fmt.Sprint("of ", first): int(end - first)}}}
}

func (toy) Used() (int, float64, int64) { return 0, 1, 1 }

func plan(blocks int) Plan {
	return Plan{Config: record.Config{Seed: 7, Shard: record.Shard{Index: 1, Of: 1}, Command: "preemptcheck"}, Block: MinBlock, Cases: uint64(blocks)*MinBlock - 100}
}

// counted are the answers to all blocks, one after the other; they must have been counted once.
func counted(t *testing.T, r *Results) (clusters uint64, blocks int) {
	for next := uint64(0); next < r.Clusters; {
		a, err := r.Known(t.Context(), next)
		require.NoError(t, err)
		if a == nil { // checked by whoever merges
			next = min(next+r.plan.Block, r.Clusters)
			continue
		}
		_, end := r.plan.clusters(next / r.plan.Block)
		require.Equal(t, toyAnswer(next, end), a)
		clusters += uint64(a.Done)
		blocks++
		next = end
	}
	return clusters, blocks
}

// However many work, and whatever becomes of them and of the store: each cluster counts once.
func TestEachClusterOnce(t *testing.T) {
	for _, kind := range []string{"s3", "file"} {
		t.Run(kind, func(t *testing.T) {
			address, server := "file://"+t.TempDir(), &faulty{}
			if kind == "s3" {
				address, server = bucket(t)
				server.one.Store(60)
			}
			const blocks, indexes = 60, 8
			p := plan(blocks)
			var wg sync.WaitGroup
			var own atomic.Int64
			errs := make(chan error, indexes)
			for i := range indexes {
				s := open(t, address)
				wg.Go(func() {
					for { // as the Job controller does
						err := Join(t.Context(), s, p)
						if err == nil {
							var w Worker
							w, err = Work(t.Context(), Options{Store: s, Plan: p, Index: fmt.Sprint(i), Checker: toy{time.Duration(i) * time.Millisecond, 8}, Pulse: 50 * time.Millisecond, Silence: 400 * time.Millisecond})
							own.Add(int64(w.Blocks))
						}
						if !errors.Is(err, errKilled) {
							errs <- err
							return
						}
					}
				})
			}
			// Another process of index 3, which nobody has told that there is one already.
			s := open(t, address)
			w, err := Work(t.Context(), Options{Store: s, Plan: p, Index: "3", Checker: toy{}, Pulse: 50 * time.Millisecond, Silence: 400 * time.Millisecond})
			require.NoError(t, err)
			own.Add(int64(w.Blocks))
			wg.Wait()
			close(errs)
			for err := range errs {
				require.NoError(t, err)
			}
			server.one.Store(0)
			r, err := Read(t.Context(), s, 0)
			require.NoError(t, err)
			require.Equal(t, p.Cases, r.Clusters)
			require.Zero(t, r.Missing)
			clusters, done := counted(t, r)
			require.Equal(t, p.Cases, clusters)
			require.Equal(t, blocks, done)
			require.EqualValues(t, blocks, own.Load())
		})
	}
}

// What a lost worker has left is taken over by others when it is silent for long; while it is not, nothing can be merged.
func TestTakeOver(t *testing.T) {
	s := open(t, "file://"+t.TempDir())
	p := plan(10)
	require.NoError(t, Join(t.Context(), s, p))
	ctx, kill := context.WithCancel(t.Context())
	lost := &worker{Options: Options{Store: s, Plan: p, Checker: toy{slow: time.Hour}}, stride: 1, start: time.Now(), beat: make(chan struct{}, 1)}
	lost.self.Name = "lost"
	time.AfterFunc(300*time.Millisecond, kill)
	require.ErrorIs(t, lost.work(ctx, nil), context.Canceled) // it had no time to say goodbye
	o := Options{Store: s, Plan: p, Checker: toy{}, Pulse: 10 * time.Millisecond, Silence: time.Hour}
	done, err := Work(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 9, done.Blocks)
	_, err = Read(t.Context(), s, time.Hour)
	require.EqualError(t, err, "1 worker at work: -lost")

	r, err := Read(t.Context(), s, 0)
	require.NoError(t, err)
	require.EqualValues(t, MinBlock, r.Missing)

	time.Sleep(50 * time.Millisecond)
	o.Silence = 20 * time.Millisecond
	done, err = Work(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, done.Blocks)
	require.Equal(t, 1, done.TakenOver)
	r, err = Read(t.Context(), s, 0)
	require.NoError(t, err)
	require.Zero(t, r.Missing)
	_, blocks := counted(t, r)
	require.Equal(t, 10, blocks)
}

// A pod that is started again goes on with its block at once, and with its time.
func TestSameIndex(t *testing.T) {
	s := open(t, "file://"+t.TempDir())
	p := plan(10)
	require.NoError(t, Join(t.Context(), s, p))
	o := Options{Store: s, Plan: p, Index: "5", Checker: toy{dies: 1}, Pulse: time.Hour, Silence: time.Hour}
	_, err := Work(t.Context(), o)
	require.ErrorIs(t, err, errKilled)
	o.Checker, o.For = toy{}, time.Nanosecond // its time is up
	done, err := Work(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, done.Blocks)
	require.Equal(t, 1, done.TakenOver)
}

// Nobody joins what is another campaign.
func TestJoin(t *testing.T) {
	s := open(t, "file://"+t.TempDir())
	_, err := Load(t.Context(), s)
	require.ErrorContains(t, err, "there is no campaign in it")
	p := plan(3)
	require.NoError(t, Join(t.Context(), s, p))
	require.NoError(t, Join(t.Context(), s, p))
	other := p
	other.Config.Seed = 8
	require.ErrorContains(t, Join(t.Context(), s, other), "holds another campaign")
	other = p
	other.Cases++
	require.ErrorContains(t, Join(t.Context(), s, other), "clusters in blocks of 1024")
	other.Block = 1000
	require.ErrorContains(t, Join(t.Context(), s, other), "it takes a multiple of 1024")
}
