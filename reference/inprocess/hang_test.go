package inprocess

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// TestHang: a goroutine of the cycle that never ends is found, soon, and where.
func TestHang(t *testing.T) {
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 2)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1")), pod("b", 1, 1, on("n1"))}, Preemptor: pod("p", 9, 2)}
	schedulePod := func(f func()) func(*scheduler) {
		return func(s *scheduler) {
			s.sched.SchedulePod = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
				f()
				return upstream.ScheduleResult{}, nil
			}
		}
	}
	for _, test := range []struct {
		name, where string
		within      time.Duration
		plant       func(*scheduler)
	}{
		{"a deletion never returns", "preemption.(*Executor).prepareCandidate", 2 * time.Second, func(s *scheduler) {
			s.plugin.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				<-make(chan struct{})
				return false, nil
			}
		}},
		{"a lock is never released", "preemption.(*Executor).prepareCandidate", 2 * time.Second, func(s *scheduler) {
			s.plugin.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock()
				return false, nil
			}
		}},
		{"the filters never return", "scheduler.(*Scheduler).schedulingAlgorithm", 2 * time.Second, schedulePod(func() { <-make(chan struct{}) })},
		{"a deletion is made over and over", "preemption.(*Executor).prepareCandidate", 2 * time.Second, func(s *scheduler) {
			s.plugin.Executor.PreemptPod = func(ctx context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
				for {
					_ = s.profile.ClientSet().CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, metav1.DeleteOptions{})
				}
			}
		}},
		{"other pods are deleted over and over", "preemption.(*Executor).prepareCandidate", 2 * time.Second, func(s *scheduler) {
			s.plugin.Executor.PreemptPod = func(ctx context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
				for i := 0; ; i++ {
					_ = s.profile.ClientSet().CoreV1().Pods(victim.Namespace).Delete(ctx, fmt.Sprint(i), metav1.DeleteOptions{})
				}
			}
		}},
		{"the filters spin", "scheduler.(*Scheduler).schedulingAlgorithm", bubble.Patience + 3*time.Second, schedulePod(func() {
			for start := time.Now(); time.Since(start) >= 0; { // the bubble's clock stands still
			}
		})},
	} {
		for _, settings := range both {
			t.Run(test.name, func(t *testing.T) {
				s := New()
				defer s.Close()
				c.Settings = settings
				want := observe(t, s, c)
				test.plant(s.schedulers[0].scheduler)
				start := time.Now()
				seen := observe(t, s, c)
				got := seen.Crash
				if deletes := test.where == "preemption.(*Executor).prepareCandidate"; deletes != (len(seen.DryRuns) == 1 && len(seen.Filters) == 1) {
					t.Errorf("gates %v: seen up to then: %+v", settings.FeatureGates, seen)
				}
				if got == nil || got.Kind != model.Hang || !strings.Contains(got.Where, test.where) || !strings.Contains(got.Stack, test.where) {
					t.Errorf("gates %v: %+v", settings.FeatureGates, got)
				}
				if took := time.Since(start); took > test.within {
					t.Errorf("gates %v: found after %s, not %s", settings.FeatureGates, took, test.within)
				}
				if len(s.schedulers) != 0 {
					t.Error("the scheduler that hangs is kept")
				}
				if diff := cmp.Diff(want, observe(t, s, c)); diff != "" {
					t.Errorf("before (-) and after (+):\n%s", diff)
				}
			})
		}
	}
}

// TestGroupHangs: of the cycle of a group that never ends, all is seen that came before; and told as it came.
func TestGroupHangs(t *testing.T) {
	c := &model.Cluster{PreemptorGroup: "podgroup/default/g", Extra: []runtime.Object{podGroup("g", 10, 2)}, Nodes: []*v1.Node{node("n", 2)}, Settings: gates(),
		Pods: []*v1.Pod{pod("v", 1, 1, on("n")), pod("w", 1, 1, on("n")), pod("g1", 10, 1, memberOf("g"), nominatedTo("")), pod("g2", 10, 1, memberOf("g"), nominatedTo(""))}}
	c.Settings.FeatureGates[model.GateAsyncPreemption] = false
	blocks := func() { <-make(chan struct{}) }
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	spins := func() {
		for !over.Load() {
		}
	}
	inDeletion := func(hang func()) func(*scheduler) {
		return func(s *scheduler) {
			preempt := s.plugin.Executor.PreemptPod
			s.plugin.Executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, p preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
				_, _ = preempt(ctx, c, p, victim, plugin)
				hang()
				return false, nil
			}
		}
	}
	inSecondPass := func(hang func()) func(*scheduler) {
		return func(s *scheduler) {
			schedulePod, n := s.sched.SchedulePod, 0
			s.sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
				if n++; n == 3 { // the second member
					hang()
				}
				return schedulePod(ctx, fw, state, pod)
			}
		}
	}
	for _, test := range []struct {
		name  string
		plant func(*scheduler)
		// second is how many members are tried in the second pass, units how many units, and calls how many calls are made.
		second, units, calls int
	}{
		{"a deletion never returns", inDeletion(blocks), 2, 2, 2},
		{"a deletion spins", inDeletion(spins), 2, 2, 2},
		{"a filter never returns in the second pass", inSecondPass(blocks), 1, 0, 0},
		{"a filter spins in the second pass", inSecondPass(spins), 1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New()
			defer s.Close()
			whole := observe(t, s, c)
			require.Nil(t, whole.Crash)
			require.Len(t, whole.Group.First, 1)
			test.plant(s.schedulers[0].scheduler)
			told := &model.Observation{}
			seen, err := s.Observe(observation.Telling(patience.With(t.Context(), time.Second), told.Add), c)
			require.NoError(t, err)
			require.NotNil(t, seen.Crash)
			require.Equal(t, model.Hang, seen.Crash.Kind)
			for _, o := range []*model.Observation{seen, told} {
				got := o.Group
				require.Equal(t, whole.Group.First, got.First)
				require.Equal(t, whole.Group.Second[:test.second], got.Second)
				require.Equal(t, whole.Group.Tried[:test.units], append([]model.UnitTry{}, got.Tried...))
				require.Equal(t, test.units > 0, len(got.Placed) == 2)
				require.Equal(t, 1, got.SecondCalls)
				require.Empty(t, got.Code)
				require.Empty(t, o.Filters)
				if o.Aftermath != nil || test.calls > 0 {
					require.Len(t, o.Aftermath.Calls, test.calls)
				}
			}
		})
	}
}
