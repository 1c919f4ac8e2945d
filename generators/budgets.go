package generators

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// drawBudgets draws budgets that are nearly or wholly used up. They often
// share pods.
func (g *generator) drawBudgets(bound []*v1.Pod) []*policyv1.PodDisruptionBudget {
	if !g.budgets {
		return nil
	}
	budgets := make([]*policyv1.PodDisruptionBudget, 1+draw.Weighted(g.Source, 40, 35, 15, 10))
	for i := range budgets {
		budget := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: numbered("budget", i), Namespace: metav1.NamespaceDefault},
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1)), Selector: draw.Pick(g.Source, selectors...).DeepCopy()},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(draw.Weighted(g.Source, 50, 35, 15))},
		}
		if g.namespaces && g.Chance(35) {
			budget.Namespace = otherNamespace
		}
		if len(bound) > 0 && g.Chance(12) {
			budget.Status.DisruptedPods = map[string]metav1.Time{}
			for range 1 + g.Intn(2) {
				budget.Status.DisruptedPods[draw.Pick(g.Source, bound...).Name] = metav1.NewTime(epoch)
			}
		}
		if g.unready && g.Chance(60) {
			budget.Spec.UnhealthyPodEvictionPolicy = new(draw.Pick(g.Source, policyv1.AlwaysAllow, policyv1.IfHealthyBudget))
			budget.Status.DesiredHealthy, budget.Status.CurrentHealthy = int32(g.Intn(3)), int32(g.Intn(3))
		}
		budgets[i] = budget
	}
	return budgets
}
