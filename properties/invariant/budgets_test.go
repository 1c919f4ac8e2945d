package invariant

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// evict counts violations one pod after the other. taken says what a violating
// pod takes from its budgets: nothing, what it took before the first one that it
// violates, or a disruption from each.
func evict(limits []limit, pods []int, taken string) (violations int) {
	left := make([]int, len(limits))
	for i, l := range limits {
		left[i] = l.allowed
	}
	for _, p := range pods {
		before, violating := slices.Clone(left), false
		for i, l := range limits {
			if l.members&(1<<p) == 0 || violating && taken == "some" {
				continue
			}
			left[i]--
			violating = violating || left[i] < 0
		}
		if violating {
			violations++
			if taken == "nothing" {
				left = before
			}
		}
	}
	return violations
}

// Every order of the pods and of the budgets, and every reading of what a
// violating pod takes, is within the bounds; and both bounds are reached.
func TestViolationBoundsAreTight(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	apart := 0
	for range 300 {
		limits := make([]limit, 1+random.IntN(3))
		var affected uint64
		for i := range limits {
			limits[i] = limit{members: 1 + random.Uint64N(31), allowed: random.IntN(3)}
			affected |= limits[i].members
		}
		var pods []int
		for p := range 5 {
			if affected&(1<<p) != 0 {
				pods = append(pods, p)
			}
		}
		least, most := bounds(limits, affected)
		lowest, highest := len(pods), 0
		for range 300 {
			random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			random.Shuffle(len(limits), func(i, j int) { limits[i], limits[j] = limits[j], limits[i] })
			for _, taken := range []string{"nothing", "some", "each"} {
				n := evict(limits, pods, taken)
				lowest, highest = min(lowest, n), max(highest, n)
			}
		}
		assert.Equal(t, []int{lowest, highest}, []int{least, most}, "%v", limits)
		if least < most {
			apart++
		}
	}
	assert.Positive(t, apart)
}

// Each way in which a pod costs its budget nothing, and in which it does.
func TestCosts(t *testing.T) {
	always := policyv1.AlwaysAllow
	ready := func(status v1.ConditionStatus) func(*v1.Pod, *policyv1.PodDisruptionBudget) {
		return func(p *v1.Pod, _ *policyv1.PodDisruptionBudget) {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: status}}
		}
	}
	tests := []struct {
		name   string
		change func(p *v1.Pod, b *policyv1.PodDisruptionBudget)
		costs  bool
		// granting makes the answer the other one.
		granting string
	}{
		{"selected", func(*v1.Pod, *policyv1.PodDisruptionBudget) {}, true, ""},
		{"another namespace", func(p *v1.Pod, _ *policyv1.PodDisruptionBudget) { p.Namespace = "other" }, false, ""},
		{"other labels", func(p *v1.Pod, _ *policyv1.PodDisruptionBudget) { p.Labels["app"] = "b" }, false, ""},
		{"no selector", func(_ *v1.Pod, b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil }, false, ""},
		{"empty selector", func(_ *v1.Pod, b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} }, true, "empty-selector"},
		{"no labels", func(p *v1.Pod, b *policyv1.PodDisruptionBudget) {
			p.Labels = nil
			b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist}}}
		}, true, "unlabelled-pod"},
		{"evicted already", func(p *v1.Pod, b *policyv1.PodDisruptionBudget) {
			b.Status.DisruptedPods = map[string]metav1.Time{p.Name: {}}
		}, false, ""},
		{"terminating", func(p *v1.Pod, _ *policyv1.PodDisruptionBudget) { p.DeletionTimestamp = &metav1.Time{} }, false, "terminating-victim-violates-budget"},
		{"pending", func(p *v1.Pod, _ *policyv1.PodDisruptionBudget) { p.Status.Phase = v1.PodPending }, false, "pending-victim-violates-budget"},
		{"ready", func(p *v1.Pod, b *policyv1.PodDisruptionBudget) {
			ready(v1.ConditionTrue)(p, b)
			b.Spec.UnhealthyPodEvictionPolicy = &always
		}, true, ""},
		{"not ready, disrupted application", ready(v1.ConditionFalse), true, ""},
		{"not ready, application not disrupted", func(p *v1.Pod, b *policyv1.PodDisruptionBudget) {
			ready(v1.ConditionFalse)(p, b)
			b.Status.CurrentHealthy, b.Status.DesiredHealthy = 1, 1
		}, false, "unhealthy-pod-eviction-policy"},
		{"not ready, always allowed", func(p *v1.Pod, b *policyv1.PodDisruptionBudget) {
			ready(v1.ConditionFalse)(p, b)
			b.Spec.UnhealthyPodEvictionPolicy = &always
		}, false, "unhealthy-pod-eviction-policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := checktest.Pod("a", 1, "1")
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"},
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}
			tt.change(p, b)
			assert.Equal(t, tt.costs, costs(&properties.Subject{Release: release.Linked}, b, p))
			for _, e := range ledger.Linked() {
				assert.Equal(t, tt.costs != (e.ID == tt.granting), costs((&properties.Subject{Release: release.Linked}).Assuming(e.ID), b, p), "granting %s", e.ID)
			}
		})
	}
}

