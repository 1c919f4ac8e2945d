package releases

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/patience"
	"github.com/preemptcheck/preemptcheck/reference/releases/lifewire"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// Isolated is a scheduler in a process of its own, which may die: what ends it is the
// Crash of an observation.
type Isolated struct{ System }

var (
	_ reference.FilterSystem = (*Isolated)(nil)
	_ reference.StressSystem = (*Isolated)(nil)
	_ reference.PluginSystem = (*Isolated)(nil)
)

// NewIsolated returns the scheduler with which a process serves (ServeIsolated), which
// command starts. Each needs a process of its own.
func NewIsolated(name string, command func() *exec.Cmd) *Isolated {
	return &Isolated{System{release: name, command: command, timeout: patience.ForAll(10 * time.Second)}}
}

// longest is more than any patience.
const longest = time.Hour

// perObject is how much longer an answer may take for each node and each pod, perCall for each call of a script, of which the
// process itself notices that one does not come back.
const (
	perObject = time.Millisecond
	perCall   = 2 * time.Second
)

// isolatedRequest asks for an observation, or about filters.
type isolatedRequest struct {
	request
	Filters []string                 `json:",omitempty"`
	Script  []calls.Call             `json:",omitempty"`
	Under   *reference.Circumstances `json:",omitempty"`
	// PreemptorGroup is that of the cluster.
	PreemptorGroup string `json:",omitempty"`
	// Patience is for how long the scheduler may show no progress (patience.Of).
	Patience time.Duration
	// Timeline is to be run, and nothing else asked.
	Timeline *lifewire.Timeline `json:",omitempty"`
}

type isolatedAnswer struct {
	wire.Answer
	Runs    []model.FilterRun `json:",omitempty"`
	Answers []calls.Answer    `json:",omitempty"`
	// Stuck is that a plugin does not come back.
	Stuck *model.Crash `json:",omitempty"`
	// Seen is what was seen of a cycle since the last part of the answer.
	Seen  *model.Observation `json:",omitempty"`
	Trace *lifewire.Trace    `json:",omitempty"`
	growing
	// Unsupported is that the scheduler cannot be asked about filters, under other
	// circumstances, or whole timelines.
	Unsupported bool `json:",omitempty"`

	// seen is all that was.
	seen model.Observation
}

// more implements unfinished.
func (a *isolatedAnswer) more() bool {
	if a.Seen == nil {
		return a.growing.more()
	}
	a.seen.Add(a.Seen)
	a.Seen = nil
	return true
}

// Observe implements reference.System.
func (s *Isolated) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return s.observed(s.exchange(ctx, c, isolatedRequest{}))
}

// ObserveUnder implements reference.StressSystem.
func (s *Isolated) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	return s.observed(s.exchange(ctx, c, isolatedRequest{Under: &under}))
}

// observed is what an answer says, or what was seen until the process died.
func (s *Isolated) observed(a *isolatedAnswer, err error) (*model.Observation, error) {
	if died := (*failure)(nil); errors.As(err, &died) {
		seen := a.seen.Seen()
		seen.System, seen.Crash = s.release, died.crash()
		return seen, nil
	}
	if err != nil {
		return nil, err
	}
	if a.Observation == nil {
		return nil, fmt.Errorf("the process of %s gave an empty answer", s.release)
	}
	if o := a.Observation; o.Filters == nil {
		o.Filters = map[string]model.Verdict{}
	}
	return a.Observation, nil
}

// Filters implements reference.FilterSystem.
func (s *Isolated) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	a, err := s.exchange(ctx, c, isolatedRequest{Filters: plugins})
	if err != nil {
		return err
	}
	for _, run := range a.Runs {
		report(run)
	}
	return nil
}

// Ask implements reference.PluginSystem.
func (s *Isolated) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	a, err := s.exchange(ctx, c, isolatedRequest{Script: script})
	if died := (*failure)(nil); errors.As(err, &died) {
		return nil, &reference.Standstill{Crash: died.crash()}
	}
	if err != nil {
		return nil, err
	}
	if a.Stuck != nil {
		return nil, &reference.Standstill{Crash: a.Stuck}
	}
	return a.Answers, nil
}

func (s *Isolated) exchange(ctx context.Context, c *model.Cluster, r isolatedRequest) (*isolatedAnswer, error) {
	if c.PreemptorKey() == "" {
		return nil, errors.New("the cluster has no preemptor")
	}
	r.PreemptorGroup, r.Patience = c.PreemptorGroup, patience.Of(ctx, longest)
	r.request = request{Nodes: c.Nodes, Pods: c.Pods, Budgets: c.PodDisruptionBudgets, Preemptor: c.Preemptor, Settings: c.Settings}
	for _, obj := range c.Extra {
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, fmt.Errorf("extra object: %w", err)
		}
		apiVersion, kind := kinds[0].ToAPIVersionAndKind()
		r.Extra = append(r.Extra, object{apiVersion, kind, obj})
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	a := &isolatedAnswer{}
	return a, s.answer(ctx, data, time.Duration(len(c.Nodes)+len(c.Pods))*perObject+time.Duration(len(r.Script))*perCall, a)
}

