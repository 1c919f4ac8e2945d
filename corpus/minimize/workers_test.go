package minimize

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// busy is a System that knows how many are asked at once.
type busy struct {
	reference.System
	now, most atomic.Int32
	pause     time.Duration
}

func (b *busy) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	now := b.now.Add(1)
	defer b.now.Add(-1)
	for most := b.most.Load(); now > most && !b.most.CompareAndSwap(most, now); most = b.most.Load() {
	}
	time.Sleep(b.pause)
	return b.System.Observe(ctx, c)
}

// The result, with all that it says, does not depend on the number of workers.
func TestWorkersComeToOneResult(t *testing.T) {
	load := func(witness string, nodes int) *model.Cluster { return inNoise(t, loadCase(t, witness), nodes) }
	odd := load("fewest-violations-decides", 4)
	odd.Nodes[0].Labels["disk"] = "odd"
	gated := load("budget-of-two-pays-for-both", 2)
	gated.Settings.FeatureGates = map[string]bool{"SchedulerAsyncPreemption": false}
	for _, test := range []struct {
		name string
		c    *model.Cluster
		lie  func(c *model.Cluster, o *model.Observation)
		want fingerprint.Fingerprint
	}{
		{"a relation", load("finding-budget-order", 4), nil,
			fingerprint.Fingerprint{Property: "order-does-not-matter", Stage: model.StageDryRun, Known: "budget-order"}},
		{"a number that matters", odd, failsOnDisk, differentialActuate},
		{"two budgets", load("finding-budget-order", 20), deletesMoreImportant, differentialActuate},
		{"a feature gate", gated, sparesLast, differentialActuate},
		{"generated", generated(t, sparesLast, differentialActuate), sparesLast, differentialActuate},
		{"stuck", threePods(), liesOnOddPods, differentialActuate},
	} {
		t.Run(test.name, func(t *testing.T) {
			var first *Result
			for _, workers := range []int{1, 2, 4} {
				checker := newChecker(t, test.lie)
				checker.Properties = slices.DeleteFunc(checker.Properties, func(p properties.Property) bool { return p.Name != test.want.Property })
				var systems []reference.System
				for range workers {
					systems = append(systems, newChecker(t, test.lie).System)
				}
				checker.System = reference.NewPool(systems...)
				r, err := Minimise(t.Context(), checker, test.c, test.want, Options{Workers: workers, Certify: 400})
				require.NoError(t, err)
				require.True(t, r.Minimal)
				if first == nil {
					first = r
					t.Log(r.Checks, "checks,", r.Smallest)
					continue
				}
				require.True(t, same(first.Cluster, r.Cluster), form(t, r.Cluster))
				require.Equal(t, first.Finding, r.Finding)
				require.Equal(t, first.Checks, r.Checks)
				require.Equal(t, first.Needs, r.Needs)
				require.Equal(t, first.Neighbour, r.Neighbour)
				require.Equal(t, first.Smallest, r.Smallest)
			}
		})
	}
}

// generated is a generated cluster on which a lie is found.
func generated(t *testing.T, lie func(c *model.Cluster, o *model.Observation), want fingerprint.Fingerprint) *model.Cluster {
	checker := newChecker(t, lie)
	for seed := uint64(89); ; seed++ {
		c := generators.FromSeed(seed)
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		if slices.ContainsFunc(fingerprint.Of(r), want.Covers) {
			return c
		}
	}
}

// So many workers check at once, and no more.
func TestWorkersWork(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		checker := newChecker(t, nil)
		checker.Properties = nil
		system := &busy{System: checker.System, pause: time.Millisecond}
		checker.System = system
		_, err := Minimise(t.Context(), checker, loadCase(t, "finding-unlabelled-pod"),
			fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Known: "unlabelled-pod"}, Options{Workers: workers})
		require.NoError(t, err)
		require.EqualValues(t, max(1, workers), system.most.Load())
	}
}

// Progress is told of each check, in order.
func TestProgress(t *testing.T) {
	var checks []int
	var searched []uint64
	r, err := Minimise(t.Context(), newChecker(t, liesOnOddPods), threePods(), differentialActuate, Options{Certify: 1000, Progress: func(p Progress) {
		require.NotNil(t, p.Cluster)
		checks = append(checks, p.Checks)
		if p.Search != nil {
			searched = append(searched, p.Search.Searched)
		}
	}})
	require.NoError(t, err)
	require.IsIncreasing(t, append([]int{0}, checks...))
	require.Equal(t, r.Checks, checks[len(checks)-1])
	require.Contains(t, searched, r.Smallest.Classes)
}

func loadCase(t *testing.T, name string) *model.Cluster {
	s, err := corpus.Load("../cases/" + name + ".yaml")
	require.NoError(t, err)
	return s.Cases[0].Cluster
}
