package inprocess

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// nominatedBlocks is a cluster whose room is spoken for by a nominated pod of the
// preemptor's priority.
func nominatedBlocks() *model.Cluster {
	return &model.Cluster{Nodes: []*v1.Node{node("n1", 2)}, Pods: []*v1.Pod{pod("nominated", 9, 2, nominatedTo("n1"))}, Preemptor: pod("p", 9, 1)}
}

// TestNominatedPodIsNoStub: a pod known to the nominator alone counts as one
// without requests and of priority 0. Loaded so, the cluster lets the preemptor
// in; that is the mistake this test is for.
func TestNominatedPodIsNoStub(t *testing.T) {
	s := New()
	defer s.Close()
	if got := observe(t, s, nominatedBlocks()); got.ScheduledTo != "" {
		t.Errorf("scheduled to %s, into the room of a nominated pod", got.ScheduledTo)
	}

	c, sched := nominatedBlocks(), s.schedulers[0].scheduler
	stub := &model.Observation{Filters: map[string]model.Verdict{}}
	sched.bubble.Do(bubble.Patience, 0, func() {
		require.NoError(t, sched.load(c))
		nominated := sched.loaded.pending[0]
		info, err := framework.NewPodInfo(nominated)
		require.NoError(t, err)
		sched.sched.SchedulingQueue.Delete(linked.Discard, nominated)
		sched.sched.SchedulingQueue.AddNominatedPod(linked.Discard, info, nil)
		sched.run(&recorder{obs: stub})
		require.NoError(t, sched.unload())
	})
	if stub.ScheduledTo != "n1" {
		t.Errorf("with a stub scheduled to %q, want n1: the trap is gone, and so is the need for this test", stub.ScheduledTo)
	}
}

// TestBudgetOrder: a violates narrow. Only if wide is listed before narrow has a
// used up wide by then, so that b violates too.
func TestBudgetOrder(t *testing.T) {
	s := New()
	defer s.Close()
	run := func(budgets ...*policyv1.PodDisruptionBudget) model.DryRun {
		return observe(t, s, &model.Cluster{Nodes: []*v1.Node{node("n1", 2)},
			Pods: []*v1.Pod{
				pod("a", 1, 1, on("n1"), func(p *v1.Pod) { p.Labels = map[string]string{"app": "x", "tier": "y"} }),
				pod("b", 1, 1, on("n1"), startedAfter(1), labelled("x"))},
			PodDisruptionBudgets: budgets, Preemptor: pod("p", 9, 1)}).DryRuns["n1"]
	}
	wide, narrow := budget("wide", "x", 1), budget("narrow", "x", 0)
	narrow.Spec.Selector.MatchLabels = map[string]string{"tier": "y"}
	for _, test := range []struct {
		budgets    []*policyv1.PodDisruptionBudget
		violations int
	}{{[]*policyv1.PodDisruptionBudget{wide, narrow}, 1}, {[]*policyv1.PodDisruptionBudget{narrow, wide}, 0}} {
		want := model.DryRun{Victims: []string{"default/b"}, Violations: test.violations}
		if got := run(test.budgets...); !cmp.Equal(got, want) {
			t.Errorf("%s first: %v, want %v", test.budgets[0].Name, got, want)
		}
	}
}

// TestChanceIsPinned: which of two equal candidates is picked depends on the cluster's offset alone, and
// asynchronous calls of a cycle come before those of its preemption.
func TestChanceIsPinned(t *testing.T) {
	s := New()
	defer s.Close()
	for run := range 20 {
		c := &model.Cluster{Nodes: []*v1.Node{node("n1", 1), node("n2", 1), node("n3", 1)},
			Pods: []*v1.Pod{pod("a", 1, 1, on("n1")), pod("b", 1, 1, on("n2")), pod("c", 1, 1, on("n3"))}, Preemptor: pod("p", 9, 1)}
		for offset, want := range []string{"n1", "n2", "n3", "n1"} {
			c.Settings.DryRunOffset = ptr.To(int32(offset))
			require.Equal(t, want, observe(t, s, c).Pick.Node, "run %d, offset %d", run, offset)
		}
		c.Settings = gate("SchedulerAsyncAPICalls", true)
		calls := observe(t, s, c).Aftermath.Calls
		require.Len(t, calls, 3)
		require.Equal(t, "default/p", calls[0].Object, "run %d: %v", run, calls)
	}
}

