package steps_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func drawn(t *testing.T, seed uint64) *timeline.Timeline {
	tl := timelines.FromSeed(seed)
	require.NoError(t, apiserver.Timeline(tl))
	return tl
}

// holdsAndFails is what a fake system shows: while something is held at a place, at least two
// calls fail after they took effect, and the place is released more than two seconds later.
func holdsAndFails(tl *timeline.Timeline) bool {
	var held *timeline.Place
	failed, waited := false, time.Duration(0)
	for i := range tl.Steps {
		switch s := &tl.Steps[i]; {
		case s.Hold != nil && held == nil:
			held, failed, waited = s.Hold, false, 0
		case s.Fail != nil && s.Fail.Arrives && s.Fail.Times >= 2:
			failed = true
		case s.Wait > 0:
			waited += s.Wait
		case s.Release != nil && held != nil && *s.Release == *held:
			if failed && waited > 2*time.Second {
				return len(tl.Cluster.Nodes) > 0
			}
			held = nil
		}
	}
	return false
}

// What only looks like a standstill in a hurry is not what is left.
func TestMinimiseHangConfirms(t *testing.T) {
	type key struct{}
	tl := drawn(t, 3)
	require.Greater(t, len(tl.Steps), 8)
	ctx := context.Background()
	for least, want := range map[int]int{0: 0, 5: 5} {
		small := steps.MinimiseHang(ctx, context.WithValue(ctx, key{}, true), tl, func(ctx context.Context, t *timeline.Timeline) bool {
			return ctx.Value(key{}) != nil || len(t.Steps) >= least
		})
		require.Len(t, small.Timeline.Steps, want)
		require.True(t, small.Minimal)
	}
}

// once are the timelines that a timeline becomes if one step or one object is left out.
func once(tl *timeline.Timeline) (all []*timeline.Timeline) {
	for i := range tl.Steps {
		c := tl.Clone()
		c.Steps = slices.Delete(c.Steps, i, i+1)
		all = append(all, c)
	}
	for i := range tl.Cluster.Pods {
		c := tl.Clone()
		c.Cluster.Pods = slices.Delete(c.Cluster.Pods, i, i+1)
		all = append(all, c)
	}
	for i := range tl.Cluster.Nodes {
		c := tl.Clone()
		c.Cluster.Nodes = slices.Delete(c.Cluster.Nodes, i, i+1)
		all = append(all, c)
	}
	return all
}

// TestMinimal: nothing can be left out of what is minimal, and what is not needed is plain. The
// timeline that it is made of stays as it was.
func TestMinimal(t *testing.T) {
	tried := 0
	for seed := uint64(0); tried < 30; seed++ {
		tl := drawn(t, seed)
		if !holdsAndFails(tl) {
			continue
		}
		tried++
		checks, inVain := 0, 0
		small := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
			checks++
			inVain++
			if holdsAndFails(tl) {
				inVain = 0
			}
			return inVain == 0
		})
		require.Equal(t, drawn(t, seed), tl)
		require.True(t, small.Minimal)
		require.Equal(t, checks, small.Checks)
		require.Positive(t, small.Last)
		require.LessOrEqual(t, small.Last, inVain, "none of the last round kept it")
		require.True(t, holdsAndFails(small.Timeline))
		for _, smaller := range once(small.Timeline) {
			require.False(t, holdsAndFails(smaller), "seed %d", seed)
		}
		require.Equal(t, steps.Size{Nodes: 1, Steps: 4}, steps.SizeOf(small.Timeline), "seed %d", seed)
		require.Zero(t, small.Timeline.Cluster.Settings, "seed %d", seed)
		for _, s := range small.Timeline.Steps {
			if s.Wait > 0 {
				require.LessOrEqual(t, s.Wait, 3*time.Second, "seed %d", seed)
			}
		}
	}
}

