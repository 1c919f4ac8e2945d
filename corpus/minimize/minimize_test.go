package minimize

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/relation"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// liar is a scheduler that changes what it did where it lies.
type liar struct {
	reference.System
	lie func(c *model.Cluster, o *model.Observation)
}

func (l liar) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := l.System.Observe(ctx, c)
	if err == nil && l.lie != nil {
		l.lie(c, o)
	}
	return o, err
}

func newChecker(t *testing.T, lie func(c *model.Cluster, o *model.Observation)) *properties.Checker {
	system := inprocess.New()
	t.Cleanup(func() { require.NoError(t, system.Close()) })
	return &properties.Checker{
		System:     liar{system, lie},
		Properties: slices.Concat(invariant.All(), relation.All()),
	}
}

func differentialAt(stage model.Stage) fingerprint.Fingerprint {
	return fingerprint.Fingerprint{Property: properties.Differential, Stage: stage}
}

var differentialActuate = differentialAt(model.StageActuate)

var moreImportantForm = []string{
	"Node node-1 allocatable.pods=2",
	"PodDisruptionBudget budget-1",
	"PodDisruptionBudget budget-2",
	"Pod a nodeName=node-1",
	"Pod b nodeName=node-1 priority=2",
	"Pod p priority=1",
}

// exact lists clusters, with noise around them, and the one smallest form of
// each: worked out by hand, one line for each object.
// What every pod has is left out: see form.
var exact = []struct {
	name    string
	witness string // a case
	nodes   int    // of noise
	lie     func(c *model.Cluster, o *model.Observation)
	want    fingerprint.Fingerprint
	change  func(c *model.Cluster)
	form    []string
}{
	{
		name:    "a pod without labels is in no budget",
		witness: "finding-unlabelled-pod",
		nodes:   12,
		want:    fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Known: "unlabelled-pod"},
		form: []string{
			"Node node-1 allocatable.pods=1",
			"PodDisruptionBudget budget-1 selector={}",
			"Pod a nodeName=node-1",
			"Pod p priority=1",
		},
	},
	{
		name:    "two budgets in two orders",
		witness: "finding-budget-order",
		nodes:   12,
		want:    fingerprint.Fingerprint{Property: "order-does-not-matter", Stage: model.StageDryRun, Known: "budget-order"},
		form: []string{
			"Node node-1 allocatable.pods=2",
			"PodDisruptionBudget budget-1 selector.matchLabels.tier=a",
			"PodDisruptionBudget budget-2 selector.matchLabels.app=a disruptionsAllowed=1",
			"Pod a labels.app=a labels.tier=a nodeName=node-1",
			"Pod b labels.app=a nodeName=node-1",
			"Pod p priority=1",
		},
	},
	{
		name:    "a host port used twice",
		witness: "finding-host-ports-forgotten",
		nodes:   12,
		want:    fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Known: "host-ports-forgotten"},
		form: []string{
			"Node node-1 allocatable.pods=2",
			"Pod a containers[0].ports[0].containerPort=80 containers[0].ports[0].hostPort=80 nodeName=node-1",
			"Pod b containers[0].ports[0].containerPort=80 containers[0].ports[0].hostPort=80 nodeName=node-1 priority=1",
			"Pod p containers[0].ports[0].containerPort=80 containers[0].ports[0].hostPort=80 priority=1",
		},
	},
	{
		name:    "a terminating victim",
		witness: "finding-terminating-victim-violates-budget",
		nodes:   12,
		want:    fingerprint.Fingerprint{Property: "violations-recounted", Stage: model.StageDryRun, Known: "terminating-victim-violates-budget"},
		form: []string{
			"Node node-1 allocatable.pods=1",
			"PodDisruptionBudget budget-1 selector.matchLabels.app=a",
			"Pod a deletionTimestamp=2024-01-01T01:00:00Z labels.app=a nodeName=node-1",
			"Pod p priority=1",
		},
	},
	{
		name:    "no candidates wanted",
		witness: "finding-zero-candidates",
		nodes:   6,
		want:    fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageCandidates, Known: "zero-candidates"},
		form: []string{
			"Case minCandidateNodesAbsolute=0",
			"Node node-1 allocatable.pods=1",
			"Pod a nodeName=node-1",
			"Pod p priority=1",
		},
	},
	{
		name:    "deletes a more important pod where there are two budgets",
		witness: "finding-budget-order",
		nodes:   12,
		lie:     deletesMoreImportant,
		want:    differentialActuate,
		form:    moreImportantForm,
	},
	{
		name:    "spares the last of several victims",
		witness: "budget-of-two-pays-for-both",
		nodes:   12,
		lie:     sparesLast,
		want:    differentialActuate,
		form: []string{
			"Node node-1 allocatable.memory=2 allocatable.pods=2",
			"Pod a containers[0].resources.requests.memory=1 nodeName=node-1",
			"Pod b containers[0].resources.requests.memory=1 nodeName=node-1",
			"Pod p containers[0].resources.requests.memory=2 priority=1",
		},
	},
	{
		name:    "a label by its value and a number by its size",
		witness: "fewest-violations-decides",
		nodes:   12,
		lie:     failsOnDisk,
		want:    differentialActuate,
		change: func(c *model.Cluster) {
			c.Nodes[0].Labels["disk"] = "odd"
		},
		form: []string{
			"Node node-1 labels.disk=odd allocatable.memory=300 allocatable.pods=1",
			"Pod a nodeName=node-1",
			"Pod p containers[0].resources.requests.memory=300 priority=1",
		},
	},
	{
		name:    "misjudges a taint",
		witness: "basic-preemption",
		nodes:   12,
		lie:     toleratesLater,
		want:    differentialAt(model.StageFilter),
		change: func(c *model.Cluster) {
			c.Nodes[1].Spec.Taints = append(c.Nodes[1].Spec.Taints, v1.Taint{Key: "dedicated", Value: "gpu", Effect: v1.TaintEffectNoExecute})
		},
		form: []string{
			"Node node-1 taints[0].effect=NoExecute taints[0].key=dedicated allocatable.pods=1",
			"Pod p",
		},
	},
	{
		name:    "refuses where a victim is terminating",
		witness: "finding-terminating-victim-violates-budget",
		nodes:   12,
		lie:     refuses,
		want:    differentialAt(model.StageEligible),
		form: []string{
			"Node node-1 allocatable.pods=1",
			"Pod a deletionTimestamp=2024-01-01T01:00:00Z nodeName=node-1",
			"Pod p priority=1",
		},
	},
	{
		name:    "tries one potential node less",
		witness: "basic-preemption",
		nodes:   12,
		lie:     triesFewer,
		want:    differentialAt(model.StagePotential),
		form: []string{
			"Node node-1 allocatable.pods=1",
			"Node node-2 allocatable.pods=1",
			"Pod a nodeName=node-1",
			"Pod b nodeName=node-2",
			"Pod p",
		},
	},
	{
		name:    "counts the violations of two victims twice",
		witness: "budget-of-one-pays-for-one-victim",
		nodes:   12,
		lie:     countsTwice,
		want:    differentialAt(model.StageDryRun),
		form: []string{
			"Node node-1 allocatable.memory=2 allocatable.pods=2",
			"PodDisruptionBudget budget-1 selector.matchLabels.app=a",
			"Pod a containers[0].resources.requests.memory=1 nodeName=node-1",
			"Pod b labels.app=a containers[0].resources.requests.memory=1 nodeName=node-1",
			"Pod p containers[0].resources.requests.memory=2 priority=1",
		},
	},
	{
		name:    "loses one of three candidates",
		witness: "each-criterion-names-another-node",
		nodes:   12,
		lie:     losesCandidate,
		want:    differentialAt(model.StageCandidates),
		form: []string{
			"Node node-1 allocatable.pods=1",
			"Node node-2 allocatable.pods=1",
			"Node node-3 allocatable.pods=1",
			"Pod a nodeName=node-1",
			"Pod b nodeName=node-2",
			"Pod c nodeName=node-3",
			"Pod p priority=1",
		},
	},
	{
		name:    "picks the more important victim",
		witness: "lowest-top-priority-decides",
		nodes:   12,
		lie:     picksMoreImportant,
		want:    differentialAt(model.StagePick),
		form: []string{
			"Node node-1 allocatable.pods=1",
			"Node node-2 allocatable.pods=1",
			"Pod a nodeName=node-1",
			"Pod b nodeName=node-2 priority=1",
			"Pod p priority=2",
		},
	},
}

