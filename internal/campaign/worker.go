package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Clusters are checked by worker processes: feature gates are global to a
// process, and a scheduler that panics in a goroutine of its own takes its process
// with it. A request and its answer are a line of JSON each; as clusters are
// generated from their numbers, only numbers travel.

// request asks a worker for some clusters.
type request struct {
	Seed  uint64 `json:"seed"`
	First uint64 `json:"first"`
	Count int    `json:"count"`
	// Timelines is Config.Timelines.
	Timelines int `json:"timelines,omitempty"`
	// FeatureGates is Config.FeatureGates.
	FeatureGates record.Gates `json:"featureGates,omitempty"`
	// Configuration is Config.Configuration.
	Configuration string `json:"configuration,omitempty"`
	// Canary asks it to lie once, and to find that out.
	Canary bool `json:"canary,omitempty"`
}

// answer is what became of them.
type answer struct {
	Stats    probe.Stats `json:"stats"`
	Errors   int         `json:"errors,omitempty"`
	Suspects []suspect   `json:"suspects,omitempty"`
	// Done is how many clusters of the request, from the first on, it is about. It
	// ends after one in which the scheduler came to a standstill: what that left
	// behind slows the worker down, which is Lost.
	Done int  `json:"done"`
	Lost bool `json:"lost,omitempty"`
	// Lies is the lie of the canary, if one was asked for and a cluster of the
	// request was fit for it. Of several requests, they are all lies.
	Lies []suspect `json:"sung,omitempty"`
	// Lives are the lies of the canary about timelines.
	Lives record.Lies `json:"lives,omitzero"`
	// CPUSeconds is what the worker has used so far.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// suspect is a cluster with a finding that is not known.
type suspect struct {
	Number uint64 `json:"number"`
	// Timeline: it is not the cluster, but the timeline of that number.
	Timeline bool `json:"timeline,omitempty"`
	// Fingerprint is of the first such finding. The zero value is a lie that was
	// not noticed.
	Fingerprint fingerprint.Fingerprint `json:"fingerprint"`
	// Kind is fingerprint.Presort.
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	// Stack is that of the finding.
	Stack []string `json:"stack,omitempty"`

	nth int // of all clusters of the campaign, it was that one
}

// Generate is cluster number n of a seed. Different seeds share no clusters but
// by accident. The scheduler has the given feature gates in all of them, and the configuration,
// if it is not "".
func Generate(seed, n uint64, gates record.Gates, configuration string) *model.Cluster {
	c := ofCorpus(seed, n, gates)
	if c == nil {
		c = generators.OfAnyPreemptor(rand.NewPCG(seed, n).Uint64(), gates.Map())
	}
	generators.Configure(c, json.RawMessage(configuration))
	if Adorn != nil {
		Adorn(c, rand.NewPCG(seed, n).Uint64())
	}
	return c
}

// Adorn, if it is not nil, adds to each generated cluster what plugins from outside look at. It is to be set before any
// is generated, and does the same for the same seed.
var Adorn func(c *model.Cluster, seed uint64)

// Work answers requests until there are no more.
func Work(ctx context.Context, checker *properties.Checker, in io.Reader, out io.Writer) error {
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := work(ctx, checker, r)
		if err != nil {
			return err
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func work(ctx context.Context, checker *properties.Checker, req request) (*answer, error) {
	a := &answer{}
	life, _ := checker.System.(reference.LifeSystem)
	watched := *checker
	system := &watch{System: checker.System}
	watched.System, checker = system, &watched
	for a.Done < req.Count && !a.Lost {
		n := req.First + uint64(a.Done)
		cluster := Generate(req.Seed, n, req.FeatureGates, req.Configuration)
		r, err := asking(checker, req, n).Check(ctx, cluster)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			a.Errors++
			a.Stats.Reject(err)
			f := properties.Finding{Property: fingerprint.Failed, Detail: err.Error()}
			a.Suspects = append(a.Suspects, newSuspect(n, nil, &f))
			a.Done++
			continue
		}
		a.Stats.Add(r)
		a.Stats.Example(r, n)
		if all := r.Unexplained(); len(all) > 0 {
			a.Suspects = append(a.Suspects, newSuspect(n, r, &all[0]))
		} else {
			a.compare(checker, req, n, r)
		}
		if req.Canary && len(a.Lies) == 0 && fitForCanary(checker.Outside, r) {
			lie, err := checkLie(ctx, checker, cluster, n)
			if err != nil {
				return nil, err
			}
			a.Lies = append(a.Lies, lie)
		}
		if err := a.live(ctx, checker, life, req, n); err != nil {
			return nil, err
		}
		a.Done++
		a.Lost = a.Lost || system.lost
	}
	a.CPUSeconds = cpuTime().Seconds()
	return a, nil
}

// asking is the checker for a cluster by its number: a case of the corpus is asked for all that its look is for.
func asking(checker *properties.Checker, req request, n uint64) *properties.Checker {
	c, look := asIs(req.Seed, n, "cases/", req.FeatureGates)
	if c == nil || checker.Looks == nil {
		return checker
	}
	thorough := *checker
	thorough.Sample = checker.Looks[asFor(look)]
	return &thorough
}

// watch is a system of which it is known whether it came to a standstill.
type watch struct {
	reference.System
	lost bool
}

var (
	_ reference.FilterSystem = (*watch)(nil)
	_ reference.StressSystem = (*watch)(nil)
	_ reference.PluginSystem = (*watch)(nil)
)

func (w *watch) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return w.watched(w.System.Observe(ctx, c))
}

func (w *watch) watched(o *model.Observation, err error) (*model.Observation, error) {
	w.lost = w.lost || o != nil && o.Crash != nil && o.Crash.Kind == observation.Hang
	return o, err
}

// ObserveUnder implements reference.StressSystem.
func (w *watch) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	if s, ok := w.System.(reference.StressSystem); ok {
		return w.watched(s.ObserveUnder(ctx, c, under))
	}
	return nil, errors.ErrUnsupported
}

