package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/properties"
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
		return &Peer{in: in, out: json.NewDecoder(out), kill: kill, wait: sync.OnceValue(func() error { return <-done }), memory: func() int64 { return 0 }}, nil
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
				encode.Encode(a)
			}
			requests.Close()
			answers.Close()
		}()
		return &Peer{
			in: in, out: json.NewDecoder(out),
			kill:   func() { out.Close() },
			wait:   sync.OnceValue(func() error { return errors.New("panic: at the disco") }),
			memory: func() int64 { return 0 },
		}, nil
	}
}

func holds(r request, n uint64) bool { return r.First <= n && n < r.First+uint64(r.Count) }

// A cluster that a worker dies of takes no other cluster with it, and is found.
func TestWorkerDies(t *testing.T) {
	died := 0
	o := options(t, t.TempDir(), honest)
	o.Cases, o.Workers = 2*blockSize, 1
	o.Launch = acting(func(r request) *answer {
		if holds(r, 70) {
			died++
			return nil
		}
		a := &answer{CPUSeconds: 1}
		a.Stats.Clusters = r.Count
		return a
	})
	s := run(t, Config{Seed: 1, Command: "preemptcheck"}, o)
	require.Equal(t, 2, died)
	require.Equal(t, 2, s.Deaths)
	require.Equal(t, 1, s.Errors)
	require.Equal(t, 2*blockSize-1, s.Stats.Clusters)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Equal(t, uint64(70), f.Number)
	require.Contains(t, f.Detail, "the process that ran the scheduler died: panic: at the disco")
	require.Equal(t, "no process survives it", f.Minimised.Why)
	require.NotEmpty(t, f.File)
}

func TestWorkerIsStuck(t *testing.T) {
	w := &workers{peers: map[*Peer]float64{}, patience: 10 * time.Millisecond, patienceForOne: 10 * time.Millisecond}
	forEver := make(chan struct{})
	defer close(forEver)
	w.launch = acting(func(r request) *answer {
		if holds(r, 2) {
			<-forEver
		}
		return &answer{}
	})
	peer, a, err := w.do(nil, request{First: 0, Count: 4})
	require.NoError(t, err)
	w.release(peer)
	require.Len(t, a.Suspects, 1)
	require.Equal(t, uint64(2), a.Suspects[0].Number)
	require.Contains(t, a.Suspects[0].Detail, "no answer for 10ms")
}

func TestWorkersCannotStart(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Launch = func() (*Peer, error) { return nil, errors.New("no such program") }
	_, err := Run(t.Context(), Config{Seed: 1}, o)
	require.ErrorContains(t, err, "no such program")
}

// Lies that are not noticed are told from those that are.
func TestCanaryNotNoticed(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Cases = 1
	o.Launch = acting(func(r request) *answer {
		require.True(t, r.Canary)
		return &answer{Lie: &suspect{Kind: "not noticed"}}
	})
	s := run(t, Config{Seed: 1}, o)
	require.Equal(t, Canary{Lies: 1}, s.Canary)
}

// However many kinds of suspects there are, the state does not grow for ever, and
// few of them are minimised.
func TestKindsAreBounded(t *testing.T) {
	c := &campaign{Options: options(t, t.TempDir(), honest), State: &State{Sessions: []Session{{}}}, ctx: t.Context(), started: time.Now()}
	for i := range 3 * maxKinds {
		s := suspect{Kind: fmt.Sprint("kind ", i), Fatal: true}
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
	require.Less(t, minimised, 3*maxRepeats)
}