func TestExactMinima(t *testing.T) {
	for _, test := range exact {
		t.Run(test.name, func(t *testing.T) {
			s, err := corpus.Load("../cases/" + test.witness + ".yaml")
			require.NoError(t, err)
			c := inNoise(t, s.Cases[0].Cluster, test.nodes)
			if test.change != nil {
				test.change(c)
			}
			before := c.DeepCopy()
			checker := newChecker(t, test.lie)
			r, err := Minimise(t.Context(), checker, c, test.want, Options{})
			require.NoError(t, err)
			require.Equal(t, test.form, form(t, r.Cluster))
			require.True(t, same(before, c), "the cluster itself stays as it is")
			require.True(t, test.want.Covers(fingerprint.OfFinding(&r.Finding)))
			requireMinimal(t, checker, r, test.want)
			t.Log(r.Checks, "checks")

			again, err := Minimise(t.Context(), checker, c, test.want, Options{})
			require.NoError(t, err)
			require.Equal(t, r.Checks, again.Checks)
			require.Equal(t, r.Needs, again.Needs)
			require.True(t, same(r.Cluster, again.Cluster))
		})
	}
}

// requireMinimal holds a result to its certificate: it has the finding, and no
// step from it that the API server accepts keeps it.
func requireMinimal(t *testing.T, checker *properties.Checker, r *Result, want fingerprint.Fingerprint) {
	t.Helper()
	checker = narrowed(checker, want) // to be quick
	has := func(c *model.Cluster) bool {
		require.NoError(t, apiserver.Admit(c.DeepCopy()))
		found, err := checker.Check(t.Context(), c)
		return err == nil && slices.ContainsFunc(fingerprint.Of(found), want.Covers)
	}
	require.True(t, r.Minimal)
	require.True(t, has(r.Cluster))
	tried := 0
	for _, f := range families {
		for _, s := range f(r.Cluster) {
			if next := s.take(r.Cluster); next != nil {
				tried++
				assert.False(t, has(next), s.what)
			}
		}
	}
	require.Positive(t, tried)
	require.Len(t, r.Needs, tried)
}