func TestCannotRun(t *testing.T) {
	tooMany, zero := int32(101), int32(0)
	unnamed := pod("p", 0, 1)
	tests := []struct {
		name   string
		change func(*model.Cluster)
		want   string
	}{
		{"unknown gate", func(c *model.Cluster) { c.Settings = gate("NoSuchGate", true) }, "NoSuchGate"},
		{"locked gate", func(c *model.Cluster) { c.Settings = gate("DynamicResourceAllocation", false) }, "DynamicResourceAllocation"},
		{"gate that needs another", func(c *model.Cluster) { c.Settings = gate("CompositePodGroup", true) }, "CompositePodGroup"},
		{"gate of gates", func(c *model.Cluster) { c.Settings = gate("AllAlpha", true) }, "AllAlpha"},
		{"percentage", func(c *model.Cluster) { c.Settings.MinCandidateNodesPercentage = &tooMany }, "minCandidateNodesPercentage"},
		{"no candidates at all", func(c *model.Cluster) {
			c.Settings = model.Settings{MinCandidateNodesPercentage: &zero, MinCandidateNodesAbsolute: &zero}
		}, "minCandidateNodes"},
		{"no preemptor", func(c *model.Cluster) { c.Preemptor = nil }, "no preemptor"},
		{"bound preemptor", func(c *model.Cluster) { on("n1")(c.Preemptor) }, "default/p is bound to node n1"},
		{"terminating preemptor", func(c *model.Cluster) { terminating(c.Preemptor) }, "default/p is being deleted"},
		{"gated preemptor", func(c *model.Cluster) { c.Preemptor.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} }, "scheduling gates"},
		{"another scheduler's preemptor", func(c *model.Cluster) { c.Preemptor.Spec.SchedulerName = "other" }, `"other"`},
		{"pods of one UID", func(c *model.Cluster) {
			c.Pods = []*v1.Pod{pod("a", 0, 0, on("n1")), pod("b", 0, 0, on("n2"))}
			c.Pods[0].UID, c.Pods[1].UID = "1", "1"
		}, "already in added state"},
	}
	s := New()
	defer s.Close()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &model.Cluster{Nodes: []*v1.Node{node("n1", 1), node("n2", 0)}, Preemptor: unnamed.DeepCopy()}
			test.change(c)
			if _, err := s.Observe(context.Background(), c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
			// No failure spoils the next cluster.
			if got := observe(t, s, nominatedBlocks()); got.ScheduledTo != "" || got.Actuation == nil {
				t.Errorf("afterwards: %+v", got)
			}
		})
	}
}

