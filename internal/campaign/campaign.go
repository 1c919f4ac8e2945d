package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Options say how to run a campaign, and for how long: they may change each time
// it is resumed.
type Options struct {
	// Dir keeps the state and the cases. Resume says whether a campaign is to be
	// in it already.
	Dir    string
	Resume bool
	// For is how long to run this time, Cases how many clusters to have checked in
	// the end, StopAfter how many findings are enough; 0 is no limit.
	For       time.Duration
	Cases     uint64
	StopAfter int
	// MinimiseFor is how long each finding may be made small; 0 leaves it as it was found.
	MinimiseFor time.Duration
	// Workers check clusters side by side.
	Workers int
	Launch  Launch
	// Checker checks what is minimised, and looks at all that the workers look at.
	// Its system observes as many clusters at once as there are workers.
	Checker *properties.Checker
	// Life runs the timelines that are minimised; nil if the scheduler can run none.
	Life reference.LifeSystem
	// Known, if it is not nil, is what became of the clusters from a number on, if they were checked elsewhere; nil if they were
	// not.
	Known func(ctx context.Context, from uint64) (*Answer, error)
	// Progress is called after each block, with the state as it is then.
	Progress func(*record.State)
}

// campaign is one run.
type campaign struct {
	Options
	*record.State
	ctx     context.Context
	started time.Time
	cpu     time.Duration // used by this process before
	deaths  int           // of workers in earlier runs
	saved   time.Time
	sampled time.Time
	workers *workers
	unknown error // of Known
	// until is when nothing may be minimised any more; zero if there is no end.
	until time.Time
}

// Run starts a campaign, or goes on with one, until a limit is reached or ctx is
// done. The state is that in the directory afterwards.
func Run(ctx context.Context, config record.Config, o Options) (_ *record.State, err error) {
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(o.Dir, "campaign.lock"))
	if ok, err := lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("%s: another process is running this campaign", o.Dir)
	}
	defer lock.Unlock()
	removeLeftovers(o.Dir)

	s, err := begin(config, o)
	if err != nil {
		return nil, err
	}
	c := &campaign{Options: o, State: s, ctx: ctx, started: time.Now(), cpu: cpuTime(), deaths: s.Deaths}
	c.Sessions = append(c.Sessions, record.Session{Started: c.started.UTC(), Workers: o.Workers})
	if err := c.keep(); err != nil {
		return nil, err
	}
	switch err := c.run(); {
	case err == nil:
		return c.State, c.keep()
	case ctx.Err() != nil: // in the middle of a block, which is begun again next time
		return record.Load(o.Dir)
	default:
		return nil, err
	}
}

// removeLeftovers removes what a process left that was killed while it saved the
// state. Whoever holds the lock may do so. What cannot be removed does no harm.
func removeLeftovers(dir string) {
	files, _ := fs.Glob(os.DirFS(dir), ".tmp-"+record.StateFile+"*")
	for _, file := range files {
		os.Remove(filepath.Join(dir, file))
	}
}

// begin loads the state, or makes a new one.
func begin(config record.Config, o Options) (*record.State, error) {
	s, err := record.Load(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.Resume:
		return &record.State{Config: config, Causes: record.Causes{Findings: []*record.Finding{}}}, nil
	case err != nil:
		return nil, err
	case !o.Resume:
		return nil, fmt.Errorf("%s holds a campaign already (seed %d, %s): go on with it with --resume, or choose another --out", o.Dir, s.Config.Seed, words.Plural(s.Stats.Clusters, "cluster"))
	case len(s.Parts) > 0:
		return nil, fmt.Errorf("%s was merged from other campaigns: resume those", o.Dir)
	case !s.Config.Same(config):
		return nil, fmt.Errorf("%s holds another campaign:\nthere: %+v\nhere:  %+v", o.Dir, s.Config, config)
	}
	return s, nil
}

// job is a block of clusters on its way through a worker.
type job struct {
	request
	from uint64 // in the numbers of the shard
	// answers are about all of its clusters, in order, if there is time.
	answers chan *answer
}

// run checks blocks until a limit is reached. Workers take them in any order;
// they are counted in theirs.
func (c *campaign) run() error {
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	if c.For > 0 {
		c.until = c.started.Add(c.For + grace)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	now, leave := context.WithCancel(c.ctx)
	defer leave()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, leave) })()
	inOrder := make(chan *job, 4*c.Workers)
	c.workers = startWorkers(ctx, now, c.Workers, &c.Options, c.jobs(ctx, inOrder))
	err := c.countAll(inOrder)
	stop()
	for range inOrder { // until nobody makes blocks any more
	}
	return cmp.Or(err, c.workers.Wait(), c.unknown)
}

// countAll counts blocks until a limit is reached, the context is done, or one has
// no answer.
func (c *campaign) countAll(inOrder <-chan *job) error {
	for j := range inOrder {
		for a := range j.answers {
			if c.ctx.Err() != nil {
				return nil
			}
			if err := c.count(j, a); err != nil {
				return err
			}
			if c.StopAfter > 0 && len(c.Findings) >= c.StopAfter {
				return nil
			}
		}
		if c.Next < j.from+uint64(j.Count) {
			return nil // the time was up
		}
	}
	return nil
}

