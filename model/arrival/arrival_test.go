package arrival_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
)

// documented decides by the model alone: of nodes that fit it takes the first.
func documented(_ context.Context, c *model.Cluster) (*arrival.Answer, error) {
	d := model.Documented().Decide(c)
	key := model.Key(c.Preemptor)
	switch {
	case len(d.Fits) > 0:
		return &arrival.Answer{Nodes: map[string]string{key: d.Fits[0]}, Ways: len(d.Fits)}, nil
	case d.Eligible == nil || !d.Eligible.OK:
		return &arrival.Answer{}, nil
	}
	r := d.Preempt()
	if r.Node == "" {
		return &arrival.Answer{Why: []arrival.Reason{{Text: "no help"}}}, nil
	}
	o := r.Candidates[r.Node]
	return &arrival.Answer{Nodes: map[string]string{key: r.Node}, Victims: o.Victims, Violates: o.Violates, Cleared: r.Cleared}, nil
}

// of makes a pod one of a workload.
func of(kind, name string) func(*v1.Pod) {
	yes := true
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}
	}
}

// comes are so many pods of a priority that need so many CPUs each.
func comes(name string, n int, priority int32, cpu string, change ...func(*v1.Pod)) *expand.Workload {
	w := &expand.Workload{Ref: workload.Ref{Kind: "ReplicaSet", Namespace: "default", Name: name}}
	for i := range n {
		w.Pods = append(w.Pods, mk.Pod(fmt.Sprintf("%s-%d", name, i+1), priority, append(change, mk.CPU(cpu), of("ReplicaSet", name))...))
	}
	return w
}

// inTurn has the pods come one at a time.
func inTurn(w *expand.Workload) *expand.Workload { w.InTurn = true; return w }

