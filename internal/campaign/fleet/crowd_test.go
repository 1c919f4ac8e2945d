package fleet

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/store"
)

// paper is a bucket in memory that takes some time for each request, and counts them.
type paper struct {
	mu       sync.Mutex
	objects  map[string]map[string]time.Time // by shelf and key
	data     map[string][]byte
	requests map[string]int
	second   map[int64]int
	refused  int
}

func newPaper() *paper {
	return &paper{objects: map[string]map[string]time.Time{}, data: map[string][]byte{}, requests: map[string]int{}, second: map[int64]int{}}
}

func (p *paper) Name() string { return "paper" }

// ask counts a request that takes some 20 to 60 ms.
func (p *paper) ask(kind string) func() {
	time.Sleep(20*time.Millisecond + rand.N(40*time.Millisecond))
	p.mu.Lock()
	p.requests[kind]++
	p.second[time.Now().Unix()]++
	return p.mu.Unlock
}

func (p *paper) Create(_ context.Context, key string, data []byte) error {
	defer p.ask("create")()
	if p.has(key) {
		p.refused++
		return store.ErrTaken
	}
	p.put(key, data)
	return nil
}

// shelf is what a key begins with: its folder, and of claims all but the last digits of the block.
func shelf(key string) string {
	end := strings.Index(key, "/") + 1
	if key[:end] == claims {
		end = min(end+8, len(key))
	}
	return key[:end]
}

func (p *paper) has(key string) bool {
	_, has := p.objects[shelf(key)][key]
	return has
}

func (p *paper) put(key string, data []byte) {
	in := p.objects[shelf(key)]
	if in == nil {
		in = map[string]time.Time{}
		p.objects[shelf(key)] = in
	}
	in[key] = time.Now()
	if strings.HasPrefix(key, workers) || strings.HasPrefix(key, ended) || key == planKey {
		p.data[key] = data
	}
}

func (p *paper) Put(_ context.Context, key string, data []byte) error {
	defer p.ask("put")()
	p.put(key, data)
	return nil
}

func (p *paper) Get(_ context.Context, key string) ([]byte, error) {
	defer p.ask("get")()
	if data, is := p.data[key]; is {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (p *paper) Delete(_ context.Context, key string) error {
	defer p.ask("delete")()
	delete(p.objects[shelf(key)], key)
	delete(p.data, key)
	return nil
}

func (p *paper) Exists(_ context.Context, key string) (bool, error) {
	defer p.ask("head")()
	return p.has(key), nil
}

func (p *paper) List(_ context.Context, prefix string, found func(store.Object)) error {
	p.mu.Lock()
	var all []store.Object
	for key, at := range p.objects[shelf(prefix)] {
		if strings.HasPrefix(key, prefix) {
			all = append(all, store.Object{Key: key, Modified: at})
		}
	}
	p.mu.Unlock()
	for range max(1, (len(all)+999)/1000) {
		p.ask("list")()
	}
	slices.SortFunc(all, func(a, b store.Object) int { return strings.Compare(a.Key, b.Key) })
	for _, o := range all {
		found(o)
	}
	return nil
}

// crowd is what becomes of a campaign of many workers of unequal speed, in virtual time.
type crowd struct {
	requests map[string]int
	refused  int
	peak     int // requests in the busiest second after the first
	took     time.Duration
	blocks   int
	skew     time.Duration // between the first and the last that ends
}

// simulate has n workers check so many blocks each, on average. A block takes a worker between half and twice as long as blockTime.
func simulate(n, each int, blockTime time.Duration) crowd {
	p := newPaper()
	pl := plan(n * each)
	start := time.Now()
	var ends []time.Time
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		speed := 0.5 + 1.5*float64(i)/float64(n)
		wg.Go(func() {
			time.Sleep(rand.N(10 * time.Second)) // pods do not start all at once
			_, err := Work(context.Background(), Options{Store: p, Plan: pl, Index: fmt.Sprint(i), Checker: toy{slow: time.Duration(float64(blockTime) * speed)}})
			if err != nil {
				panic(err)
			}
			mu.Lock()
			defer mu.Unlock()
			ends = append(ends, time.Now())
		})
	}
	wg.Wait()
	c := crowd{requests: p.requests, refused: p.refused, took: time.Since(start)}
	for second, requests := range p.second {
		if second > start.Unix()+10 {
			c.peak = max(c.peak, requests)
		}
	}
	c.blocks = len(p.objects[results])
	slices.SortFunc(ends, time.Time.Compare)
	c.skew = ends[len(ends)-1].Sub(ends[0])
	return c
}

// Workers of unequal speed end within the time that the slowest takes for a block.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const blockTime, slowest = time.Minute, 2 * time.Minute
		c := simulate(50, 20, blockTime)
		require.Equal(t, 1000, c.blocks)
		require.Less(t, c.skew, slowest+10*time.Second) // it also asks the bucket
	})
}

// BenchmarkCrowd tells what fleets of several sizes ask of the bucket, on paper.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var c crowd
				synctest.Test(&testing.T{}, func(*testing.T) { c = simulate(n, 50, 5*time.Minute) })
				total := 0
				for _, kind := range slices.Sorted(maps.Keys(c.requests)) {
					total += c.requests[kind]
					b.ReportMetric(float64(c.requests[kind])/float64(c.blocks), kind+"/block")
				}
				b.ReportMetric(float64(total)/c.took.Seconds(), "requests/s")
				b.ReportMetric(float64(c.peak), "peak-requests/s")
				b.ReportMetric(float64(c.refused)/float64(c.blocks), "refused/block")
				b.ReportMetric(c.skew.Seconds(), "skew-s")
			}
		})
	}
}

// Which of the blocks that were passed over are claimed is looked up by the hundred.
func TestForgetClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPaper()
		p.put(claimKey(99, 1), nil)
		p.put(claimKey(250, 2), nil)
		w := &worker{Options: Options{Store: p}, self: Worker{Passed: []uint64{98, 99, 100, 101, 250}}}
		require.NoError(t, w.forgetClaimed(t.Context()))
		require.Equal(t, []uint64{98, 100, 101}, w.self.Passed)
		require.Equal(t, map[string]int{"list": 3}, p.requests)
	})
}
