// Package fleet shares one campaign among many machines, by a bucket. It keeps there
//
//	plan.json                    what is checked: the same for all
//	claims/BLOCK-TRY             who checks a block of clusters, for the first time or once more
//	results/BLOCK.json.gz        what became of them
//	workers/INDEX-NAME.json      what a worker does, and whether it lives
//	ended/INDEX-NAME.json        what one has done that has ended and left nothing
//
// Claims and results are created once, and are never changed: of two workers that want the same, one wins. So it does not
// matter who believes to own what: a block has one result, which depends on the clusters only. A worker
// is lost if its object grows old by the clock of the store. Then others take over the block that it names.
//
// Nothing is minimised here, and nothing added up: that is done once, in the order of the blocks, when all is merged. So the
// result is that of one machine which checks the same clusters.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// Bucket is where a fleet keeps everything. *store.Store is one.
type Bucket interface {
	// Name is its address.
	Name() string
	// Create writes an object whose key must not be in use: else it is store.ErrTaken.
	Create(ctx context.Context, key string, data []byte) error
	Put(ctx context.Context, key string, data []byte) error
	// Get is an fs.ErrNotExist if there is no such object.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, key string) error
	Exists(ctx context.Context, key string) (bool, error)
	// List calls found for all objects whose keys begin with a prefix, in the order of their keys.
	List(ctx context.Context, prefix string, found func(store.Object)) error
}

// Plan is what a fleet checks.
type Plan struct {
	Config record.Config `json:"config"`
	// Block is how many clusters are claimed at once.
	Block uint64 `json:"block"`
	// Cases is how many clusters there are in all; 0 is no limit.
	Cases uint64 `json:"cases,omitempty"`
}

// blocks is how many blocks there are; ^0 is no limit.
func (p *Plan) blocks() uint64 {
	if p.Cases == 0 {
		return ^uint64(0)
	}
	return (p.Cases + p.Block - 1) / p.Block
}

// clusters are those of a block.
func (p *Plan) clusters(block uint64) (first, end uint64) {
	first, end = block*p.Block, (block+1)*p.Block
	if p.Cases > 0 {
		end = min(end, p.Cases)
	}
	return first, end
}

// MinBlock divides the size of each block: the canary sings in the same clusters as on one machine.
const MinBlock = record.BlockSize * record.CanaryEvery

// DefaultBlock is some 20 seconds of one CPU.
const DefaultBlock = 16 * MinBlock

const planKey = "plan.json"

// Join begins the campaign in a bucket, or finds that it is the same as the one that is there.
func Join(ctx context.Context, s Bucket, p Plan) error {
	if p.Block == 0 || p.Block%MinBlock != 0 {
		return fmt.Errorf("a block has %d clusters: it takes a multiple of %d", p.Block, MinBlock)
	}
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	err = s.Create(ctx, planKey, data)
	if !errors.Is(err, store.ErrTaken) {
		return err
	}
	there, err := Load(ctx, s)
	switch {
	case err != nil:
		return err
	case !there.Config.Same(p.Config):
		return fmt.Errorf("%s holds another campaign:\nthere: %+v\nhere:  %+v", s.Name(), there.Config, p.Config)
	case there.Block != p.Block || there.Cases != p.Cases:
		return fmt.Errorf("%s holds a campaign of %d clusters in blocks of %d, not of %d in blocks of %d", s.Name(), there.Cases, there.Block, p.Cases, p.Block)
	}
	return nil
}

// Load reads the plan in a bucket. The error is an fs.ErrNotExist if there is none.
func Load(ctx context.Context, s Bucket) (*Plan, error) {
	data, err := s.Get(ctx, planKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no campaign in it: %w", s.Name(), fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", s.Name(), planKey, err)
	}
	if p.Block == 0 {
		return nil, fmt.Errorf("%s/%s: block: it takes a positive number", s.Name(), planKey)
	}
	return p, nil
}