// jobs makes the blocks that are left, and offers each to the workers.
func (c *campaign) jobs(ctx context.Context, inOrder chan<- *job) <-chan *job {
	todo := make(chan *job)
	next, config := c.Next, c.Config
	go func() {
		defer close(inOrder)
		defer close(todo)
		for c.Cases == 0 || next < c.Cases {
			j := block(config, next, c.Cases)
			known := false
			if c.Known != nil {
				a, err := c.Known(ctx, next)
				if err != nil {
					if ctx.Err() == nil {
						c.unknown = err
					}
					return
				}
				if known = a != nil; known {
					j.Count, j.answers = a.Done, make(chan *answer, 1)
					j.answers <- a
					close(j.answers)
				}
			}
			to := next + uint64(j.Count)
			select {
			case inOrder <- j:
			case <-ctx.Done():
				return
			}
			if known {
				next = to
				continue
			}
			select {
			case todo <- j:
			case <-ctx.Done():
				close(j.answers)
				return
			}
			next = to
		}
	}()
	return todo
}

// block is the block from a number of the shard on, which ends before end if that is not 0.
func block(config record.Config, next, end uint64) *job {
	to := next - next%record.BlockSize + record.BlockSize
	if end > 0 {
		to = min(to, end)
	}
	return &job{from: next, answers: make(chan *answer, to-next), request: request{
		Seed: config.Seed, First: config.Shard.Number(next), Count: int(to - next), Timelines: config.Timelines, FeatureGates: config.FeatureGates, Configuration: config.Configuration,
		Canary: next%record.BlockSize == 0 && next/record.BlockSize%record.CanaryEvery == 0,
	}}
}

// count adds what became of a block to the state. Only after that may it be
// kept: an interrupted block is checked again.
func (c *campaign) count(j *job, a *answer) error {
	if len(a.Suspects) > 0 || len(a.Lies) > 0 {
		// Should minimising be interrupted, the block is begun again from here.
		if err := c.keep(); err != nil {
			return err
		}
	}
	for i := range a.Suspects {
		a.Suspects[i].nth = int(j.from+a.Suspects[i].Number-j.First) + 1
		if err := c.deduplicate(&c.Causes, c.Checker, &a.Suspects[i]); err != nil {
			return err
		}
	}
	for i := range a.Lies {
		c.Canary.Lies++
		if a.Lies[i].Fingerprint.Property != "" {
			c.Canary.Caught++
			if err := c.deduplicate(&c.Canary.Causes, lying(c.Checker), &a.Lies[i]); err != nil {
				return err
			}
		}
	}
	c.Canary.Lives.Add(a.Lives)
	c.Stats.Merge(a.Stats)
	c.Errors += a.Errors
	c.Next += uint64(a.Done)
	c.session().Clusters += a.Done
	c.look()
	if c.Progress != nil {
		c.Progress(c.State)
	}
	const keepEvery = 2 * time.Second
	if c.unsaved() || time.Since(c.saved) > keepEvery {
		return c.keep()
	}
	return nil
}

func (c *campaign) session() *record.Session { return &c.Sessions[len(c.Sessions)-1] }

// clock brings the time that the campaign has run up to date.
func (c *campaign) clock() { c.session().Seconds = time.Since(c.started).Seconds() }

// look brings the session up to date, and now and then takes a sample.
func (c *campaign) look() {
	s := c.session()
	c.clock()
	died, cpuSeconds, memory := c.workers.used()
	s.CPUSeconds = (cpuTime() - c.cpu).Seconds() + cpuSeconds
	c.Deaths = c.deaths + died
	const first, every = 10 * time.Second, time.Minute
	due := c.sampled.Add(every)
	if c.sampled.IsZero() {
		due = c.started.Add(first)
	}
	if now := time.Now(); now.After(due) {
		c.sampled = now
		own, _ := usage(os.Getpid())
		c.sample(memory + own)
	}
}

// maxSamples bounds how much is kept of a long campaign: of more, every second is
// dropped.
const maxSamples = 200

func (c *campaign) sample(memory int64) {
	now := record.Sample{Seconds: c.Seconds(), Memory: memory}
	for _, s := range c.Sessions {
		now.Clusters += s.Clusters
		now.CPUSeconds += s.CPUSeconds
	}
	since := record.Sample{}
	if len(c.Samples) > 0 {
		since = c.Samples[len(c.Samples)-1]
	}
	now.PerSecond = float64(now.Clusters-since.Clusters) / (now.Seconds - since.Seconds)
	if cpu := now.CPUSeconds - since.CPUSeconds; cpu > 0 {
		now.PerCPUSecond = float64(now.Clusters-since.Clusters) / cpu
	}
	c.Samples = append(c.Samples, now)
	if len(c.Samples) > maxSamples {
		last, i := len(c.Samples)-1, -1
		c.Samples = slices.DeleteFunc(c.Samples, func(record.Sample) bool { i++; return i%2 != 0 && i != last })
	}
}

// unsaved tells whether there is a finding without a file.
func (c *campaign) unsaved() bool {
	return slices.ContainsFunc(c.Findings, func(f *record.Finding) bool { return f.File == "" })
}

// keep saves the state, and then the cases that are in it but not in files yet:
// if it ends in between, they are there next time.
func (c *campaign) keep() error {
	if err := c.State.Save(c.Dir); err != nil {
		return err
	}
	if c.unsaved() {
		if err := record.SaveCases(c.Dir, c.Findings); err != nil {
			return err
		}
		if err := c.State.Save(c.Dir); err != nil {
			return err
		}
	}
	c.saved = time.Now()
	return nil
}
