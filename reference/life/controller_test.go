package life

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// TestReplace: a controller replaces its pod when that is told to end, or gone, by one of another
// name and UID that is on no node, and is the same otherwise. It does so as often as it may.
func TestReplace(t *testing.T) {
	v := mk.Pod("v", 7, mk.CPU("1"))
	v.Namespace, v.Spec.NodeName, v.Labels, v.Spec.SchedulerName = "default", "n", map[string]string{"app": "v"}, model.DefaultSchedulerName
	v.Status.Phase = v1.PodRunning
	cluster := &model.Cluster{Nodes: []*v1.Node{mk.Node("n", "2")}, Pods: []*v1.Pod{v}}
	replace := func(pod string) timeline.Step {
		return timeline.Step{Replace: &timeline.Replacement{Pod: pod, After: time.Second, Times: 2}}
	}
	run := func(steps ...timeline.Step) (created []timeline.Entry, trace *timeline.Trace) {
		trace, err := Run(t.Context(), &timeline.Timeline{Cluster: cluster, Steps: steps})
		require.NoError(t, err)
		for _, e := range trace.Entries {
			if e.Creates() {
				created = append(created, e)
			}
		}
		return created, trace
	}
	created, trace := run(replace("default/v"), timeline.Step{Delete: "Pod default/v"}, timeline.Step{Wait: 5 * time.Second}, timeline.Step{End: "default/v"},
		timeline.Step{Delete: "Pod default/v-1"}, timeline.Step{Wait: 5 * time.Second}, timeline.Step{Delete: "Pod default/v-2"})
	require.Len(t, created, 2, "no third one")
	require.Equal(t, time.Second, created[0].At, "a second after v is told to end, and not once more when it is gone")
	require.Equal(t, "default/v", created[0].By)
	require.Equal(t, "default/v-1", created[1].By)
	first, second := created[0].Is.(*v1.Pod), created[1].Is.(*v1.Pod)
	require.Equal(t, "v-1", first.Name)
	require.Equal(t, "v-2", second.Name)
	require.NotEqual(t, first.UID, second.UID)
	require.NotEqual(t, v.UID, first.UID)
	require.Equal(t, "ReplicaSet", metav1.GetControllerOf(first).Kind)
	require.Equal(t, metav1.GetControllerOf(first), metav1.GetControllerOf(second))
	require.Empty(t, first.Spec.NodeName)
	require.Nil(t, first.DeletionTimestamp)
	require.Equal(t, v1.PodStatus{Phase: v1.PodPending, QOSClass: first.Status.QOSClass}, first.Status)
	want := v.Spec.DeepCopy()
	want.NodeName = ""
	require.Equal(t, *want, first.Spec)
	require.Equal(t, v.Labels, first.Labels)
	require.Empty(t, trace.Quiet.Outcome(), "all are gone")

	created, _ = run(timeline.Step{Delete: "Pod default/v"}, replace("default/v"), replace("default/x"))
	require.Empty(t, created, "it is too late")
	created, _ = run(replace("default/v"), timeline.Step{Wait: time.Hour})
	require.Empty(t, created, "nothing has happened to it")
	created, trace = run(replace("default/v"), timeline.Step{Delete: "Pod default/v"})
	require.Len(t, created, 1, "the end waits for it")
	require.Equal(t, "default/v-1 on n\n", trace.Quiet.Outcome())
}

// TestLivelock: a scheduler that gives the room that it has made to what replaces the victim, and
// makes it anew, is found out.
func TestLivelock(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines/preempted-and-bound.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	tl.Steps = []timeline.Step{{Replace: &timeline.Replacement{Pod: "default/v", Times: 6}}, tl.Steps[0]}
	check := func(change func(*scheduler)) (again []lifetime.Finding) {
		trace, err := runChanged(t.Context(), tl, change)
		require.NoError(t, err)
		for _, f := range lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}) {
			if f.Property == "preemption-leads-somewhere" {
				again = append(again, f)
			}
		}
		return again
	}
	require.Empty(t, check(func(*scheduler) {}))
	found := check(func(s *scheduler) {
		next := s.sched.SchedulePod
		s.sched.SchedulePod = func(ctx context.Context, p framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
			result, err := next(ctx, p, state, info)
			if strings.HasPrefix(info.Pod.Name, "v-") {
				return upstream.ScheduleResult{SuggestedHost: "node-1", EvaluatedNodes: 1, FeasibleNodes: 1}, nil
			}
			return result, err
		}
	})
	require.Len(t, found, 1)
	require.Contains(t, found[0].Detail, "pod default/p evicts default/v")
	require.NotContains(t, found[0].Detail, "then", "it is the shortest cycle")
	require.Empty(t, found[0].Known, "no known finding makes it do so")
}
