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
	"github.com/preemptcheck/preemptcheck/properties"
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
		Properties: slices.Concat(properties.Invariants(), properties.Relations()),
	}
}

// deletes says that a pod was deleted too.
func deletes(o *model.Observation, p *v1.Pod) {
	o.Actuation.Deleted = append(o.Actuation.Deleted, model.Key(p))
	slices.Sort(o.Actuation.Deleted)
}

func preempts(o *model.Observation) bool { return o.Actuation != nil && len(o.Actuation.Deleted) > 0 }

// deletesMoreImportant deletes a pod of higher priority besides the victims, if
// there are two budgets.
func deletesMoreImportant(c *model.Cluster, o *model.Observation) {
	for _, p := range c.Pods {
		if len(c.PodDisruptionBudgets) >= 2 && preempts(o) && model.Priority(p) > model.Priority(c.Preemptor) {
			deletes(o, p)
			return
		}
	}
}

// sparesLast does not delete the last of several victims.
func sparesLast(_ *model.Cluster, o *model.Observation) {
	if preempts(o) && len(o.Actuation.Deleted) > 1 {
		o.Actuation.Deleted = o.Actuation.Deleted[:len(o.Actuation.Deleted)-1]
	}
}

// failsOnDisk forgets the nomination where a node is labelled disk=odd and the
// preemptor asks for at least 300 bytes of memory.
func failsOnDisk(c *model.Cluster, o *model.Observation) {
	memory := c.Preemptor.Spec.Containers[0].Resources.Requests[v1.ResourceMemory]
	odd := func(n *v1.Node) bool { return n.Labels["disk"] == "odd" }
	if preempts(o) && slices.ContainsFunc(c.Nodes, odd) && memory.Value() >= 300 {
		o.Actuation.Nomination, o.Actuation.NominatedNode = model.NominationKept, ""
	}
}

var differentialActuate = fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageActuate}

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
			r, err := Minimise(t.Context(), checker, c, test.want)
			require.NoError(t, err)
			require.Equal(t, test.form, form(t, r.Cluster))
			require.True(t, same(before, c), "the cluster itself stays as it is")
			require.Equal(t, test.want, fingerprint.OfFinding(&r.Finding))
			requireMinimal(t, checker, r, test.want)
			t.Log(r.Checks, "checks")

			again, err := Minimise(t.Context(), checker, c, test.want)
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
		return err == nil && slices.Contains(fingerprint.Of(found), want)
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
	r, err := Minimise(t.Context(), newChecker(t, deletesMoreImportant), c, differentialActuate)
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
		r, err := Minimise(t.Context(), checker, generators.FromSeed(seed), differentialActuate)
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
	r, err := Minimise(ctx, checker, c, differentialActuate)
	require.NoError(t, err)
	require.False(t, r.Minimal)
	require.Empty(t, r.Needs)
	require.Less(t, len(r.Cluster.Pods), len(c.Pods))
	require.NoError(t, apiserver.Admit(r.Cluster.DeepCopy()))
	found, err := checker.Check(t.Context(), r.Cluster)
	require.NoError(t, err)
	require.Contains(t, fingerprint.Of(found), differentialActuate)
}

func TestNothingToMinimise(t *testing.T) {
	s, err := corpus.Load("../cases/basic-preemption.yaml")
	require.NoError(t, err)
	_, err = Minimise(t.Context(), newChecker(t, nil), s.Cases[0].Cluster, differentialActuate)
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, "agrees")

	bad := s.Cases[0].Cluster.DeepCopy()
	bad.Nodes = nil
	_, err = Minimise(t.Context(), newChecker(t, nil), bad, differentialActuate)
	require.Error(t, err)
	require.False(t, errors.Is(err, ErrNotFound))
}

// A panic of the model is minimised like a finding, and does not become another.
func TestFailuresAreMinimised(t *testing.T) {
	s, err := corpus.Load("../cases/finding-budget-order.yaml")
	require.NoError(t, err)
	checker := newChecker(t, nil)
	checker.Decide = func(c *model.Cluster) (*model.Decision, error) {
		if len(c.Nodes) > 1 {
			panic("two nodes")
		}
		panic("one node")
	}
	r, err := Minimise(t.Context(), checker, s.Cases[0].Cluster, fingerprint.Fingerprint{Property: fingerprint.Failed})
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
		fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Known: "empty-selector"})
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