// told is a course in short: "web-1 node-1 -a,b; c pending".
func told(c *arrival.Course) string {
	var all []string
	for _, s := range c.Steps {
		text := strings.TrimPrefix(s.Title(), "default/") + " "
		if node := s.Nodes[model.Key(s.Pods[0].Pod)]; node != "" {
			text += node
		} else {
			text += "pending"
		}
		if len(s.Victims) > 0 {
			text += " -" + strings.ReplaceAll(strings.Join(s.Victims, ","), "default/", "")
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// started is a pod on a node, of which later ones started later.
func started(name string, priority int32, node string, minute int, change ...func(*v1.Pod)) *v1.Pod {
	return mk.Pod(name, priority, append(change, mk.CPU("1"), mk.On(node), mk.Started(minute))...)
}

func TestRun(t *testing.T) {
	two := []any{mk.Node("n1", "2"), mk.Node("n2", "2")}
	full := func(change ...func(*v1.Pod)) []any {
		return append(slices.Clone(two), started("a", 0, "n1", 1, change...), started("b", 1, "n1", 2, change...), started("c", 2, "n2", 3, change...), started("d", 3, "n2", 4, change...))
	}
	for _, test := range []struct {
		name    string
		cluster []any
		coming  []*expand.Workload
		levels  int
		want    string
		pending int
	}{
		{"fits", two, []*expand.Workload{comes("w", 2, 10, "2")}, 3, "w-1 n1; w-2 n2", 0},
		{"fits once", two, []*expand.Workload{comes("w", 3, 10, "2")}, 3, "w-1 n1; w-2 n2; w-3 pending", 1},
		{"bare pods are gone for good", full(), []*expand.Workload{comes("w", 2, 10, "1")}, 3, "w-1 n1 -a; w-2 n1 -b", 0},
		{"a workload's own pods are not preempted", full(), []*expand.Workload{comes("w", 5, 10, "1")}, 3, "w-1 n1 -a; w-2 n1 -b; w-3 n2 -c; w-4 n2 -d; w-5 pending", 1},
		{"higher priority first, whatever the order", full(), []*expand.Workload{comes("low", 1, 9, "1"), comes("high", 1, 10, "1")}, 3, "high-1 n1 -a; low-1 n1 -b", 0},
		{"the preempted preempt in turn", append(slices.Clone(two), started("a", 0, "n1", 1, of("Job", "j")), started("b", 1, "n2", 2, of("ReplicaSet", "r")), mk.Pod("big", 5, mk.CPU("1"), mk.On("n1"), mk.Started(0)), mk.Pod("big2", 5, mk.CPU("1"), mk.On("n2"), mk.Started(0))),
			[]*expand.Workload{comes("w", 1, 10, "1", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n2"} })}, 3,
			"w-1 n2 -b; b-again-1 n1 -a; a-again-2 pending", 1},
		{"no level of the cascade", append(slices.Clone(two), started("a", 0, "n1", 1, of("Job", "j")), started("x", 5, "n1", 0), started("y", 5, "n2", 0), started("z", 5, "n2", 0)),
			[]*expand.Workload{comes("w", 1, 1, "1")}, 0, "w-1 n1 -a", 0},
		{"in turn", two, []*expand.Workload{inTurn(comes("w", 3, 10, "2"))}, 3, "w-1 n1; w-2 n2; w-3 pending", 1},
		{"in turn, the first stays pending", []any{mk.Node("n1", "1")}, []*expand.Workload{inTurn(comes("w", 3, 10, "2"))}, 3, "w-1 pending", 1},
		{"tried again once others have gone", []any{mk.Node("n1", "3"), mk.Pod("x", 0, mk.CPU("3"), mk.On("n1"))},
			[]*expand.Workload{comes("never", 1, 10, "2", func(p *v1.Pod) { p.Spec.PreemptionPolicy = ptr.To(v1.PreemptNever) }), comes("w", 1, 5, "1")}, 3,
			"never-1 pending; w-1 n1 -x; never-1 n1", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := mk.Cluster(nil, test.cluster...)
			for _, n := range c.Nodes {
				n.Labels = map[string]string{v1.LabelHostname: n.Name}
			}
			before := c.DeepCopy()
			course, err := arrival.Run(t.Context(), c, &arrival.Coming{Workloads: test.coming}, documented, arrival.Bounds{Levels: test.levels, Cycles: 100})
			require.NoError(t, err)
			require.Equal(t, test.want, told(course))
			require.Len(t, course.Pending, test.pending)
			require.Equal(t, before, c, "the cluster stays as it is")
		})
	}
}

// A StatefulSet's pod comes back under its name, and preempts in turn what is below it.
func TestStatefulSetComesBackUnderItsName(t *testing.T) {
	c := mk.Cluster(nil, mk.Node("n1", "1"), mk.Node("n2", "1"), started("db-0", 5, "n1", 1, of("StatefulSet", "db")), started("job", 0, "n2", 2))
	for _, n := range c.Nodes {
		n.Labels = map[string]string{v1.LabelHostname: n.Name}
	}
	w := comes("w", 1, 10, "1", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n1"} })
	course, err := arrival.Run(t.Context(), c, &arrival.Coming{Workloads: []*expand.Workload{w}}, documented, arrival.Bounds{Levels: 3, Cycles: 100})
	require.NoError(t, err)
	require.Equal(t, "w-1 n1 -db-0; db-0 n2 -job", told(course))
	require.Len(t, course.Victims, 2)
	require.Equal(t, "db-0", course.Victims[0].Replaced.Name)
	require.Equal(t, 1, course.Victims[1].Level)
	require.Nil(t, course.Victims[1].Replaced)
}

func TestCyclesAreBounded(t *testing.T) {
	c := mk.Cluster(nil, mk.Node("n1", "9"))
	course, err := arrival.Run(t.Context(), c, &arrival.Coming{Workloads: []*expand.Workload{comes("w", 9, 10, "1")}}, documented, arrival.Bounds{Levels: 3, Cycles: 4})
	require.NoError(t, err)
	require.Len(t, course.Steps, 4)
	require.Len(t, course.NotTried, 5)
	require.Empty(t, course.Pending)
}

// budget is one with a status, as the disruption controller writes it.
func budget(spec policyv1.PodDisruptionBudgetSpec, expected, healthy, desired int32) *policyv1.PodDisruptionBudget {
	b := mk.Budget("b", max(healthy-desired, 0), mk.ForApp("a"))
	spec.Selector = b.Spec.Selector
	b.Spec = spec
	b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DesiredHealthy = expected, healthy, desired
	return b
}

func number(s string) *intstr.IntOrString { v := intstr.Parse(s); return &v }

// TestBudgets holds what budgets allow after an arrival against the numbers of the documents.
func TestBudgets(t *testing.T) {
	minAvailable := func(s string) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MinAvailable: number(s)}
	}
	maxUnavailable := func(s string) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MaxUnavailable: number(s)}
	}
	for _, test := range []struct {
		name   string
		budget *policyv1.PodDisruptionBudget
		owner  string // of the 3 pods that it protects: 2 of them go
		spare  int    // CPUs elsewhere
		coming bool   // the budget comes, too, and protects what comes: 2 pods
		want   policyv1.PodDisruptionBudgetStatus
		broken int
	}{
		{"2 go and stay away", budget(minAvailable("1"), 3, 3, 1), "ReplicaSet", 0, false,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 0, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 3}, 0},
		{"2 go against it", budget(minAvailable("3"), 3, 3, 3), "ReplicaSet", 0, false,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 0, CurrentHealthy: 1, DesiredHealthy: 3, ExpectedPods: 3}, 2},
		{"the second goes against it", budget(maxUnavailable("1"), 3, 3, 2), "ReplicaSet", 0, false,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 0, CurrentHealthy: 1, DesiredHealthy: 2, ExpectedPods: 3}, 1},
		{"they come back, after both have gone", budget(maxUnavailable("1"), 3, 3, 2), "ReplicaSet", 2, false,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 3, DesiredHealthy: 2, ExpectedPods: 3}, 1},
		// Of 1 pod 34 % are 1, rounded up.
		{"bare pods are expected no more", budget(maxUnavailable("34%"), 3, 3, 1), "", 0, false,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 1, DesiredHealthy: 0, ExpectedPods: 1}, 0},
		{"only what is allowed is known", mk.Budget("b", 1, mk.ForApp("a")), "ReplicaSet", 0, false,
			policyv1.PodDisruptionBudgetStatus{}, 1},
		// 3 run and 2 come: 5 are expected, of which 3 run at first: none may go.
		{"it comes with its pods", budget(minAvailable("4"), 0, 0, 0), "ReplicaSet", 0, true,
			policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 0, CurrentHealthy: 3, DesiredHealthy: 4, ExpectedPods: 5}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var change []func(*v1.Pod)
			if test.owner != "" {
				change = append(change, of(test.owner, "o"))
			}
			parts := []any{mk.Node("n1", "3")}
			for i := range 3 {
				parts = append(parts, started(fmt.Sprintf("p%d", i), 0, "n1", i+1, append(change, mk.App("a"))...))
			}
			coming := &arrival.Coming{Workloads: []*expand.Workload{comes("w", 2, 10, "1")}}
			if test.spare > 0 {
				parts = append(parts, mk.Node("n2", fmt.Sprint(test.spare)))
				for _, p := range coming.Workloads[0].Pods {
					p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n1"}
				}
			}
			if test.coming {
				coming.Objects = []runtime.Object{test.budget}
				for _, p := range coming.Workloads[0].Pods {
					p.Labels = map[string]string{"app": "a"}
				}
			} else {
				parts = append(parts, test.budget)
			}
			c := mk.Cluster(nil, parts...)
			for _, n := range c.Nodes {
				n.Labels = map[string]string{v1.LabelHostname: n.Name}
			}
			course, err := arrival.Run(t.Context(), c, coming, documented, arrival.Bounds{Levels: 3, Cycles: 100})
			require.NoError(t, err)
			broken := 0
			for _, v := range course.Victims {
				if v.Violates != "" {
					broken++
				}
			}
			require.Len(t, course.Victims, 2)
			require.Equal(t, test.broken, broken)
			got := course.After.PodDisruptionBudgets[0].Status
			got.ObservedGeneration = test.want.ObservedGeneration
			require.Equal(t, test.want, got)
		})
	}
}
