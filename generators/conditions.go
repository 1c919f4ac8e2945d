package generators

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// giveHistory gives the pods of some clusters what earlier updates left: a generation, and
// conditions that the scheduler and others wrote before this cycle.
func giveHistory(s draw.Source, c *model.Cluster) {
	if c.Preemptor == nil || !s.Chance(6) {
		return
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		p.Generation = int64(1 + s.Intn(3))
		if p.DeletionTimestamp != nil {
			p.Generation++ // deletion counts as an update (KEP-5067)
		}
		if p.Spec.NodeName != "" { // the kubelet writes it
			p.Status.ObservedGeneration = observed(s, p)
		}
	}
	if s.Chance(75) {
		c.Preemptor.Status.Conditions = append(c.Preemptor.Status.Conditions, triedBefore(s, c.Preemptor))
	}
	if s.Chance(35) && !hasCondition(c.Preemptor, v1.PodResizePending) { // what a kubelet says of pods that it runs, and anybody may write
		c.Preemptor.Status.Conditions = append(c.Preemptor.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue,
			Reason: draw.Pick(s, v1.PodReasonDeferred, v1.PodReasonDeferred, v1.PodReasonInfeasible)})
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" && !hasCondition(p, v1.DisruptionTarget) && s.Chance(30) {
			p.Status.Conditions = append(p.Status.Conditions, disruptedBefore(s, p))
		}
	}
}

// observed is the generation that a writer of the status saw: the pod's, or one before.
func observed(s draw.Source, p *v1.Pod) int64 { return p.Generation - int64(s.Intn(int(p.Generation))) }

// triedBefore is what a failed attempt to schedule the pod leaves.
func triedBefore(s draw.Source, p *v1.Pod) v1.PodCondition {
	is := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
		Message: "0/9 nodes are available: 9 node(s) were unschedulable.", ObservedGeneration: observed(s, p), LastTransitionTime: metav1.NewTime(epoch.Add(time.Hour))}
	switch draw.Weighted(s, 60, 25, 15) {
	case 1:
		is.Reason, is.Message = v1.PodReasonSchedulerError, "running PreFilter plugin: timed out"
	case 2: // by a scheduler of before KEP-5067
		is.ObservedGeneration = 0
	}
	return is
}

// disruptedBefore is what others than a scheduler say of a disruption: one under way, or one
// that did not happen in the end.
func disruptedBefore(s draw.Source, p *v1.Pod) v1.PodCondition {
	return v1.PodCondition{Type: v1.DisruptionTarget, Status: draw.Pick(s, v1.ConditionTrue, v1.ConditionFalse),
		Reason: draw.Pick(s, "EvictionByEvictionAPI", "DeletionByTaintManager"), Message: "disrupted before",
		ObservedGeneration: observed(s, p), LastTransitionTime: metav1.NewTime(epoch.Add(time.Hour))}
}

func hasCondition(p *v1.Pod, kind v1.PodConditionType) bool {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return true
		}
	}
	return false
}
