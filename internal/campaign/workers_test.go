package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// inProcess launches workers that are goroutines. Each makes its own checker.
func inProcess(checker func() (*properties.Checker, error)) Launch {
	return func() (*Peer, error) {
		c, err := checker()
		if err != nil {
			return nil, err
		}
		ctx, kill := context.WithCancel(context.Background())
		requests, in := io.Pipe()
		out, answers := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := Work(ctx, c, requests, answers)
			c.System.Close()
			requests.CloseWithError(io.ErrClosedPipe)
			answers.CloseWithError(io.EOF)
			done <- err
		}()
		return &Peer{in: in, out: json.NewDecoder(out), kill: kill, wait: sync.OnceValue(func() error { return <-done }), usage: func() (int64, time.Duration) { return 0, 0 }, waited: func() time.Duration { return 0 }}, nil
	}
}

// acting launches workers that do what act says with each request: it returns
// nil to die of it.
func acting(act func(request) *answer) Launch {
	return func() (*Peer, error) {
		requests, in := io.Pipe()
		out, answers := io.Pipe()
		go func() {
			decode, encode := json.NewDecoder(requests), json.NewEncoder(answers)
			for {
				var r request
				if decode.Decode(&r) != nil {
					break
				}
				a := act(r)
				if a == nil {
					break
				}
				if a.Done == 0 {
					a.Done = r.Count
				}
				encode.Encode(a)
			}
			requests.Close()
			answers.Close()
		}()
		return &Peer{
			in: in, out: json.NewDecoder(out),
			kill:  func() { out.Close() },
			wait:  sync.OnceValue(func() error { return errors.New("panic: at the disco") }),
			usage: func() (int64, time.Duration) { return 0, 0 }, waited: func() time.Duration { return 0 },
		}, nil
	}
}

func holds(r request, n uint64) bool { return r.First <= n && n < r.First+uint64(r.Count) }

// A cluster that a worker dies of takes no other cluster with it, and is found, also if
// nothing is found when it is checked again.
func TestWorkerDies(t *testing.T) {
	died := 0
	o := options(t, t.TempDir(), honest)
	o.Cases, o.Workers = 2*record.BlockSize, 1
	o.Launch = acting(func(r request) *answer {
		if holds(r, 70) {
			died++
			return nil
		}
		a := &answer{CPUSeconds: 1}
		a.Stats.Clusters = r.Count
		return a
	})
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck"}, o)
	require.Equal(t, 2, died)
	require.Equal(t, 2, s.Deaths)
	require.Equal(t, 2*record.BlockSize, s.Stats.Clusters)
	require.Equal(t, uint64(2*record.BlockSize), s.Next)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Equal(t, uint64(70), f.Number)
	require.Contains(t, f.Detail, "the process that ran the scheduler died: panic: at the disco")
	require.Equal(t, "it did not occur again", f.Minimised.Why)
	require.NotEmpty(t, f.File)
}

// That a worker died is not forgotten where the case, looked at again, is not as it says.
func TestWorkerDiesOfUnmetCase(t *testing.T) {
	w := &workers{again: func(context.Context, request) (*answer, error) {
		a := &answer{Done: 1}
		a.unmet(suspect{}, &corpus.Case{Name: "c"}, []string{"it is otherwise"})
		return a, nil
	}}
	a, err := w.diedOf(t.Context(), request{Count: 1}, errDied{"exit status 2"})
	require.NoError(t, err)
	require.Len(t, a.Suspects, 2)
	require.Equal(t, fingerprint.Failed, a.Suspects[1].Fingerprint.Property)
}

func TestWorkerIsStuck(t *testing.T) {
	w := &workers{peers: map[*Peer]float64{}, patience: 10 * time.Millisecond, patienceForOne: 10 * time.Millisecond}
	w.again = func(context.Context, request) (*answer, error) { return &answer{Done: 1}, nil }
	forEver := make(chan struct{})
	defer close(forEver)
	w.launch = acting(func(r request) *answer {
		if holds(r, 2) {
			<-forEver
		}
		return &answer{}
	})
	var suspects []suspect
	done := 0
	peer, err := w.do(t.Context(), nil, request{First: 0, Count: 4}, func(a *answer) {
		done += a.Done
		suspects = append(suspects, a.Suspects...)
	})
	require.NoError(t, err)
	w.release(peer)
	require.Equal(t, 4, done)
	require.Len(t, suspects, 1)
	require.Equal(t, uint64(2), suspects[0].Number)
	require.Contains(t, suspects[0].Detail, "no answer for 10ms")
}

