package sweep

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
)

// gapPod is a pod of priority and cpus on node-0, selected by the budgets "a" and
// "b" as its labels say.
func gapPod(name string, priority int32, cpus int64, labels ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"x": "y"}}}
	for _, l := range labels {
		p.Labels[l] = "yes"
	}
	p.Spec.Priority, p.Spec.SchedulerName, p.Spec.NodeName = &priority, model.DefaultSchedulerName, "node-0"
	p.Spec.Containers = []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI)}}}}
	p.Status.Phase = v1.PodRunning
	p.Status.StartTime = &metav1.Time{Time: metav1.Now().AddDate(-1, 0, 0)}
	return p
}

// gapCluster has one node, which the pods fill, and a preemptor of priority 100.
func gapCluster(need int64, pods ...*v1.Pod) *model.Cluster {
	full := int64(0)
	for _, p := range pods {
		full += p.Spec.Containers[0].Resources.Requests.Cpu().Value()
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
	node.Status.Allocatable = v1.ResourceList{
		v1.ResourceCPU: *resource.NewQuantity(full, resource.DecimalSI), v1.ResourcePods: resource.MustParse("110")}
	preemptor := gapPod("preemptor", 100, need)
	preemptor.Spec.NodeName, preemptor.Status = "", v1.PodStatus{Phase: v1.PodPending}
	return &model.Cluster{Nodes: []*v1.Node{node}, Pods: pods, Preemptor: preemptor}
}

func gapBudget(name string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{name: "yes"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

func gapOf(t *testing.T, c *model.Cluster, lie func(*model.Observation)) *GreedyGap {
	r, err := checktest.Checker(t).Check(context.Background(), c)
	require.NoError(t, err)
	require.NotNil(t, r.Observation.Pick)
	if lie != nil {
		lie(r.Observation)
	}
	var g GreedyGap
	require.NoError(t, g.Add(r))
	return &g
}

// victimsAre makes a scheduler say that it preempted these.
func victimsAre(names ...string) func(*model.Observation) {
	return func(o *model.Observation) {
		o.Pick.Victims = nil
		for _, n := range names {
			o.Pick.Victims = append(o.Pick.Victims, "default/"+n)
		}
	}
}

func TestGreedyGap(t *testing.T) {
	// The reprieve keeps the older of equals; that is the big one, so both small
	// ones have to go where the big one alone would do.
	knapsack := gapCluster(2, gapPod("big", 1, 2), gapPod("small-0", 1, 1), gapPod("small-1", 1, 1))
	knapsack.Pods[0].Status.StartTime = &metav1.Time{Time: metav1.Now().AddDate(-2, 0, 0)}

	// The budget allows one disruption. The important pod takes it, so the other
	// guarded pod counts as a violation and is given back first; then the
	// important one no longer fits in. The best takes the other one.
	cascade := gapCluster(1, gapPod("important", 50, 1, "a"), gapPod("humble", 1, 1, "a"))
	cascade.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{gapBudget("a", 1)}

	equal := gapCluster(1, gapPod("important", 50, 1), gapPod("humble", 1, 1))

	for _, test := range []struct {
		name    string
		cluster *model.Cluster
		lie     func(*model.Observation)
		worseBy string // "" is the best
		gaps    [3]int // violations, priorities, victims
	}{
		{"equal", equal, nil, "", [3]int{}},
		{"knapsack", knapsack, nil, "smallest sum of priorities", [3]int{0, 0, 1}},
		{"knapsack, all preempted", knapsack, victimsAre("big", "small-0", "small-1"), "smallest sum of priorities", [3]int{0, 0, 2}},
		{"cascade", cascade, nil, "lowest highest-priority victim", [3]int{0, 1, 0}},
		{"cascade, both preempted", cascade, victimsAre("important", "humble"), "fewest budget violations", [3]int{1, 1, 1}},
		{"cascade, the best", cascade, victimsAre("humble"), "", [3]int{}},
		{"the important one", equal, victimsAre("important"), "lowest highest-priority victim", [3]int{0, 1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := gapOf(t, test.cluster, test.lie)
			require.Equal(t, 1, g.Measured)
			if test.worseBy == "" {
				require.Equal(t, 1, g.Optimal())
				require.Empty(t, g.WorseBy)
			} else {
				require.Zero(t, g.Optimal())
				require.Equal(t, map[string]int{test.worseBy: 1}, g.WorseBy)
			}
			require.Equal(t, map[int]int{test.gaps[0]: 1}, g.Violations)
			require.Equal(t, map[int]int{test.gaps[1]: 1}, g.Highest)
			require.Equal(t, map[int]int{test.gaps[2]: 1}, g.Victims)
		})
	}

	misfit := gapOf(t, knapsack, victimsAre("small-0"))
	require.Equal(t, 1, misfit.Misfits)
	require.Zero(t, misfit.Measured)

	var many []*v1.Pod
	for i := range MaxBruteForce + 1 {
		many = append(many, gapPod("pod-"+string(rune('a'+i)), 1, 1))
	}
	require.Equal(t, 1, gapOf(t, gapCluster(1, many...), nil).TooLarge)
	require.Equal(t, 1, gapOf(t, gapCluster(1, many[:MaxBruteForce]...), nil).Optimal())
}

// Over many clusters every preemption is counted, and none beats the best.
func TestGreedyGapOfGeneratedClusters(t *testing.T) {
	checker := checktest.Checker(t)
	var whole, left, right GreedyGap
	preempted := 0
	for seed := range uint64(testsize.Times(400)) {
		r, err := checker.Check(context.Background(), generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false}))
		require.NoError(t, err)
		if r.Unmodelled == nil && r.Observation.Pick != nil && r.Cluster.Settings.Extenders == nil {
			preempted++
		}
		require.NoError(t, whole.Add(r))
		half := &left
		if seed%2 == 1 {
			half = &right
		}
		require.NoError(t, half.Add(r))
	}
	require.Equal(t, preempted, whole.Measured+whole.TooLarge+whole.Misfits)
	require.Greater(t, whole.Optimal(), whole.Measured/2)
	require.Less(t, whole.Optimal(), whole.Measured)
	for gap := range whole.Violations {
		require.GreaterOrEqual(t, gap, 0, "more violations are worse than anything")
	}
	left.Merge(right)
	require.Equal(t, whole, left)

	var table strings.Builder
	whole.WriteTable(&table)
	t.Log(table.String())
	require.Contains(t, table.String(), "MORE THAN THE BEST")
}
