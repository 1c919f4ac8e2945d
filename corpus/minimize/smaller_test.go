package minimize

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// unit is what the generators' clusters count CPU in, in thousandths of a core.
const unit = 500

// full is a cluster of one node that is full of pods of one unit, and a preemptor
// of one unit.
func full(pods int) *model.Cluster {
	zero, one := int32(0), int32(1)
	pod := func(name, node string, priority *int32) *v1.Pod {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{NodeName: node, Priority: priority, Containers: []v1.Container{{
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: quantity(v1.ResourceCPU, unit)}},
		}}}}
		if node != "" {
			p.Status.StartTime = minute(epoch.Unix())
		}
		return p
	}
	c := &model.Cluster{
		Nodes: []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: quantity(v1.ResourceCPU, int64(unit*pods)), v1.ResourcePods: quantity(v1.ResourcePods, 110),
		}}}},
		Preemptor: pod("p", "", &one),
	}
	for i := range pods {
		c.Pods = append(c.Pods, pod(letter(i), "node-1", &zero))
	}
	return c
}

func threePods() *model.Cluster { return full(3) }

// liesOnOddPods forgets to delete the victims where there is one pod, or three.
func liesOnOddPods(c *model.Cluster, o *model.Observation) {
	if preempts(o) && len(c.Pods)%2 == 1 {
		o.Actuation.Deleted = nil
	}
}

// One step after the other, three pods become two, which lose the finding. Only
// a search finds that one alone has it.
func TestSearchLeavesALocalMinimum(t *testing.T) {
	checker := newChecker(t, liesOnOddPods)
	stuck, err := Minimise(t.Context(), checker, threePods(), differentialActuate, Options{})
	require.NoError(t, err)
	require.True(t, stuck.Minimal)
	require.Len(t, stuck.Cluster.Pods, 3)
	require.Nil(t, stuck.Smallest)

	r, err := Minimise(t.Context(), checker, threePods(), differentialActuate, Options{Certify: 1000})
	require.NoError(t, err)
	requireMinimal(t, checker, r, differentialActuate)
	require.Equal(t, []string{"Node node-1 allocatable.pods=1", "Pod a nodeName=node-1", "Pod p priority=1"}, form(t, r.Cluster))
	require.True(t, r.Smallest.Complete)
	require.NotNil(t, r.Neighbour, "explained anew")
	require.Greater(t, r.Checks, stuck.Checks)
}

// shape tells what matters of a cluster: for each node what it lacks and what
// each pod on it is, and the budgets.
func shape(c *model.Cluster) string {
	wants := requests(c.Preemptor)
	budgets := func(p *v1.Pod) string {
		var names []string
		for i, b := range c.PodDisruptionBudgets {
			selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			if err == nil && selector.Matches(labels.Set(p.Labels)) {
				names = append(names, fmt.Sprint(i))
			}
		}
		return strings.Join(names, "+")
	}
	taken := used(c.Pods)
	var nodes []string
	for _, n := range c.Nodes {
		inUse := taken[n.Name][v1.ResourceCPU]
		lack := wants.Cpu().MilliValue() - n.Status.Allocatable.Cpu().MilliValue() + inUse.MilliValue()
		var pods []string
		for _, p := range c.Pods {
			size := requests(p)
			switch {
			case p.Status.NominatedNodeName == n.Name:
				pods = append(pods, fmt.Sprintf("nominated equal=%t", model.Priority(p) == model.Priority(c.Preemptor)))
			case p.Spec.NodeName == n.Name:
				pods = append(pods, fmt.Sprintf("size %d lowest=%t equal=%t started=%t terminating=%t budgets=%s", size.Cpu().MilliValue()/unit,
					model.Priority(p) == -1<<31, model.Priority(p) == model.Priority(c.Preemptor), p.Status.StartTime != nil, p.DeletionTimestamp != nil, budgets(p)))
			}
		}
		nodes = append(nodes, fmt.Sprint(min(lack, inUse.MilliValue()+unit)/unit, slices.Sorted(slices.Values(pods))))
	}
	slices.Sort(nodes)
	for _, b := range c.PodDisruptionBudgets {
		nodes = append(nodes, fmt.Sprint("allows ", min(b.Status.DisruptionsAllowed, 1)))
	}
	return strings.Join(nodes, "; ")
}

