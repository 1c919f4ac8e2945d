package arrival

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// addObjects adds what comes besides pods. Feature gates that pod groups need are taken to be on, as in dumps.
func (r *run) addObjects(coming *Coming) {
	after := r.After
	after.PriorityClasses, after.PodDisruptionBudgets, after.Extra = slices.Clip(after.PriorityClasses), slices.Clip(after.PodDisruptionBudgets), slices.Clip(after.Extra)
	gates := []string{}
	for _, o := range coming.Objects {
		switch o := o.(type) {
		case *schedulingv1.PriorityClass:
			after.PriorityClasses = append(after.PriorityClasses, o)
			continue
		case *policyv1.PodDisruptionBudget:
			after.PodDisruptionBudgets = append(after.PodDisruptionBudgets, o)
			continue
		case *schedulingv1beta1.PodGroup:
			gates = append(gates, model.GateWorkload)
		case *schedulingv1alpha3.CompositePodGroup:
			gates = append(gates, model.GateWorkload, model.GateComposite, model.GateTopology)
		}
		after.Extra = append(after.Extra, o)
	}
	for _, w := range coming.Workloads {
		for _, c := range w.Claims {
			after.Extra = append(after.Extra, c)
		}
	}
	if len(gates) > 0 {
		after.Settings = after.Settings.DeepCopy()
		if after.Settings.FeatureGates == nil {
			after.Settings.FeatureGates = map[string]bool{}
		}
		for _, g := range gates {
			after.Settings.FeatureGates[g] = true
		}
	}
}

// clock gives pods times that are later than all that the cluster has, each a second after the one before:
// which of equally important pods goes depends on when they started.
type clock struct{ now time.Time }

func newClock(c *model.Cluster) *clock {
	latest := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range c.Pods {
		if p.CreationTimestamp.After(latest) {
			latest = p.CreationTimestamp.Time
		}
		if p.Status.StartTime != nil && p.Status.StartTime.After(latest) {
			latest = p.Status.StartTime.Time
		}
	}
	return &clock{latest}
}

func (k *clock) tick() metav1.Time {
	k.now = k.now.Add(time.Second)
	return metav1.NewTime(k.now)
}

// created is the pod as it is once it is created.
func (k *clock) created(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	p.CreationTimestamp = k.tick()
	return p
}

// bound is the pod as it is once it runs on a node, and is ready.
func (k *clock) bound(p *v1.Pod, node string) *v1.Pod {
	p = p.DeepCopy()
	at := k.tick()
	p.Spec.NodeName = node
	p.Status.NominatedNodeName = ""
	p.Status.Phase, p.Status.StartTime = v1.PodRunning, &at
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at}}
	return p
}
