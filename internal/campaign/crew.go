package campaign

import (
	"context"
	"errors"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
)

// Answer is what became of a range of clusters.
type Answer = answer

// add counts what became of the clusters after those of a, too.
func (a *answer) add(other *answer) {
	a.Stats.Merge(other.Stats)
	a.Errors += other.Errors
	a.Suspects = append(a.Suspects, other.Suspects...)
	a.Lies = append(a.Lies, other.Lies...)
	a.Lives.Add(other.Lives)
	a.Done += other.Done
}

// Suspicions call each with every suspect of an answer: what its property finds, in words, which cluster it is, and whether it goes to the
// Kubernetes security contact before it is published.
func (a *answer) Suspicions(each func(kind, detail string, number uint64, toContact bool)) {
	for _, s := range a.Suspects {
		each(s.Kind, s.Detail, s.Number, fingerprint.GoesToContact(s.Fingerprint, s.Detail))
	}
}

// Crew are workers that check one range of clusters after the other.
type Crew struct {
	config  record.Config
	workers *workers
	todo    chan *job
	leave   context.CancelFunc
	before  time.Duration // CPU time of this process
}

// NewCrew starts workers for clusters of a campaign. Of the options, Workers, Launch and Checker count.
func NewCrew(ctx context.Context, config record.Config, o *Options) *Crew {
	ctx, leave := context.WithCancel(ctx)
	c := &Crew{config: config, todo: make(chan *job), leave: leave, before: cpuTime()}
	c.workers = startWorkers(ctx, ctx, o.Workers, o, c.todo)
	return c
}

// Close lets the workers end.
func (c *Crew) Close() error {
	close(c.todo)
	defer c.leave()
	return c.workers.Wait()
}

// Used is how many workers died, how much CPU time all have used and this process besides, and the resident bytes of those that live.
func (c *Crew) Used() (died int, cpuSeconds float64, memory int64) {
	died, cpuSeconds, memory = c.workers.used()
	return died, cpuSeconds + (cpuTime() - c.before).Seconds(), memory
}

// Check checks the clusters of the numbers from first on, up to but without end. It begins and ends with whole blocks of record.BlockSize. After
// an error the crew is of no use but to be closed.
func (c *Crew) Check(ctx context.Context, first, end uint64) (*Answer, error) {
	jobs := make(chan *job, (end-first)/record.BlockSize+1)
	go func() {
		defer close(jobs)
		for next := first; next < end; {
			j := block(c.config, next, end)
			select {
			case c.todo <- j:
			case <-ctx.Done():
				return
			}
			jobs <- j
			next += uint64(j.Count)
		}
	}()
	all := &answer{}
	var failed error
	for j := range jobs {
		done := 0
		for a := range j.answers {
			all.add(a)
			done += a.Done
		}
		if done < j.Count && failed == nil {
			failed = errIncomplete
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed != nil {
		return nil, failed
	}
	return all, nil
}

var errIncomplete = errors.New("a worker could not check all of a block")