// A dump of 200 nodes with one lie somewhere comes down in few checks, as most of
// it goes in large chunks.
func TestLargeDumpTakesFewChecks(t *testing.T) {
	const most = 250
	s, err := corpus.Load("../cases/finding-budget-order.yaml")
	require.NoError(t, err)
	c := inNoise(t, s.Cases[0].Cluster, 198)
	require.Len(t, c.Nodes, 200)
	require.Greater(t, len(c.Pods), 3000)
	r, err := Minimise(t.Context(), newChecker(t, deletesMoreImportant), c, differentialActuate, Options{})
	require.NoError(t, err)
	require.True(t, r.Minimal)
	require.Equal(t, moreImportantForm, form(t, r.Cluster))
	require.LessOrEqual(t, r.Checks, most)
	t.Log(r.Checks, "checks")
}

// Whatever generated cluster a bug shows in, what is left is about as small.
func TestGeneratedClustersBecomeSmall(t *testing.T) {
	checker := newChecker(t, sparesLast)
	forms := map[string]int{}
	for seed := uint64(1400); len(forms) == 0 || forms["all"] < 10; seed++ {
		r, err := Minimise(t.Context(), checker, generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false}), differentialActuate, Options{})
		if errors.Is(err, ErrNotFound) {
			continue
		}
		require.NoError(t, err)
		require.True(t, r.Minimal)
		require.LessOrEqual(t, len(r.Cluster.Nodes), 1, seed)
		require.LessOrEqual(t, len(r.Cluster.Pods), 3, seed)
		require.LessOrEqual(t, r.Checks, 250, seed)
		forms["all"]++
		forms[strings.Join(form(t, r.Cluster), "\n")]++
	}
	require.Less(t, len(forms)-1, 5, forms)
}

