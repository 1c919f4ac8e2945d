package campaign

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// workers are the peers of a campaign.
type workers struct {
	launch Launch
	group  sync.WaitGroup
	// patience is how long to wait for an answer about a block, and about one
	// cluster.
	patience, patienceForOne time.Duration

	mu     sync.Mutex
	peers  map[*Peer]float64 // CPU seconds so far
	ended  float64           // CPU seconds of peers that are gone
	died   int
	failed error
}

// startWorkers lets n workers do the jobs, until there are no more. ctx is only
// asked before a job: those taken are finished.
func startWorkers(ctx context.Context, n int, launch Launch, jobs <-chan *job) *workers {
	w := &workers{launch: launch, peers: map[*Peer]float64{},
		// A cluster takes about a millisecond; one on which much is to be
		// explained, a second.
		patience: 5 * time.Minute, patienceForOne: time.Minute}
	for range n {
		w.group.Go(func() {
			var peer *Peer
			defer func() { w.release(peer) }()
			for j := range jobs {
				var a *answer
				var err error
				if ctx.Err() == nil {
					peer, a, err = w.do(peer, j.request)
				}
				if err != nil {
					w.fail(err)
				}
				if a != nil {
					j.answer <- a
				}
				close(j.answer)
			}
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

func (w *workers) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = errors.Join(w.failed, err)
}

// err is why a job has no answer, if it was not the time.
func (w *workers) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *workers) deaths() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.died
}

func (w *workers) cpuSeconds() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := w.ended
	for _, s := range w.peers {
		total += s
	}
	return total
}

func (w *workers) memory() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := int64(0)
	for p := range w.peers {
		total += p.memory()
	}
	return total
}

func (w *workers) wait() { w.group.Wait() }