// Ask implements reference.PluginSystem.
func (w *watch) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	s, ok := w.System.(reference.PluginSystem)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	answers, err := s.Ask(ctx, c, script)
	w.lost = w.lost || errors.As(err, new(*reference.Standstill))
	return answers, err
}

// Filters implements reference.FilterSystem.
func (w *watch) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	if f, ok := w.System.(reference.FilterSystem); ok {
		return f.Filters(ctx, c, plugins, report)
	}
	return errors.ErrUnsupported
}

func newSuspect(n uint64, r *properties.Result, f *properties.Finding) suspect {
	return suspect{Number: n, Fingerprint: fingerprint.OfFinding(f), Kind: fingerprint.Presort(r, f), Detail: words.FirstLine(f.String()), Stack: f.Stack}
}

// A Peer is a worker to talk to.
type Peer struct {
	in  io.WriteCloser
	out *json.Decoder
	// kill ends the worker at once. wait waits for its end and says why it died.
	kill func()
	wait func() error
	// usage is its resident bytes and its CPU time so far.
	usage func() (memory int64, cpu time.Duration)
	// waited is for how long it could have run and got no processor so far.
	waited func() time.Duration
}

// Launch starts a worker.
type Launch func() (*Peer, error)

// errDied is the error of a worker that ended, or had to be ended.
type errDied struct{ why string }

func (e errDied) Error() string { return e.why }

// ask sends a request and waits for the answer, until ctx is done, and with patience
// for the CPU time that it may take. A worker that could have run for as long, and did next
// to nothing, is stuck; one that waits for a processor is not.
func (p *Peer) ask(ctx context.Context, r request, patience time.Duration) (*answer, error) {
	defer context.AfterFunc(ctx, p.kill)()
	answered, stuck := make(chan struct{}), make(chan string)
	go func() { stuck <- p.isStuck(patience, answered) }()
	a, err := p.exchange(r)
	close(answered)
	late := <-stuck
	if late != "" && err == nil {
		err = errors.New("too late") // it was killed after all
	}
	if err == nil {
		return a, nil
	}
	p.kill()
	why := p.wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if late != "" {
		return nil, errDied{late}
	}
	return nil, errDied{fmt.Sprint(why)}
}

// isStuck kills the worker, and says why, if its patience is at an end before answered is
// closed; "" if it is not.
func (p *Peer) isStuck(patience time.Duration, answered <-chan struct{}) (why string) {
	start := time.Now()
	_, before := p.usage()
	waitedBefore := p.waited()
	for next := patience; ; {
		select {
		case <-answered:
			return ""
		case <-time.After(next):
		}
		_, now := p.usage()
		used := now - before
		waited := max(p.waited()-waitedBefore, 0) // what threads that are gone had waited is missing
		switch {
		case used >= patience:
			why = fmt.Sprintf("no answer after %s of CPU time", patience)
		case used < (time.Since(start)-waited)/50:
			why = fmt.Sprintf("no answer for %s, and next to nothing done", patience)
		}
		if why != "" {
			p.kill()
			return why
		}
		next = max(patience-used, time.Millisecond)
	}
}

func (p *Peer) exchange(r request) (*answer, error) {
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		return nil, err
	}
	a := &answer{}
	return a, p.out.Decode(a)
}

// close lets the worker end, soon.
func (p *Peer) close() {
	defer time.AfterFunc(time.Second, p.kill).Stop()
	p.in.Close()
	p.wait()
}