func TestInterruptedGivesWhatItHas(t *testing.T) {
	s, err := corpus.Load("../cases/budget-of-two-pays-for-both.yaml")
	require.NoError(t, err)
	c := inNoise(t, s.Cases[0].Cluster, 12)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	checker := newChecker(t, func(c *model.Cluster, o *model.Observation) {
		if asked++; asked == 20 {
			cancel()
		}
		sparesLast(c, o)
	})
	r, err := Minimise(ctx, checker, c, differentialActuate, Options{})
	require.NoError(t, err)
	require.False(t, r.Minimal)
	require.Empty(t, r.Needs)
	require.Less(t, len(r.Cluster.Pods), len(c.Pods))
	require.NoError(t, apiserver.Admit(r.Cluster.DeepCopy()))
	found, err := checker.Check(t.Context(), r.Cluster)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(fingerprint.Of(found), differentialActuate.Covers))
}

func TestNothingToMinimise(t *testing.T) {
	s, err := corpus.Load("../cases/basic-preemption.yaml")
	require.NoError(t, err)
	_, err = Minimise(t.Context(), newChecker(t, nil), s.Cases[0].Cluster, differentialActuate, Options{})
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, "agrees")

	bad := s.Cases[0].Cluster.DeepCopy()
	bad.Nodes = nil
	_, err = Minimise(t.Context(), newChecker(t, nil), bad, differentialActuate, Options{})
	require.Error(t, err)
	require.False(t, errors.Is(err, ErrNotFound))
}

// A panic of the model is minimised like a finding, and does not become another.
func TestFailuresAreMinimised(t *testing.T) {
	s, err := corpus.Load("../cases/finding-budget-order.yaml")
	require.NoError(t, err)
	checker := newChecker(t, nil)
	checker.Decide = func(c *model.Cluster) (*answers.Set, error) {
		if len(c.Nodes) > 1 {
			panic("two nodes")
		}
		panic("one node")
	}
	r, err := Minimise(t.Context(), checker, s.Cases[0].Cluster, fingerprint.Fingerprint{Property: fingerprint.Failed}, Options{})
	require.NoError(t, err)
	require.True(t, r.Minimal)
	require.Equal(t, []string{"Node node-1 allocatable.pods=1", "Node node-2 allocatable.pods=1", "Pod p"}, form(t, r.Cluster))
	require.Contains(t, r.Finding.Detail, "two nodes")
	require.Contains(t, r.Needs[0].Becomes, "one node")
}

func TestExplains(t *testing.T) {
	s, err := corpus.Load("../cases/finding-empty-selector.yaml")
	require.NoError(t, err)
	r, err := Minimise(t.Context(), newChecker(t, nil), s.Cases[0].Cluster,
		fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Known: "empty-selector"}, Options{})
	require.NoError(t, err)
	becomes := map[string]string{}
	for _, n := range r.Needs {
		becomes[n.Step] = n.Becomes
	}
	require.Equal(t, Agrees, becomes["without Pod default/a"])
	require.Contains(t, becomes["Pod default/a: without metadata.labels"], "unlabelled-pod")
	require.Equal(t, "PodDisruptionBudget default/budget-1: status.disruptionsAllowed 0 -> 1", r.Neighbour.Edit)
	found, err := newChecker(t, nil).Check(t.Context(), r.Neighbour.Cluster)
	require.NoError(t, err)
	require.Empty(t, found.Findings)
}
