package model

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Eligible tells whether the preemptor may preempt others. It may not if its
// policy is Never (docs: concepts/scheduling-eviction/pod-priority-preemption,
// "Non-preempting PriorityClass"), nor while pods that it could preempt are
// still terminating by preemption on its nominated node: those are its victims,
// and it waits for them. Once the nominated node has become unresolvable, the
// wait is pointless and it may (default_preemption.go:444@v1.37.1,
// PodEligibleToPreemptOthers).
func Eligible(cy *Cycle, verdicts map[string]*Verdict) Eligibility {
	if policy := cy.Preemptor.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		return Eligibility{Reason: "its preemptionPolicy is Never"}
	}
	n := cy.Node(cy.Preemptor.Status.NominatedNodeName)
	if n == nil {
		return Eligibility{OK: true}
	}
	if v := verdicts[n.Name]; v != nil && v.Unresolvable {
		return Eligibility{OK: true}
	}
	for _, u := range cy.Units.On(n) {
		if !cy.MayPreempt(cy, u) {
			continue
		}
		for _, p := range u.On(n) {
			if cy.Awaited(p) {
				return Eligibility{Reason: "it waits for " + p.Key + " to terminate on its nominated node " + n.Name}
			}
		}
	}
	return Eligibility{OK: true}
}

// MayPreempt tells whether the preemptor's priority allows it to preempt u: only
// pods of lower priority are ever preempted (same page, "Preemption").
func MayPreempt(cy *Cycle, u *unit.Unit) bool { return u.Priority < cy.Preemptor.Priority }

// TerminatingByPreemption tells whether a pod is being deleted because a scheduler
// preempted it (KEP-3329, condition DisruptionTarget).
func TerminatingByPreemption(p *filter.Pod) bool {
	if p.DeletionTimestamp == nil {
		return false
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.DisruptionTarget {
			return c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
		}
	}
	return false
}
