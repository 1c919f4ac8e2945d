package releases

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// driverTimeout is how long a driver may take to start, or to answer. A cluster of
// thousands of nodes takes it seconds.
const driverTimeout = time.Minute

// scores is in the stack of a scheduler that dies when it compares the nodes that fit,
// which is after all that a dialect predicts.
const scores = ".RunScorePlugins"

// System is the scheduler of a release as a reference.System. It observes one
// cluster at a time; several Systems, each with a process of its own, run in
// parallel (see reference.Pool).
type System struct {
	release string
	command func() *exec.Cmd
	timeout time.Duration // of an answer

	mu      sync.Mutex
	process *process // nil if none runs
}

var _ reference.System = (*System)(nil)

// New returns the scheduler of a release, which must have been built. It starts
// with the first Observe.
func New(release string) (*System, error) {
	binary, built, err := cycles.cached(release)
	if err != nil {
		return nil, err
	}
	if !built {
		return nil, fmt.Errorf("the scheduler of %s is not built: run \"preemptcheck references --build %s\"", release, release)
	}
	return &System{release: release, command: func() *exec.Cmd { return exec.Command(binary) }, timeout: driverTimeout}, nil
}

// Name implements reference.System.
func (s *System) Name() string { return s.release }

// Observe implements reference.System. What the release does not know in c, or its
// driver does not put into force, is a *reference.Refusal.
//
// If the scheduler's process dies of c, or gives no answer, it is tried again with
// a new one, as there may be other causes. If that fails too, CycleError tells of
// it, or Crash if it died of scores. The next cluster gets a new process.
func (s *System) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	if c.PreemptorGroup != "" {
		return nil, &reference.Refusal{System: s.release, What: model.GroupTitle(c.PreemptorGroup) + ": preemptor"}
	}
	if c.Preemptor == nil {
		return nil, errors.New("the cluster has no preemptor")
	}
	if refused := refusedSettings(s.release, &c.Settings); refused != "" {
		return nil, &reference.Refusal{System: s.release, What: refused}
	}
	request, err := encode(c, s.release)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var a wire.Answer
	err = s.ask(ctx, request, s.timeout, &a)
	var died *failure
	if errors.As(err, &died) {
		a = wire.Answer{}
		err = s.ask(ctx, request, s.timeout, &a)
	}
	switch {
	case errors.As(err, &died):
		o := &model.Observation{System: s.release, Filters: map[string]model.Verdict{}, PinnedBudgetOrder: true}
		if died.late || !strings.Contains(died.stderr, scores) {
			o.CycleError = "the scheduler's process died: " + died.what // dialects predict some
		} else {
			o.Crash = died.crash()
		}
		return o, nil
	case err != nil:
		return nil, err
	case a.Refused != "":
		return nil, &reference.Refusal{System: s.release, What: a.Refused}
	case a.Error != "":
		return nil, errors.New(a.Error)
	case a.Observation == nil:
		return nil, fmt.Errorf("the scheduler of %s gave an empty answer", s.release)
	}
	clearsItself(a.Observation, model.Key(c.Preemptor))
	return a.Observation, nil
}

// clearsItself takes a patch that clears the preemptor's own nomination, as the
// older plugins make, for what it does.
func clearsItself(o *model.Observation, preemptor string) {
	if a := o.Actuation; a != nil {
		if i := slices.Index(a.Cleared, preemptor); i >= 0 && a.Nomination != model.NominationSet {
			a.Cleared, a.Nomination = slices.Delete(a.Cleared, i, i+1), model.NominationCleared
		}
		if len(a.Cleared) == 0 {
			a.Cleared = nil
		}
	}
}

// ask asks the process that runs, or a new one. A failure is that of a process
// that was ready before.
func (s *System) ask(ctx context.Context, request []byte, timeout time.Duration, answer any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.process == nil {
		p, err := start(ctx, s.command(), s.release)
		if err != nil {
			if f := (*failure)(nil); errors.As(err, &f) { // no cluster did it
				err = errors.New(err.Error())
			}
			return err
		}
		s.process = p
	}
	err := s.process.ask(ctx, request, timeout, answer)
	if err != nil {
		s.process = nil
	}
	return err
}

// Close implements reference.System. A later Observe starts a new process.
func (s *System) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	p := s.process
	s.process = nil
	return p.stop()
}