// TestPairs: a hold and its release go together, where one alone may not go.
func TestPairs(t *testing.T) {
	place := &timeline.Place{Name: timeline.Bind}
	tl := drawn(t, 1)
	tl.Steps = []timeline.Step{{Hold: place}, {Wait: time.Second}, {Release: place}}
	balanced := func(_ context.Context, tl *timeline.Timeline) bool {
		held := 0
		for i := range tl.Steps {
			switch {
			case tl.Steps[i].Hold != nil:
				held++
			case tl.Steps[i].Release != nil:
				held--
			}
		}
		return held == 0 && slices.ContainsFunc(tl.Steps, func(s timeline.Step) bool { return s.Wait > 0 })
	}
	small := steps.Minimise(t.Context(), tl, balanced)
	require.Equal(t, []timeline.Step{{Wait: time.Second}}, small.Timeline.Steps)
}

// TestJoinedWaits: two waits become one where one alone is too short, before or after what lies
// between them.
func TestJoinedWaits(t *testing.T) {
	place := &timeline.Place{Name: timeline.Bind}
	tl := drawn(t, 1)
	tl.Steps = []timeline.Step{
		{Wait: time.Second}, {Hold: place}, {Wait: 1100 * time.Millisecond}, {Hold: place}, {Wait: time.Second},
	}
	wait := timeline.Step{Wait: 3100 * time.Millisecond}
	for name, want := range map[string][]timeline.Step{"before": {wait, {Hold: place}}, "behind": {{Hold: place}, wait}} {
		t.Run(name, func(t *testing.T) {
			small := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
				sum, holds := time.Duration(0), -1
				for i := range tl.Steps {
					if sum += tl.Steps[i].Wait; tl.Steps[i].Hold != nil {
						holds = i
					}
				}
				return sum > 3*time.Second && (name == "before" && holds > 0 || name == "behind" && holds >= 0 && holds < len(tl.Steps)-1)
			})
			require.True(t, small.Minimal)
			require.Equal(t, want, small.Timeline.Steps)
		})
	}
}

// TestCreatedTwice: a pod that is created, deleted and created again is the same pod in the end,
// as one manifest stands for both.
func TestCreatedTwice(t *testing.T) {
	tl := drawn(t, 1)
	tl.Cluster.Pods = nil
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Finalizers: []string{"example.com/f"}},
		Spec: v1.PodSpec{SchedulerName: "default-scheduler", Containers: []v1.Container{{Name: "c", Ports: []v1.ContainerPort{{ContainerPort: 80, HostPort: 80}}}}}}
	tl.Steps = []timeline.Step{{Create: p}, {Delete: "Pod default/p"}, {Create: p.DeepCopy()}}
	small := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
		// The first creation alone could go without the port, and the second without the finalizer.
		return len(tl.Steps) == 3 && len(tl.Steps[0].CreatedPod().Finalizers) > 0 && len(tl.Steps[2].CreatedPod().Spec.Containers[0].Ports) > 0
	})
	require.True(t, small.Minimal)
	require.Equal(t, tl.Steps, small.Timeline.Steps)
	plain := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool { return len(tl.Steps) == 3 })
	require.Empty(t, plain.Timeline.Steps[0].CreatedPod().Finalizers)
	require.Equal(t, plain.Timeline.Steps[0].Create, plain.Timeline.Steps[2].Create)
}

// TestFiller: a pod that only takes room goes, and its room with it, whether it was there at the
// start or a step created it.
func TestFiller(t *testing.T) {
	pod := func(name, node string) *v1.Pod {
		cpu := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.PodSpec{NodeName: node, SchedulerName: "default-scheduler",
			Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: cpu}}}}}
	}
	tl := drawn(t, 1)
	tl.Cluster.Nodes = tl.Cluster.Nodes[:1]
	n := tl.Cluster.Nodes[0]
	n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("3")
	tl.Cluster.Pods = []*v1.Pod{pod("there", n.Name)}
	tl.Steps = []timeline.Step{{Create: pod("created", "")}, {Create: pod("p", "")}, {Delete: "Pod default/created"}}
	small := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
		room := 0
		for _, n := range tl.Cluster.Nodes {
			room += int(n.Status.Allocatable.Cpu().Value())
		}
		created := 0
		for i := range tl.Steps {
			if tl.Steps[i].CreatedPod() != nil {
				created++
			}
		}
		return created > 0 && room == created+len(tl.Cluster.Pods) // the nodes are full
	})
	require.True(t, small.Minimal)
	require.Equal(t, steps.Size{Nodes: 1, Pods: 1, Steps: 1}, steps.SizeOf(small.Timeline))
}

