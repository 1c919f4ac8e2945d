package properties

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

func neverPreempts() Property {
	return Property{
		Name:    "never-preempts",
		Promise: "Pods with preemptionPolicy: Never will be placed in the scheduling queue ahead of lower-priority pods, but they cannot preempt other pods.",
		Source:  docsNever,
		Applies: func(s *Subject) bool {
			policy := s.Cluster.Preemptor.Spec.PreemptionPolicy
			return policy != nil && *policy == v1.PreemptNever
		},
		Check: func(s *Subject) ([]Finding, error) {
			if a := s.Observation.Actuation; s.Observation.Pick != nil || a != nil && len(a.Deleted) > 0 {
				return found(model.StageEligible, "", "a pod with preemptionPolicy Never preempted others"), nil
			}
			return nil, nil
		},
	}
}

func waitsForItsVictims() Property {
	return Property{
		Name:    "waits-for-its-victims",
		Promise: "The pod has already preempted other pods and the victims are in their graceful termination period. Currently we check the node that is nominated for this pod, and as long as there are terminating pods on this node, we don't attempt to preempt more pods. If the pod's nominated node is considered as UnschedulableAndUnresolvable by the filters, then the pod should be considered for preempting again.",
		Source:  "default_preemption.go:443@v1.37.1, doc comment of PodEligibleToPreemptOthers and the comment below it; KEP-3329 tells its victims by their condition",
		Applies: func(s *Subject) bool { return s.awaited() != "" },
		Check: func(s *Subject) ([]Finding, error) {
			if a := s.Observation.Actuation; s.Observation.Pick != nil || a != nil && len(a.Deleted) > 0 {
				return found(model.StageEligible, s.Cluster.Preemptor.Status.NominatedNodeName, "preempted again, although its victim "+s.awaited()+" is still terminating there"), nil
			}
			return nil, nil
		},
	}
}

// awaited is a pod that the preemptor has to wait for, or "".
func (s *Subject) awaited() string {
	node := s.Cluster.Preemptor.Status.NominatedNodeName
	if v := s.Decision.Verdicts[node]; node == "" || v == nil || v.Unresolvable {
		return ""
	}
	for _, p := range s.preemptable(node) {
		if p.DeletionTimestamp == nil {
			continue
		}
		for i := range p.Status.Conditions {
			c := &p.Status.Conditions[i]
			if c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler {
				return model.Key(p)
			}
		}
	}
	return ""
}