// TestGatesSideBySide: Systems with different gates take turns, and each sees its
// own.
func TestGatesSideBySide(t *testing.T) {
	c := model.Cluster{Nodes: []*v1.Node{node("n1", 1)},
		Pods: []*v1.Pod{pod("a", 1, 1, on("n1"), terminating), pod("low", 3, 1, nominatedTo("n1"))}, Preemptor: pod("p", 9, 1)}
	var wg sync.WaitGroup
	for _, settings := range both {
		c, want := c, 0
		c.Settings = settings
		if !settings.AsyncPreemption() {
			want = 1 // see "all victims terminating" in TestStages
		}
		for range 2 {
			wg.Go(func() {
				s := New()
				defer s.Close()
				for range 200 {
					if got := observe(t, s, &c).Actuation.Cleared; len(got) != want {
						t.Errorf("gates %v: cleared %v", settings.FeatureGates, got)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestExtraObjects: a namespace decides whom an affinity term means, and is
// forgotten with its cluster.
func TestExtraObjects(t *testing.T) {
	s := New()
	defer s.Close()
	claim := &v1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name = "default", "data"
	claim.Spec.VolumeName = "gone"
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 1)}, Preemptor: pod("p", 0, 1, func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})}
	reason := func(extra ...runtime.Object) string {
		c.Extra = extra
		return strings.Join(observe(t, s, c).Filters["n1"].Reasons, "; ")
	}
	without, with := reason(), reason(claim)
	if !strings.Contains(without, "not found") || strings.Contains(with, "\"data\" not found") || with == "" {
		t.Errorf("without claim: %q, with: %q", without, with)
	}
	if again := reason(); again != without {
		t.Errorf("the claim stayed: %q, then %q", without, again)
	}
}

type noVictimsFound struct{ preemption.Interface }

func (noVictimsFound) SelectVictimsOnNode(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo, []*preemption.DomainVictim, []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	return nil, 0, nil
}

func TestDryRunWithoutVictimsIsAnError(t *testing.T) {
	s := New()
	defer s.Close()
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 1)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1"))}, Preemptor: pod("p", 9, 1)}
	observe(t, s, c)
	evaluator := s.schedulers[0].plugin.Evaluator
	evaluator.Interface = noVictimsFound{evaluator.Interface}
	got := observe(t, s, c)
	const text = `expected at least one victim pod on node "n1"`
	if got.DryRuns["n1"].Error != text || got.PostFilterCode != "Error" || !strings.Contains(got.PostFilterMessage, text) ||
		got.Actuation.Nomination != model.NominationKept || len(got.Candidates) != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestManyWorkers is for the race detector: sixteen dry runs at once share nothing
// of ours, also where each panics.
func TestManyWorkers(t *testing.T) {
	s, workers := New(), int32(16)
	defer s.Close()
	for seed := range uint64(300) {
		c := generators.FromSeed(seed)
		c.Settings.Parallelism = &workers
		observe(t, s, c)
	}
	c := &model.Cluster{Preemptor: pod("p", 9, 2), Settings: model.Settings{Parallelism: &workers}}
	for i := range 16 {
		name := fmt.Sprintf("n%d", i)
		c.Nodes = append(c.Nodes, node(name, 2))
		c.Pods = append(c.Pods, pod("a"+name, 1, 1, on(name)), pod("b"+name, 1, 1, on(name)))
	}
	panicking := New()
	defer panicking.Close()
	observe(t, panicking, c)
	panicking.schedulers[0].scheduler.plugin.IsEligiblePod = nil
	if got := observe(t, panicking, c); got.Crash == nil {
		t.Errorf("%+v", got)
	}
}

// TestPanic: wherever upstream panics, the cycle says so and the scheduler goes.
func TestPanic(t *testing.T) {
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 2)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1")), pod("b", 1, 1, on("n1"))}, Preemptor: pod("p", 9, 2)}
	for name, plant := range map[string]func(*scheduler){
		"dry run":   func(s *scheduler) { s.plugin.IsEligiblePod = nil },
		"actuation": func(s *scheduler) { s.plugin.Executor.PreemptPod = s.watch(nil) },
		"filter":    func(s *scheduler) { s.sched.SchedulePod = nil },
	} {
		for _, settings := range both {
			s := New()
			c.Settings = settings
			want := observe(t, s, c)
			plant(s.schedulers[0].scheduler)
			got := observe(t, s, c)
			if got.Crash == nil || got.Crash.Kind != model.Panic || got.Crash.Where == "unknown" {
				t.Errorf("%s: %+v", name, got)
			}
			if len(s.schedulers) != 0 {
				t.Errorf("%s: the scheduler that panicked is kept", name)
			}
			if diff := cmp.Diff(want, observe(t, s, c)); diff != "" {
				t.Errorf("%s: before (-) and after (+) the panic:\n%s", name, diff)
			}
			s.Close()
		}
	}
}

// otherCandidate is one that is swapped for the candidate that was picked.
type otherCandidate struct{ preemption.Candidate }

func (otherCandidate) Name() string { return "n2" }
func (o otherCandidate) Victims() *extenderv1.Victims {
	return &extenderv1.Victims{Pods: o.Candidate.Victims().Pods[:1], NumPDBViolations: 7}
}

// TestPickIsObserved: the pick is what is handed over to be preempted, whatever the dry
// run found and the preemptor is nominated to.
func TestPickIsObserved(t *testing.T) {
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 2)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1")), pod("b", 1, 1, on("n1"))}, Preemptor: pod("p", 9, 2)}
	for _, settings := range both {
		s := New()
		c.Settings = settings
		observe(t, s, c)
		executor := s.schedulers[0].scheduler.plugin.Executor
		preempt := executor.PreemptPod
		executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
			return preempt(ctx, otherCandidate{c}, preemptor, victim, plugin)
		}
		got := observe(t, s, c)
		if diff := cmp.Diff(&model.Pick{Node: "n2", Victims: []string{"default/a"}, Violations: 7}, got.Pick); diff != "" || got.Actuation.NominatedNode != "n1" {
			t.Errorf("gates %v: nominated to %s; %s", settings.FeatureGates, got.Actuation.NominatedNode, diff)
		}
		s.Close()
	}
}

// TestOwnNominationStays: a popped pod is a stub of priority 0 to the nominator, so a
// preemptor that preempts again on the node it is nominated to is one of the "lower"
// pods whose nomination goes (executor.go:430@v1.37.1, clearNominatedNodeName). It
// must not lose it.
func TestOwnNominationStays(t *testing.T) {
	s := New()
	defer s.Close()
	c := &model.Cluster{Nodes: []*v1.Node{node("n1", 1)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1"))}, Preemptor: pod("p", 9, 1, nominatedTo("n1"))}
	for _, on := range []bool{false, true} {
		c.Settings = gate("SchedulerAsyncAPICalls", on)
		got := observe(t, s, c)
		for _, call := range got.Aftermath.Calls {
			if call.Object == "default/p" && call.NominatedNode != nil {
				t.Errorf("gate %t: %s", on, call)
			}
		}
		if got.Aftermath.NominatedTo != "n1" || len(got.Actuation.Cleared)+len(got.Actuation.Other) > 0 {
			t.Errorf("gate %t: %+v", on, got)
		}
	}
}
