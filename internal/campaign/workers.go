package campaign

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// workers are the peers of a campaign.
type workers struct {
	launch Launch
	// again answers a request of one cluster that a worker died of, and outlives it.
	again func(context.Context, request) (*answer, error)
	errgroup.Group
	// patience is how much CPU time an answer about a block may take, and about one
	// cluster: see Peer.ask.
	patience, patienceForOne time.Duration

	mu    sync.Mutex
	peers map[*Peer]float64 // CPU seconds so far
	ended float64           // CPU seconds of peers that are gone
	died  int
}

// grace is how long work that was begun may go on when the time of a campaign is up.
const grace = 2 * time.Second

// startWorkers lets n workers do the jobs, until there are no more. When soon is done
// they take no more jobs, and when now is, they leave those that they have: the clusters
// that were not checked then have no answer. Wait says why a job has none, if it was not
// the time.
func startWorkers(soon, now context.Context, n int, o *Options, jobs <-chan *job) *workers {
	w := &workers{launch: o.Launch, peers: map[*Peer]float64{},
		again: func(ctx context.Context, r request) (*answer, error) { return work(ctx, o.Checker, r) },
		// A cluster takes about a millisecond; one on which much is to be
		// explained, a second.
		patience: patience.ForAll(15 * time.Second), patienceForOne: patience.ForAll(10 * time.Second)}
	for range n {
		w.Go(func() (failed error) {
			var peer *Peer
			defer func() { w.release(peer) }()
			for j := range jobs {
				var err error
				if soon.Err() == nil {
					peer, err = w.do(now, peer, j.request, func(a *answer) { j.answers <- a })
				}
				if now.Err() == nil {
					failed = cmp.Or(failed, err)
				}
				close(j.answers)
			}
			return failed
		})
	}
	return w
}

// do gets the answers about the clusters of a request, in order, with a new peer if the
// last one died, or was lost. If one dies, the rest is tried one by one to find out what
// of.
func (w *workers) do(ctx context.Context, peer *Peer, r request, answered func(*answer)) (*Peer, error) {
	oneByOne := false
	for r.Count > 0 {
		next, patience := r, w.patience
		if oneByOne {
			next.Count, patience = 1, w.patienceForOne
		}
		var a *answer
		var err error
		peer, a, err = w.ask(ctx, peer, next, patience)
		var died errDied
		switch {
		case errors.As(err, &died) && !oneByOne:
			oneByOne = true
			continue
		case errors.As(err, &died):
			if a, err = w.diedOf(ctx, next, died); err != nil {
				return peer, err
			}
		case err != nil:
			return peer, err
		}
		if a.Lost {
			w.release(peer)
			peer = nil
		}
		r.First, r.Count, r.Canary = r.First+uint64(a.Done), r.Count-a.Done, r.Canary && len(a.Lies) == 0
		answered(a)
	}
	return peer, nil
}

// diedOf is the answer about a cluster that a worker died of.
func (w *workers) diedOf(ctx context.Context, r request, died errDied) (*answer, error) {
	r.Canary = false
	a, err := w.again(ctx, r)
	if err == nil && !slices.ContainsFunc(a.Suspects, func(s suspect) bool { return s.Fingerprint.Property != fingerprint.Unmet }) { // whatever it was, it is not gone
		detail := "the process that ran the scheduler died: " + died.why
		if HasTimeline(r.Seed, r.First, r.Timelines, r.FeatureGates) {
			detail += ", about the cluster or the timeline of its number"
		}
		a.Suspects = append(a.Suspects, suspect{
			Number: r.First, Kind: "died", Detail: words.FirstLine(detail),
			Fingerprint: fingerprint.Fingerprint{Property: fingerprint.Failed, Kind: "worker died"},
		})
	}
	return a, err
}

func (w *workers) ask(ctx context.Context, peer *Peer, r request, patience time.Duration) (*Peer, *answer, error) {
	if peer == nil {
		var err error
		if peer, err = w.launch(); err != nil {
			return nil, nil, err
		}
		w.use(peer, 0)
	}
	a, err := peer.ask(ctx, r, patience)
	if err != nil {
		w.mu.Lock()
		if ctx.Err() == nil {
			w.died++
		}
		w.mu.Unlock()
		w.release(peer)
		return nil, nil, err
	}
	w.use(peer, a.CPUSeconds)
	return peer, a, nil
}

func (w *workers) use(peer *Peer, cpuSeconds float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers[peer] = cpuSeconds
}

// release lets a peer go; it may be nil, or dead.
func (w *workers) release(peer *Peer) {
	if peer == nil {
		return
	}
	peer.close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended += w.peers[peer]
	delete(w.peers, peer)
}

// used is how many workers died, and what all have used so far: CPU time, and
// the resident bytes of those that live.
func (w *workers) used() (died int, cpuSeconds float64, memory int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cpuSeconds = w.ended
	for p, s := range w.peers {
		cpuSeconds += s
		m, _ := p.usage()
		memory += m
	}
	return w.died, cpuSeconds, memory
}
