package inprocess

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
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
