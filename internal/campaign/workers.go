package campaign

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// workers are the peers of a campaign.
type workers struct {
	launch Launch
	errgroup.Group
	// patience is how long to wait for an answer about a block, and about one
	// cluster.
	patience, patienceForOne time.Duration

	mu    sync.Mutex
	peers map[*Peer]float64 // CPU seconds so far
	ended float64           // CPU seconds of peers that are gone
	died  int
}

// startWorkers lets n workers do the jobs, until there are no more. ctx is only
// asked before a job: those taken are finished. Wait says why a job has no answer,
// if it was not the time.
func startWorkers(ctx context.Context, n int, launch Launch, jobs <-chan *job) *workers {
	w := &workers{launch: launch, peers: map[*Peer]float64{},
		// A cluster takes about a millisecond; one on which much is to be
		// explained, a second.
		patience: 5 * time.Minute, patienceForOne: time.Minute}
	for range n {
		w.Go(func() (failed error) {
			var peer *Peer
			defer func() { w.release(peer) }()
			for j := range jobs {
				var a *answer
				var err error
				if ctx.Err() == nil {
					peer, a, err = w.do(peer, j.request)
				}
				failed = cmp.Or(failed, err)
				if a != nil {
					j.answer <- a
				}
				close(j.answer)
			}
			return failed
		})
	}
	return w
}

// do gets an answer, with a new peer if the last one died. If one dies of the
// request, its clusters are tried one by one to find out which it was.
func (w *workers) do(peer *Peer, r request) (*Peer, *answer, error) {
	peer, a, err := w.ask(peer, r, w.patience)
	if !errors.As(err, new(errDied)) {
		return peer, a, err
	}
	whole := &answer{}
	for i := range uint64(r.Count) {
		one := request{Seed: r.Seed, First: r.First + i, Count: 1}
		peer, a, err = w.ask(peer, one, w.patienceForOne)
		var died errDied
		switch {
		case errors.As(err, &died):
			whole.Errors++
			whole.Stats.Reject(err)
			detail := "the process that ran the scheduler died: " + died.why
			whole.Suspects = append(whole.Suspects, suspect{
				Number: one.First, Kind: "died", Detail: words.FirstLine(detail), Fatal: true,
				Fingerprint: fingerprint.Fingerprint{Property: fingerprint.Failed, Kind: "worker died"},
			})
		case err != nil:
			return peer, nil, err
		default:
			whole.Stats.Merge(a.Stats)
			whole.Errors += a.Errors
			whole.Suspects = append(whole.Suspects, a.Suspects...)
		}
	}
	return peer, whole, nil
}

func (w *workers) ask(peer *Peer, r request, patience time.Duration) (*Peer, *answer, error) {
	if peer == nil {
		var err error
		if peer, err = w.launch(); err != nil {
			return nil, nil, err
		}
		w.use(peer, 0)
	}
	a, err := peer.ask(r, patience)
	if err != nil {
		w.mu.Lock()
		w.died++
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
		memory += p.memory()
	}
	return w.died, cpuSeconds, memory
}
