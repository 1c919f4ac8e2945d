//go:build !windows

package life

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
)

// TestBreaks: a scheduler that panics, or that comes to a standstill, is found soon, wherever
// in a timeline it does so, and the next timeline is run as if nothing had been.
func TestBreaks(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines/preempted-and-bound.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	schedulePod := func(f func()) func(*scheduler) {
		return func(s *scheduler) {
			next := s.sched.SchedulePod
			s.sched.SchedulePod = func(ctx context.Context, p framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
				f()
				return next(ctx, p, state, info)
			}
		}
	}
	preemptPod := func(f func()) func(*scheduler) {
		return func(s *scheduler) {
			for _, plugin := range s.plugins {
				plugin.Executor.PreemptPod = s.preempts(func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
					f()
					return false, nil
				})
			}
		}
	}
	locked := func() {
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	}
	panics := func() { panic("planted") }
	waits := func() { <-make(chan struct{}) }
	var runs atomic.Int32
	spins := func() {
		for its := runs.Load(); runs.Load() == its; {
		}
	}
	for _, test := range []struct {
		name   string
		plant  func(func()) func(*scheduler)
		breaks func()
		loops  bool
		kind   string // of what "gets-through" finds, or the property that finds it
		// How its story ends, and with what before that.
		story, before string
	}{
		{"a cycle panics", schedulePod, panics, false, "panic in", "Here the scheduler panics in ", "The scheduler tries default/p."},
		{"a cycle never ends", schedulePod, waits, false, "hang in", "Here the scheduler hangs in ", "The scheduler tries default/p."},
		{"a cycle waits for a lock", schedulePod, locked, false, "hang in", "Here the scheduler hangs in ", "The scheduler tries default/p."},
		{"a cycle is an endless loop", schedulePod, spins, true, "hang in", "Here the scheduler hangs in ", "The scheduler tries default/p."},
		{"a preemption panics", preemptPod, panics, false, "panic in", "Here the scheduler panics in ", "The goroutine that preempts for default/p begins."},
		{"a preemption never ends", preemptPod, waits, false, "preempting", "", ""},
		{"a preemption waits for a lock", preemptPod, locked, false, "hang in", "Here the scheduler hangs in ", "The goroutine that preempts for default/p begins."},
	} {
		t.Run(test.name, func(t *testing.T) {
			start, before := time.Now(), cpuTime(t)
			trace, err := runChanged(t.Context(), tl, test.plant(test.breaks))
			took, used := time.Since(start), cpuTime(t)-before
			runs.Add(1)
			require.NoError(t, err)
			t.Logf("it took %s, and %s of CPU time", took, used)
			if test.loops { // what others take of the machine's time does not count
				took = min(took, used)
			}
			require.Less(t, took, 2*time.Second)
			lived := &lifetime.Life{Timeline: tl, Trace: trace}
			findings := lifetime.Check(lived)
			var kinds []string
			for _, f := range findings {
				kinds = append(kinds, f.Kind)
			}
			require.Contains(t, strings.Join(kinds, "; "), test.kind)
			if c := trace.Crash; c != nil {
				require.NotEmpty(t, c.Stack)
				require.Contains(t, []any{model.Panic, model.Hang}, any(c.Kind))
				require.Len(t, findings, 1, "what is broken off breaks no other promise")
			}
			// Its story leads up to where it breaks, and ends there.
			told := story.Tell(lived, findings).Told
			if test.story == "" {
				require.Nil(t, trace.Crash)
			} else {
				require.Contains(t, told[len(told)-1].Text, test.story)
				require.Contains(t, told[len(told)-2].Text, test.before)
			}
			honest, err := Run(t.Context(), tl)
			require.NoError(t, err)
			require.Empty(t, lifetime.Check(&lifetime.Life{Timeline: tl, Trace: honest}))
		})
	}
}

// cpuTime is what this process has used so far.
func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
