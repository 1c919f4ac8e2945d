package relation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

func cpuNode(name string, cpu int64) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), v1.ResourcePods: *resource.NewQuantity(110, resource.DecimalSI)}
	return n
}

// cpuPod starts the later the higher its number.
func cpuPod(node string, number int, priority int32, cpu int64, labels ...string) *v1.Pod {
	start := metav1.Unix(int64(1_000_000+number), 0)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s%d", node, number), Labels: map[string]string{"app": "a"}}}
	for _, l := range labels {
		p.Labels[l] = "true"
	}
	p.Spec = v1.PodSpec{NodeName: node, Priority: &priority, SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{Name: "main"}}}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI)}
	if node != "" {
		p.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: &start}
	}
	return p
}

func budgetOf(label string, allowed int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: label}}
	b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: metav1.LabelSelectorOpExists}}}
	b.Status.DisruptionsAllowed = allowed
	return b
}

// The counterexamples that limit the relations are real, and no findings.
func TestRelationLimits(t *testing.T) {
	const low = math.MinInt32
	sums := &model.Cluster{
		Nodes: []*v1.Node{cpuNode("a", 6), cpuNode("b", 6)},
		Pods: []*v1.Pod{cpuPod("a", 0, low+3, 3), cpuPod("a", 1, low+3, 3),
			cpuPod("b", 0, low+3, 2), cpuPod("b", 1, low+1, 2), cpuPod("b", 2, low+1, 2)},
		Preemptor: cpuPod("", 0, low+10, 6),
	}
	ranks := &model.Cluster{
		Nodes: []*v1.Node{cpuNode("a", 6), cpuNode("b", 6)},
		Pods: []*v1.Pod{cpuPod("a", 0, 9, 2), cpuPod("a", 1, 5, 2), cpuPod("a", 2, 5, 2),
			cpuPod("b", 0, 9, 2), cpuPod("b", 1, 8, 2), cpuPod("b", 2, 1, 2), cpuPod("", 1, 6, 1), cpuPod("", 2, 7, 1)},
		Preemptor: cpuPod("", 0, 10, 6),
	}
	greedy := &model.Cluster{
		Nodes:     []*v1.Node{cpuNode("a", 5)},
		Pods:      []*v1.Pod{cpuPod("a", 0, 1, 3), cpuPod("a", 1, 1, 1), cpuPod("a", 2, 1, 1)},
		Preemptor: cpuPod("", 0, 10, 3),
	}
	sizes := &model.Cluster{
		Nodes:                []*v1.Node{cpuNode("a", 6)},
		Pods:                 []*v1.Pod{cpuPod("a", 0, 1, 1, "x"), cpuPod("a", 1, 1, 3, "x"), cpuPod("a", 2, 1, 1, "x"), cpuPod("a", 3, 1, 1, "x")},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budgetOf("x", 0)},
		Preemptor:            cpuPod("", 0, 10, 3),
	}
	overlap := &model.Cluster{
		Nodes:                []*v1.Node{cpuNode("a", 3)},
		Pods:                 []*v1.Pod{cpuPod("a", 0, 1, 1, "x", "y", "z"), cpuPod("a", 1, 1, 1, "y"), cpuPod("a", 2, 1, 1, "z")},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budgetOf("x", 0), budgetOf("y", 1), budgetOf("z", 1)},
		Preemptor:            cpuPod("", 0, 10, 3),
	}
	system := checktest.System(t)
	for _, test := range []struct {
		relation      relation
		cluster       *model.Cluster
		before, after string // the picks
	}{
		{shiftingPriorities, sums, "{b [default/b0 default/b1 default/b2] 0}", "{a [default/a0 default/a1] 0}"},
		{rankingPriorities, ranks, "{b [default/b0 default/b1 default/b2] 0}", "{a [default/a0 default/a1 default/a2] 0}"},
		{addingCapacity, greedy, "{a [default/a0] 0}", "{a [default/a1 default/a2] 0}"},
		{raisingBudget, sizes, "{a [default/a1] 1}", "{a [default/a0 default/a2 default/a3] 2}"},
		{raisingBudget, overlap, "{a [default/a0 default/a1 default/a2] 1}", "{a [default/a0 default/a1 default/a2] 2}"},
	} {
		s := checktest.Subject(t, system, test.cluster)
		require.Equal(t, test.before, fmt.Sprint(*s.Observation.Pick), test.relation.name)
		occurs := false
		for seed := range uint64(50) {
			v := test.relation.vary(s, rand.New(rand.NewPCG(seed, 0)))
			after, err := system.Observe(context.Background(), v.cluster)
			require.NoError(t, err)
			assert.Empty(t, (&comparison{s, v, after}).findings(), test.relation.name)
			occurs = occurs || after.Pick != nil && fmt.Sprint(*after.Pick) == test.after
		}
		assert.True(t, occurs, "%s: %s never occurs", test.relation.name, test.after)
	}
}