// What is searched below a finding is every smaller cluster: those that another
// enumeration, which knows nothing of classes, makes by hand.
func TestSearchMissesNoSmallerCluster(t *testing.T) {
	// A cluster of two nodes, a pod and a budget, of which everything is needed.
	c := full(1)
	node := c.Nodes[0].DeepCopy()
	node.Name = "node-2"
	c.Nodes = append(c.Nodes, node)
	c.Pods[0].Labels = map[string]string{"app": "a"}
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "budget-1"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}}
	require.NoError(t, apiserver.Admit(c))

	var mu sync.Mutex
	seen := map[string]bool{}
	checker := newChecker(t, nil)
	checker.Properties = nil
	checker.Decide = func(c *model.Cluster) (*answers.Set, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[shape(c)] = true
		if len(c.Nodes) == 2 && len(c.Pods) == 1 && len(c.PodDisruptionBudgets) == 1 {
			panic("all needed")
		}
		return answers.Decide(c, answers.Documented())
	}
	failed := fingerprint.Fingerprint{Property: fingerprint.Failed}
	r, err := Minimise(t.Context(), checker, c, failed, Options{Certify: 1000})
	require.NoError(t, err)
	require.True(t, r.Minimal)
	require.True(t, r.Smallest.Complete)
	require.Equal(t, r.Smallest.Classes, r.Smallest.Searched)
	require.Empty(t, r.Smallest.Beyond)

	made := map[string]bool{}
	byHand(func(c *model.Cluster) {
		require.NoError(t, apiserver.Admit(c))
		if len(c.Pods) > 0 && len(c.PodDisruptionBudgets) > 0 && len(c.Nodes) == 2 {
			return // not smaller
		}
		made[shape(c)] = true
		require.True(t, seen[shape(c)], shape(c))
		_, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
	})
	require.Greater(t, len(made), 30)
	t.Log(len(made), "shapes,", r.Smallest)
}

// byHand makes clusters of one node or two, with no pod or one, with no budget or
// one: of sizes 1 and 2, lacking 1 or 2.
func byHand(yield func(c *model.Cluster)) {
	lacks := [][]int64{{1}, {2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}}
	base := func(lack []int64, taken int64) *model.Cluster {
		c := full(0)
		c.Preemptor.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = quantity(v1.ResourceCPU, 2*unit)
		plain := c.Nodes[0]
		c.Nodes = nil
		for i, l := range lack {
			n := plain.DeepCopy()
			n.Name = fmt.Sprint("node-", i+1)
			n.Status.Allocatable[v1.ResourceCPU] = quantity(v1.ResourceCPU, unit*(2-l+taken))
			c.Nodes, taken = append(c.Nodes, n), 0 // the pod is on the first
		}
		return c
	}
	for _, lack := range lacks {
		yield(base(lack, 0))
		for size := int64(1); size <= 2; size++ {
			for _, change := range []func(c *model.Cluster, p *v1.Pod){
				func(*model.Cluster, *v1.Pod) {},
				func(c *model.Cluster, p *v1.Pod) { lowest := int32(-1 << 31); p.Spec.Priority = &lowest },
				func(c *model.Cluster, p *v1.Pod) { p.Spec.Priority = c.Preemptor.Spec.Priority },
				func(c *model.Cluster, p *v1.Pod) { p.Status.StartTime = nil },
				func(c *model.Cluster, p *v1.Pod) {
					grace := int64(30)
					p.DeletionTimestamp, p.DeletionGracePeriodSeconds = minute(epoch.Unix()), &grace
				},
				func(c *model.Cluster, p *v1.Pod) { // the budget allows no disruption
					p.Labels = map[string]string{"app": "a"}
					c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "b"},
						Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: p.Labels}}}}
				},
				func(c *model.Cluster, p *v1.Pod) { // the budget allows one
					p.Labels = map[string]string{"app": "a"}
					c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "b"},
						Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: p.Labels}},
						Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}}}
				},
			} {
				c := base(lack, size)
				p := full(1).Pods[0]
				p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = quantity(v1.ResourceCPU, unit*size)
				c.Pods = []*v1.Pod{p}
				change(c, p)
				yield(c)
			}
		}
		for _, equal := range []bool{false, true} {
			c := base(lack, 0)
			p := full(1).Pods[0]
			p.Spec.NodeName, p.Status.StartTime, p.Status.NominatedNodeName = "", nil, "node-1"
			if equal {
				p.Spec.Priority = c.Preemptor.Spec.Priority
			}
			c.Pods = []*v1.Pod{p}
			yield(c)
		}
	}
}

// The bounds below a cluster hold exactly what is smaller: by comparison with
// all of the bound.
func TestSmallerThan(t *testing.T) {
	for _, size := range [][3]int{{1, 0, 0}, {1, 2, 1}, {2, 2, 0}, {2, 3, 1}, {3, 2, 2}, {4, 9, 5}} {
		c := &model.Cluster{
			Nodes: make([]*v1.Node, size[0]), Pods: make([]*v1.Pod, size[1]), PodDisruptionBudgets: make([]*policyv1.PodDisruptionBudget, size[2]),
		}
		for _, bound := range bounded.Bounds(1) {
			want := map[string]int{}
			for class := range bounded.Classes(bound) {
				s := class.Cluster()
				if len(s.Nodes) <= size[0] && len(s.Pods) <= size[1] && len(s.PodDisruptionBudgets) <= size[2] &&
					len(s.Nodes)+len(s.Pods)+len(s.PodDisruptionBudgets) < size[0]+size[1]+size[2] {
					want[shape(s)]++
				}
			}
			got := map[string]int{}
			for class := range bounded.Classes(below(bound, c)...) {
				got[shape(class.Cluster())]++
			}
			require.Equal(t, want, got, "%v below %v", bound, size)
		}
	}
}
