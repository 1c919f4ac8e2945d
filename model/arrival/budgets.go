package arrival

import (
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/model"
)

// budgets keep the status of disruption budgets as the disruption controller would. What they allow is
// currentHealthy less desiredHealthy, and never below 0 (API reference policy/v1,
// PodDisruptionBudgetStatus; docs: tasks/run-application/configure-pdb).
type budgets struct {
	c   *model.Cluster
	all []*budget
}

// budget is one of c.PodDisruptionBudgets, at the same place.
type budget struct {
	selector labels.Selector
	// slack is currentHealthy less desiredHealthy, which may be negative. If the status does not
	// tell, as in manifests that only say what is allowed, it begins with that.
	slack int32
	// told: the status tells the numbers of pods, too.
	told bool
}

// newBudgets reads the status of the budgets that are there, and works out that of those that come; of both it
// counts the pods that come as expected.
func newBudgets(c *model.Cluster, coming *Coming) *budgets {
	b := &budgets{c: c}
	c.PodDisruptionBudgets = slices.Clone(c.PodDisruptionBudgets)
	for i, old := range c.PodDisruptionBudgets {
		selector, err := metav1.LabelSelectorAsSelector(old.Spec.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		pdb := old.DeepCopy()
		c.PodDisruptionBudgets[i] = pdb
		one := &budget{selector: selector}
		b.all = append(b.all, one)
		comes := slices.Contains(coming.Objects, runtime.Object(old))
		if comes {
			pdb.Status = policyv1.PodDisruptionBudgetStatus{}
			for _, p := range c.Pods {
				if !one.matches(pdb, p) {
					continue
				}
				pdb.Status.ExpectedPods++
				if isHealthy(p) {
					pdb.Status.CurrentHealthy++
				}
			}
			pdb.Status.DesiredHealthy = desired(pdb, pdb.Status.ExpectedPods)
		}
		s := &pdb.Status
		if one.slack = s.CurrentHealthy - s.DesiredHealthy; comes || s.ExpectedPods > 0 && max(one.slack, 0) == s.DisruptionsAllowed {
			one.told = true
		} else {
			one.slack = s.DisruptionsAllowed
		}
		s.DisruptionsAllowed = max(one.slack, 0)
	}
	for _, w := range coming.Workloads {
		for _, p := range w.Pods {
			b.expects(p, +1)
		}
	}
	return b
}

func (b *budget) matches(pdb *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
	return pdb.Namespace == p.Namespace && b.selector.Matches(labels.Set(p.Labels))
}

// isHealthy tells whether a pod counts as healthy: it is ready, and not about to go. One of which nothing is said counts as
// ready if it is bound.
func isHealthy(p *v1.Pod) bool {
	if p.Spec.NodeName == "" || p.DeletionTimestamp != nil {
		return false
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return true
}

// desired is how many pods have to be healthy of so many that are expected. Percentages are rounded up (docs:
// tasks/run-application/configure-pdb, "Rounding logic when specifying percentages").
func desired(pdb *policyv1.PodDisruptionBudget, expected int32) int32 {
	share := func(v *intstr.IntOrString) int32 {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(expected), true)
		if err != nil {
			return 0 // it is not admitted
		}
		return int32(min(n, math.MaxInt32))
	}
	switch {
	case pdb.Spec.MaxUnavailable != nil:
		return max(expected-share(pdb.Spec.MaxUnavailable), 0)
	case pdb.Spec.MinAvailable != nil:
		return share(pdb.Spec.MinAvailable)
	}
	return 0
}

// healthy is told that a pod runs, or that it is gone.
func (b *budgets) healthy(p *v1.Pod, by int32) {
	if !isHealthy(p) {
		return
	}
	b.change(p, func(pdb *policyv1.PodDisruptionBudget, one *budget) {
		one.slack += by
		if one.told {
			pdb.Status.CurrentHealthy += by
		}
	})
}

// expects is told that there is to be one pod more, or less: a controller wants it, or a pod without one
// is gone for good.
func (b *budgets) expects(p *v1.Pod, by int32) {
	b.change(p, func(pdb *policyv1.PodDisruptionBudget, one *budget) {
		if !one.told {
			return
		}
		s := &pdb.Status
		before := desired(pdb, s.ExpectedPods)
		s.ExpectedPods += by
		change := desired(pdb, s.ExpectedPods) - before
		s.DesiredHealthy += change
		one.slack -= change
	})
}

// change changes, in copies, the budgets that protect a pod.
func (b *budgets) change(p *v1.Pod, change func(*policyv1.PodDisruptionBudget, *budget)) {
	var list []*policyv1.PodDisruptionBudget
	for i, one := range b.all {
		if !one.matches(b.c.PodDisruptionBudgets[i], p) {
			continue
		}
		if list == nil { // clusters that were asked about keep theirs
			list = slices.Clone(b.c.PodDisruptionBudgets)
		}
		list[i] = list[i].DeepCopy()
		change(list[i], one)
		list[i].Status.DisruptionsAllowed = max(one.slack, 0)
	}
	if list != nil {
		b.c.PodDisruptionBudgets = list
	}
}