// A worker that gets no processor is waited for, where one that could run and does nothing is stuck. What threads that are gone had waited is
// missing in the end, and is not held against one that works.
func TestWorkerIsStarved(t *testing.T) {
	const patience = 10 * time.Millisecond
	late := acting(func(request) *answer {
		time.Sleep(10 * patience)
		return &answer{Done: 1}
	})
	for name, test := range map[string]struct {
		waited func(since time.Duration) time.Duration
		works  bool // for a twentieth of the time
		busy   bool // all the time
		gives  string
	}{
		"starved":                     {waited: func(since time.Duration) time.Duration { return 2 * since }}, // of two threads
		"idle":                        {waited: func(time.Duration) time.Duration { return 0 }, gives: "no answer for 10ms, and next to nothing done"},
		"works for ever":              {waited: func(time.Duration) time.Duration { return 0 }, busy: true, gives: "no answer after 10ms of CPU time"},
		"works, and threads are gone": {waited: func(since time.Duration) time.Duration { return time.Hour - 10000*since }, works: true},
	} {
		t.Run(name, func(t *testing.T) {
			peer, err := late()
			require.NoError(t, err)
			start := time.Now()
			peer.waited = func() time.Duration { return test.waited(time.Since(start)) }
			if test.works {
				peer.usage = func() (int64, time.Duration) { return 0, time.Since(start) / 20 }
			}
			if test.busy {
				peer.usage = func() (int64, time.Duration) { return 0, time.Since(start) }
			}
			_, err = peer.ask(t.Context(), request{Count: 1}, patience)
			if test.gives != "" {
				require.EqualError(t, err, test.gives)
				return
			}
			require.NoError(t, err)
			peer.close()
		})
	}
}

// Any process has waited for a processor, if only to begin. It is known where the system tells of it.
func TestWaited(t *testing.T) {
	_, err := os.Stat("/proc/self/schedstat")
	require.Equal(t, err == nil, waited(os.Getpid()) > 0)
}

// standstill is a scheduler that comes to one over every cluster.
type standstill struct{ reference.System }

func (s standstill) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	return &model.Observation{Filters: map[string]model.Verdict{}, Crash: &model.Crash{Kind: observation.Hang, Where: "plugin.Filter (plugin.go:1)"}}, nil
}

// A worker in which the scheduler came to a standstill is replaced at once, and what it
// found until then is told.
func TestWorkerIsLost(t *testing.T) {
	o := options(t, t.TempDir(), func(s reference.System) reference.System { return standstill{s} })
	o.Cases, o.Workers = 10, 1
	launched, launch := 0, o.Launch
	o.Launch = func() (*Peer, error) {
		launched++
		return launch()
	}
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck"}, o)
	require.Equal(t, 10, launched)
	require.Zero(t, s.Deaths)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Equal(t, 10, f.Count)
	require.Equal(t, properties.GetsThrough().Name, f.Identity.Property)
	require.Equal(t, "hang in plugin.Filter", f.Identity.Kind)
	require.True(t, f.Minimised.Minimal)
}

// Whatever a worker does, the campaign ends soon after its time, with what was checked
// until then; and at once when it is interrupted.
func TestTimeIsKept(t *testing.T) {
	forEver := make(chan struct{})
	defer close(forEver)
	stuck := acting(func(r request) *answer {
		if r.First > 100 {
			<-forEver
		}
		return &answer{Done: min(50, r.Count)}
	})
	o := options(t, t.TempDir(), honest)
	o.Launch, o.Workers, o.For = stuck, 2, time.Second
	start := time.Now()
	s := run(t, record.Config{Seed: 1}, o)
	require.Less(t, time.Since(start), o.For+grace+2*time.Second)
	require.Equal(t, uint64(114), s.Next, "a part of the block counts")
	require.Zero(t, s.Deaths)

	o = options(t, t.TempDir(), honest)
	o.Launch, o.Workers = stuck, 2
	ctx, interrupt := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer interrupt()
	start = time.Now()
	_, err := Run(ctx, record.Config{Seed: 1}, o)
	require.NoError(t, err)
	require.Less(t, time.Since(start), 2*time.Second)
}