// TestTimeIsUp: without time for all reductions there is no certificate, and what is given back
// is the smallest that was shown in time.
func TestTimeIsUp(t *testing.T) {
	seed := uint64(0)
	for !holdsAndFails(drawn(t, seed)) {
		seed++
	}
	tl := drawn(t, seed)
	whole := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool { return holdsAndFails(tl) })
	for _, limit := range []int{1, 2, 5, whole.Checks - 1, whole.Checks} {
		ctx, cancel := context.WithCancel(t.Context())
		checks := 0
		last := tl
		small := steps.Minimise(ctx, tl, func(_ context.Context, tl *timeline.Timeline) bool {
			if checks++; checks == limit {
				cancel() // whatever is answered now may be wrong
				return true
			}
			if holdsAndFails(tl) {
				last = tl
			}
			return holdsAndFails(tl)
		})
		cancel()
		require.False(t, small.Minimal, "%d checks", limit)
		require.Equal(t, limit, small.Checks)
		require.Equal(t, last, small.Timeline, "%d checks", limit)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	small := steps.Minimise(done, tl, func(context.Context, *timeline.Timeline) bool { panic("there is no time") })
	require.False(t, small.Minimal)
	require.Equal(t, tl, small.Timeline)
}

// TestVainPreemption: drawn timelines with the bug of kubernetes#141694 become small, if not all
// of them as small as others: some need several preemptors in each other's way.
func TestVainPreemption(t *testing.T) {
	shows := func(ctx context.Context, tl *timeline.Timeline) bool {
		trace, err := life.Run(ctx, tl)
		return err == nil && slices.ContainsFunc(lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}), func(f lifetime.Finding) bool {
			return f.Property == "gate-opens" && slices.Equal(f.Known, []string{known.VainPreemption})
		})
	}
	found, tiny := 0, 0
	for seed := uint64(0); found < 3; seed++ {
		require.Less(t, seed, uint64(5000), "no drawn timeline shows it")
		tl := drawn(t, seed)
		if !shows(t.Context(), tl) {
			continue
		}
		found++
		small := steps.Minimise(t.Context(), tl, shows)
		size := steps.SizeOf(small.Timeline)
		t.Logf("seed %d: from %s to %s, with %d checks", seed, steps.SizeOf(tl), size, small.Checks)
		require.True(t, small.Minimal)
		require.Equal(t, 1, size.Nodes)
		require.LessOrEqual(t, size.Pods, 4)
		if size.Pods <= 3 {
			tiny++
		}
		require.LessOrEqual(t, size.Steps, 12)
		require.True(t, shows(t.Context(), small.Timeline))
		for _, smaller := range once(small.Timeline) {
			if len(smaller.Cluster.Nodes) > 0 { // pods need their nodes
				require.False(t, shows(t.Context(), smaller))
			}
		}
	}
	require.GreaterOrEqual(t, tiny, 2, "as many as need no more than three pods")
}

// TestOlderLists: a list is no older than what is found takes, kind by kind, and not older at all where
// that is no matter.
func TestOlderLists(t *testing.T) {
	behind := map[string]int{"Pod": 9, "Node": 4}
	tl := &timeline.Timeline{Cluster: &model.Cluster{}, Steps: []timeline.Step{{Takeover: true, Behind: behind}}}
	for least, want := range map[int]map[string]int{0: nil, 1: {"Pod": 1}, 6: {"Pod": 6}} {
		small := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
			return len(tl.Steps) == 1 && tl.Steps[0].Takeover && tl.Steps[0].Behind["Pod"] >= least
		})
		require.True(t, small.Minimal)
		require.Equal(t, want, small.Timeline.Steps[0].Behind)
	}
	require.Equal(t, map[string]int{"Pod": 9, "Node": 4}, behind)
}
