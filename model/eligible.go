package model

import v1 "k8s.io/api/core/v1"

// eligible tells whether the preemptor may preempt others. It may not if its
// policy is Never (docs: concepts/scheduling-eviction/pod-priority-preemption,
// "Non-preempting PriorityClass"), nor while pods that it could preempt are
// still terminating by preemption on its nominated node: those are its victims,
// and it waits for them. Once the nominated node has become unresolvable, the
// wait is pointless and it may (default_preemption.go:444@v1.37.1,
// PodEligibleToPreemptOthers).
func (q *question) eligible(verdicts map[string]*Verdict) Eligibility {
	p := q.preemptor
	if policy := p.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever && q.rules.never {
		return Eligibility{Reason: "its preemptionPolicy is Never"}
	}
	n := q.byName[p.Status.NominatedNodeName]
	if n == nil {
		return Eligibility{OK: true}
	}
	if v := verdicts[n.Name]; v != nil && v.Unresolvable && q.rules.retryUnresolvable {
		return Eligibility{OK: true}
	}
	for _, other := range n.pods {
		if q.preemptable(other) && q.rules.waitsFor(other) {
			return Eligibility{Reason: "it waits for " + other.key + " to terminate on its nominated node " + n.Name}
		}
	}
	return Eligibility{OK: true}
}

// preemptable tells whether the preemptor's priority allows it to preempt p:
// only pods of lower priority are ever preempted (same page, "Preemption").
func (q *question) preemptable(p *pod) bool {
	return q.rules.preempts(q.preemptor.priority, p.priority)
}

// terminatingByPreemption: the pod is being deleted because a scheduler
// preempted it (KEP-3329, condition DisruptionTarget).
func terminatingByPreemption(p *pod) bool {
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