func TestWorkersCannotStart(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Launch = func() (*Peer, error) { return nil, errors.New("no such program") }
	_, err := Run(t.Context(), record.Config{Seed: 1}, o)
	require.ErrorContains(t, err, "no such program")
}

// Lies that are not noticed are told from those that are.
// Findings of other properties do not keep the canary from lying: some are found in
// nearly every cluster.
func TestFitForCanary(t *testing.T) {
	r := &properties.Result{Cluster: &model.Cluster{}, Observation: &model.Observation{Pick: &model.Pick{}}}
	require.True(t, fitForCanary(nil, r))
	r.Findings = []properties.Finding{{Property: "another"}}
	require.True(t, fitForCanary(nil, r))
	r.Findings = append(r.Findings, properties.Finding{Property: properties.Differential})
	require.False(t, fitForCanary(nil, r))
}

func TestCanaryNotNoticed(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Cases = 1
	o.Launch = acting(func(r request) *answer {
		require.True(t, r.Canary)
		return &answer{Lies: []suspect{{Kind: "not noticed"}}}
	})
	s := run(t, record.Config{Seed: 1}, o)
	require.Equal(t, record.Canary{Lies: 1}, s.Canary)
}

// However many kinds of suspects there are, the state does not grow for ever, and
// few of them are minimised.
func TestKindsAreBounded(t *testing.T) {
	c := &campaign{Options: options(t, t.TempDir(), honest), State: &record.State{Sessions: []record.Session{{}}}, ctx: t.Context(), started: time.Now()}
	c.until = c.started // nothing is minimised
	for i := range 3 * maxKinds {
		s := suspect{Kind: fmt.Sprint("kind ", i)}
		s.Fingerprint.Property = "some property"
		require.NoError(t, c.deduplicate(&c.Causes, c.Checker, &s))
	}
	require.Len(t, c.Kinds, maxKinds+1)
	require.Len(t, c.Findings, 1)
	require.Equal(t, 3*maxKinds, c.Findings[0].Count)
	minimised := 0
	for _, k := range c.Kinds {
		minimised += k.Minimised
	}
	require.Less(t, minimised, 3*record.MaxRepeats)
}

// Cases of the corpus are asked for all that other clusters are asked for now and then, at the second look.
func TestCasesAreAskedForAll(t *testing.T) {
	system := inprocess.New()
	defer system.Close()
	var asked [2]int
	asks := func(look int) func(*model.Cluster) []properties.Property {
		return func(*model.Cluster) []properties.Property {
			asked[look]++
			return nil
		}
	}
	checker := &properties.Checker{System: system, Looks: &[2]func(*model.Cluster) []properties.Property{asks(firstLook), asks(lastLook)}}
	const count = 30
	for look, first := range []uint64{firstLook: firstAsIs - 10, lastLook: lastLooks() - 10} {
		_, err := work(t.Context(), checker, request{Seed: 1, First: first, Count: count})
		require.NoError(t, err)
		want := 0
		for n := first; n < first+count; n++ {
			if c, is := asIs(1, n, "cases/", ""); c != nil && asFor(is) == look && c.Cluster.Preemptor != nil { // groups are asked for all in any case
				want++
			}
		}
		require.Equal(t, want, asked[look])
		require.Positive(t, want)
	}
}

// What a worker watches can still be asked about API calls that fail.
func TestWorkersAskUnderFaults(t *testing.T) {
	faults := 0
	asks := properties.Property{Name: "asks", Check: func(s *properties.Subject) ([]properties.Finding, error) {
		all, err := s.Faulted()
		faults += len(all)
		return nil, err
	}}
	system := inprocess.New()
	defer system.Close()
	_, err := work(t.Context(), &properties.Checker{System: system, Properties: []properties.Property{asks}}, request{Seed: 1, Count: 10})
	require.NoError(t, err)
	require.Positive(t, faults)
}