const (
	claims    = "claims/"
	results   = "results/"
	resultEnd = ".json.gz"
	workers   = "workers/"
	ended     = "ended/"
)

// claimKey is that of a try to check a block, from 1 on.
func claimKey(block uint64, try int) string { return fmt.Sprintf("%s%010d-%d", claims, block, try) }

func resultKey(block uint64) string { return fmt.Sprintf("%s%010d%s", results, block, resultEnd) }

// claimOf is the block and the try of a key.
func claimOf(key string) (block uint64, try int, ok bool) {
	text, number, _ := strings.Cut(strings.TrimPrefix(key, claims), "-")
	block, err := strconv.ParseUint(text, 10, 64)
	try, bad := strconv.Atoi(number)
	return block, try, err == nil && bad == nil
}

// resultOf is the block of a key.
func resultOf(key string) (block uint64, ok bool) {
	block, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(key, results), resultEnd), 10, 64)
	return block, err == nil
}

// Worker is what a worker tells about itself.
type Worker struct {
	// Index is that of the Job, "" if there is none. Name tells its processes apart.
	Index string `json:"index,omitempty"`
	Name  string `json:"name"`
	Host  string `json:"host,omitempty"`
	// Working is the block that it has claimed, with the try.
	Working *Claim `json:"working,omitempty"`
	// Passed are the blocks that it passed over, and looks at next.
	Passed []uint64 `json:"passed,omitempty"`
	// Ended: it ended by itself. What it was working on is left to others.
	Ended bool `json:"ended,omitempty"`
	// Why is why it ended, if that was an error.
	Why string `json:"why,omitempty"`
	record.Session
	// Blocks is how many results were its own, TakenOver how many of those were begun by others, Lost how many results came too late.
	Blocks    int `json:"blocks"`
	TakenOver int `json:"takenOver,omitempty"`
	Lost      int `json:"lost,omitempty"`
	Deaths    int `json:"deaths,omitempty"`
	// Memory is the resident bytes of its processes.
	Memory int64 `json:"memory,omitempty"`
	// Suspicions are what it came upon, by how they look. Nothing has been minimised yet.
	Suspicions map[string]*Suspicion `json:"suspicions,omitempty"`
}

// Summary is one line about it.
func (w *Worker) Summary() string {
	text := fmt.Sprintf("%s in %s", words.Plural(w.Clusters, "cluster"), words.Plural(w.Blocks, "block"))
	if w.TakenOver > 0 {
		text += fmt.Sprintf(", %d taken over", w.TakenOver)
	}
	if n := w.Suspicious(); n > 0 {
		text += fmt.Sprintf("; %d suspicious", n)
	}
	return text
}

// Suspicious counts its suspicions.
func (w *Worker) Suspicious() (n int) {
	for _, s := range w.Suspicions {
		n += s.Count
	}
	return n
}

// left are the blocks that others have to look at if the worker does not, as claims that were made.
func (w *Worker) left() (all []Claim) {
	if w.Working != nil {
		all = append(all, *w.Working)
	}
	for _, block := range w.Passed {
		all = append(all, Claim{block, 0})
	}
	return all
}

// Claim is a block, and how often somebody has claimed it.
type Claim struct {
	Block uint64 `json:"block"`
	Try   int    `json:"try"`
}

// Suspicion is something that was found, of which one cluster has the number First.
type Suspicion struct {
	Count  int    `json:"count"`
	First  uint64 `json:"first"`
	Detail string `json:"detail"`
	// ToContact: it goes to the Kubernetes security contact before it is published.
	ToContact bool `json:"toSecurityContact,omitempty"`
}

// key is the name of its object.
func (w *Worker) key() string { return w.Index + "-" + w.Name + ".json" }

// result is what is kept of a block.
type result struct {
	Block  uint64           `json:"block"`
	By     string           `json:"by"`
	Answer *campaign.Answer `json:"answer"`
}

// Pulse is how often a worker says that it lives, and Silence after how long without that it is lost.
const (
	Pulse   = time.Minute
	Silence = 4 * Pulse
)
