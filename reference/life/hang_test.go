package life

import (
	"context"
	"strings"
	"sync"
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
	for _, test := range []struct {
		name   string
		change func(*scheduler)
		kind   string // of what "gets-through" finds, or the property that finds it
	}{
		{"a cycle panics", schedulePod(func() { panic("planted") }), "panic in"},
		{"a cycle never ends", schedulePod(func() { <-make(chan struct{}) }), "hang in"},
		{"a cycle waits for a lock", schedulePod(locked), "hang in"},
		{"a preemption panics", preemptPod(func() { panic("planted") }), "panic in"},
		{"a preemption never ends", preemptPod(func() { <-make(chan struct{}) }), "preempting"},
		{"a preemption waits for a lock", preemptPod(locked), "hang in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			trace, err := runChanged(t.Context(), tl, test.change)
			require.NoError(t, err)
			require.Less(t, time.Since(start), 5*time.Second)
			var kinds []string
			for _, f := range lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}) {
				kinds = append(kinds, f.Kind)
			}
			require.Contains(t, strings.Join(kinds, "; "), test.kind)
			if c := trace.Crash; c != nil {
				require.NotEmpty(t, c.Stack)
				require.Contains(t, []any{model.Panic, model.Hang}, any(c.Kind))
			}
			honest, err := Run(t.Context(), tl)
			require.NoError(t, err)
			require.Empty(t, lifetime.Check(&lifetime.Life{Timeline: tl, Trace: honest}))
		})
	}
}
