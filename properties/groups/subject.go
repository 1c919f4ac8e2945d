package groups

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// hadCycle tells whether the group was tried.
func hadCycle(s *properties.Subject) bool {
	return s.Observation.Group != nil && s.Observation.Group.Waits == ""
}

// preempts tells whether somebody is preempted for the group.
func preempts(s *properties.Subject) bool { return hadCycle(s) && len(s.Observation.Group.Victims) > 0 }

// podGroup is the group, or nil if it is one of groups.
func podGroup(s *properties.Subject) *schedulingv1beta1.PodGroup {
	g, _ := s.Cluster.Group(s.Cluster.PreemptorGroup).(*schedulingv1beta1.PodGroup)
	return g
}

// priority is that of the group: all its pods have it.
func priority(s *properties.Subject) int32 { return s.Priority(s.Cluster.Preemptors()[0]) }

// minCount is how many pods of the group have to be scheduled: those of a gang, and one for which others are preempted.
func minCount(s *properties.Subject) int {
	if g := podGroup(s); g != nil && g.Spec.SchedulingPolicy.Gang != nil {
		return int(g.Spec.SchedulingPolicy.Gang.MinCount)
	}
	return 1
}

// eachVictim asks about each pod that is preempted for the group.
func eachVictim(wrong func(s *properties.Subject, victim *v1.Pod) string) func(*properties.Subject) ([]properties.Finding, error) {
	return func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, key := range s.Observation.Group.Victims {
			text := "there is no such pod"
			if victim := s.Pod(key); victim != nil {
				text = wrong(s, victim)
			}
			if text != "" {
				findings = append(findings, properties.FoundOf(model.StageReprieve, "", key, "victim "+key+": "+text))
			}
		}
		return findings, nil
	}
}

// nominatedNow are the nodes for which members are nominated in this cycle, by the members' keys.
func nominatedNow(s *properties.Subject) map[string]string {
	nodes := map[string]string{}
	for key, m := range s.Observation.Group.Members {
		if m.Nomination == model.NominationSet {
			nodes[key] = m.NominatedNode
		}
	}
	return nodes
}

// boundNow are the pods that are bound in this cycle.
func boundNow(o *model.Observation) (keys []string) {
	for _, c := range o.Aftermath.Calls {
		if c.Verb == "bind" && c.Failed == "" {
			keys = append(keys, c.Object)
		}
	}
	return keys
}

// told is the condition of that type that an object is given, or nil.
func told(o *model.Observation, resource, object, condition string) *model.Condition {
	for _, c := range o.Aftermath.Calls {
		if c.Resource != resource || c.Object != object {
			continue
		}
		for i := range c.Conditions {
			if c.Conditions[i].Type == condition {
				return &c.Conditions[i]
			}
		}
	}
	return nil
}

// hasEvent tells whether an event is recorded about a pod.
func hasEvent(o *model.Observation, reason, pod string) bool {
	return slices.ContainsFunc(o.Aftermath.Events, func(e model.Event) bool {
		return e.Reason == reason && strings.TrimPrefix(e.Regarding, "Pod ") == pod
	})
}