// Before 1.27 nobody promised that unhealthy pods may go whatever a budget allows.
func TestUnhealthyPodsCostBefore(t *testing.T) {
	p := checktest.Pod("a", 1, "1")
	p.Status.Phase, p.Status.Conditions = v1.PodRunning, []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionFalse}}
	b := mk.Budget("b", 0, mk.ForApp("a"))
	b.Status.CurrentHealthy, b.Status.DesiredHealthy = 1, 1
	for version, want := range map[string]bool{"v1.25.16": true, "v1.26.15": true, "v1.27.16": false, "v1.37.1": false} {
		of, err := release.Parse(version)
		require.NoError(t, err)
		assert.Equal(t, want, costs(&properties.Subject{Release: of}, b, p), version)
	}
}

// Budgets without a pod in common are counted exactly, however many pods there are; of
// more pods of overlapping ones than are gone through set by set, the bounds are
// wider, never wrong.
func TestViolationsOfManyPods(t *testing.T) {
	c := checktest.Cluster()
	gone := map[string]bool{}
	for i := range 70 {
		p := checktest.Pod(fmt.Sprint("many-", i), 1, "0", mk.On("node-1"), func(p *v1.Pod) { p.Labels["app"] = "other" })
		c.Pods = append(c.Pods, p)
		gone[model.Key(p)] = true
	}
	c.PodDisruptionBudgets[0].Status.DisruptionsAllowed = 4
	least, most := Violations(&properties.Subject{Release: release.Linked, Cluster: c}, "node-1", gone)
	assert.Equal(t, []int{66, 66}, []int{least, most})

	for i := range 30 {
		p := checktest.Pod(fmt.Sprint("more-", i), 1, "0", mk.On("node-1"), func(p *v1.Pod) { p.Labels["app"] = "more" })
		c.Pods = append(c.Pods, p)
		gone[model.Key(p)] = true
	}
	c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, budgetOf("more", 10, "more"))
	least, most = Violations(&properties.Subject{Release: release.Linked, Cluster: c}, "node-1", gone)
	assert.Equal(t, []int{86, 86}, []int{least, most})
	c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, budgetOf("both", 95, "more", "other"))
	least, most = Violations(&properties.Subject{Release: release.Linked, Cluster: c}, "node-1", gone)
	assert.Equal(t, []int{66, 91}, []int{least, most})
}

// Of victims that only together could stay, as with filters that are not
// monotone, the set is found, if sets of its size are tried.
func TestCouldStay(t *testing.T) {
	together := func(gone map[string]bool) (bool, error) { return gone["b"] && len(gone) == 1, nil }
	stay, err := couldStay([]string{"a", "b", "c"}, 3, together)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "c"}, stay)
	stay, err = couldStay(make([]string, 100), 1, func(map[string]bool) (bool, error) { return false, nil })
	require.NoError(t, err, "and in no time")
	assert.Nil(t, stay)
	stay, err = couldStay([]string{"a", "b", "c"}, 1, together)
	require.NoError(t, err)
	assert.Nil(t, stay)
}