// The same cluster is always given the same relations, varied in the same way, and
// all relations get their share.
func TestSomeRelations(t *testing.T) {
	system := checktest.System(t)
	const clusters, each = 1500, 2
	count := map[string]int{}
	for seed := range uint64(clusters) {
		first, again := Some(generators.FromSeed(seed), each), Some(generators.FromSeed(seed), each)
		require.Len(t, first, each)
		for i := range first {
			require.Equal(t, first[i].Name, again[i].Name)
			count[first[i].Name]++
		}
		require.NotEqual(t, first[0].Name, first[1].Name)
	}
	for _, r := range All() {
		assert.Greater(t, count[r.Name], clusters*each/len(All())/2, r.Name)
	}
	all := Some(generators.FromSeed(0), 100)
	assert.Len(t, all, len(All()))

	s := checktest.Subject(t, system, generators.FromSeed(3))
	for _, r := range relations() {
		one, two := r.vary(s, properties.Random(s.Cluster, r.name)), r.vary(s, properties.Random(generators.FromSeed(3), r.name))
		if one == nil || two == nil {
			assert.Equal(t, one == nil, two == nil, r.name)
			continue
		}
		assert.True(t, slices.EqualFunc(one.cluster.Pods, two.cluster.Pods, func(a, b *v1.Pod) bool { return a.Name == b.Name && a.Spec.NodeName == b.Spec.NodeName }), r.name)
	}
}

// A scheduler that shows only its answer, such as one in a real control plane, is
// compared by that.
func TestRelationsOnAnswersOnly(t *testing.T) {
	truth := checktest.System(t)
	answers := func(_ *model.Cluster, o *model.Observation) {
		*o = model.Observation{System: o.System, ScheduledTo: o.ScheduledTo, CycleError: o.CycleError, Pick: o.Pick, Actuation: o.Actuation}
	}
	for seed := range uint64(300) {
		s := checktest.Subject(t, checktest.Liar{System: truth, Tell: answers}, generators.Ungrouped(seed)).Assuming("empty-selector", "budget-order")
		for _, r := range All() {
			findings, err := r.Check(s)
			require.NoError(t, err)
			assert.Empty(t, findings, "seed %d: %s", seed, r.Name)
		}
	}
	byName := func(c *model.Cluster, o *model.Observation) {
		relationLies["renaming"]["the first name wins"](c, o)
		answers(c, o)
	}
	atPick := 0 // where chance decides between nodes, it may be what is deleted that tells
	for seed := range uint64(300) {
		findings, err := All()[0].Check(checktest.Subject(t, checktest.Liar{System: truth, Tell: byName}, generators.FromSeed(seed)))
		require.NoError(t, err)
		if slices.ContainsFunc(findings, func(f properties.Finding) bool { return f.Stage == model.StagePick }) {
			atPick++
		}
	}
	assert.Greater(t, atPick, 10)
}