// answer sends a request, and reads the answer, which may take so much longer than usual.
func (s *Isolated) answer(ctx context.Context, data []byte, longer time.Duration, a *isolatedAnswer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ask(ctx, data, s.timeout+longer, a); err != nil {
		return err
	}
	hangs := func(c *model.Crash) bool { return c != nil && c.Kind == observation.Hang }
	if hangs(a.Stuck) || a.Observation != nil && hangs(a.Observation.Crash) || a.Trace != nil && hangs(a.Trace.Crash) { // its goroutines may go on
		s.process.kill()
		_ = s.process.stop()
		s.process = nil
	}
	switch {
	case a.Unsupported:
		return errors.ErrUnsupported
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// crash is the death of a process, as far as its last words tell.
func (f *failure) crash() *model.Crash {
	c := &model.Crash{Kind: observation.Exit, Message: f.what, Where: observation.Innermost([]byte(f.stderr)), Stack: f.stderr}
	if f.late {
		c.Kind = observation.Hang
	}
	return c
}

// ServeIsolated answers the requests of in with a scheduler, until in ends.
func ServeIsolated(ctx context.Context, system reference.System, in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	var mu sync.Mutex // what never ends may go on telling
	send := func(v any) error {
		mu.Lock()
		defer mu.Unlock()
		if err := json.NewEncoder(w).Encode(v); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := send(wire.Hello{Release: system.Name()}); err != nil {
		return err
	}
	receive := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	for {
		var r struct {
			isolatedRequest
			Extra []wire.Object
		}
		if err := receive.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		a := &isolatedAnswer{}
		telling := timeline.Telling(ctx, func(part *timeline.Trace) {
			_ = send(&isolatedAnswer{growing: growing{Part: lifewire.OfTrace(part)}}) // nobody may be there to read it
		})
		telling = observation.Telling(patience.With(telling, r.Patience), func(part *model.Observation) {
			_ = send(&isolatedAnswer{Seen: part})
		})
		if err := a.fill(telling, system, &r.isolatedRequest, r.Extra); errors.Is(err, errors.ErrUnsupported) {
			a.Unsupported = true
		} else if err != nil {
			a.Error = err.Error()
		}
		if err := send(a); err != nil {
			return err
		}
	}
}

// fill asks the scheduler.
func (a *isolatedAnswer) fill(ctx context.Context, system reference.System, r *isolatedRequest, extra []wire.Object) error {
	c := &model.Cluster{Nodes: r.Nodes, Pods: r.Pods, PodDisruptionBudgets: r.Budgets, Preemptor: r.Preemptor, PreemptorGroup: r.PreemptorGroup, Settings: r.Settings}
	for _, o := range extra {
		obj, err := decoded(o)
		if err != nil {
			return err
		}
		c.Extra = append(c.Extra, obj)
	}
	var err error
	switch {
	case r.Timeline != nil:
		life, ok := system.(reference.LifeSystem)
		if !ok {
			return errors.ErrUnsupported
		}
		trace, err := life.Live(ctx, r.Timeline.Received())
		if err == nil {
			a.Trace = lifewire.OfTrace(trace)
		}
		return err
	case r.Under != nil:
		stressed, ok := system.(reference.StressSystem)
		if !ok {
			return errors.ErrUnsupported
		}
		a.Observation, err = stressed.ObserveUnder(ctx, c, *r.Under)
		return err
	case r.Script != nil:
		plugins, ok := system.(reference.PluginSystem)
		if !ok {
			return errors.ErrUnsupported
		}
		a.Answers, err = plugins.Ask(ctx, c, r.Script)
		if stuck := (*reference.Standstill)(nil); errors.As(err, &stuck) {
			a.Stuck, err = stuck.Crash, nil
		}
		return err
	case r.Filters == nil:
		a.Observation, err = system.Observe(ctx, c)
		return err
	}
	f, ok := system.(reference.FilterSystem)
	if !ok {
		return errors.ErrUnsupported
	}
	return f.Filters(ctx, c, r.Filters, func(run model.FilterRun) { a.Runs = append(a.Runs, run) })
}

func decoded(o wire.Object) (runtime.Object, error) {
	obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		return nil, err
	}
	return obj, json.Unmarshal(o.Object, obj)
}
