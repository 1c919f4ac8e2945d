// Package groups holds promises about the scheduling cycle of a pod group, which do not depend on how the model
// chooses victims.
package groups

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/properties"
)

const (
	kepPreemption = "KEP-5710, \"Preemption algorithm\""
	kepCycle      = "KEP-4671, \"Scheduling Algorithm\""
)

// All are the promises about pod groups, each of them cheap.
func All() []properties.Property {
	return []properties.Property{LowerPriorityOnly, GoWhole, EnoughOrNone, Never, Waits, GatedWhilePreempting, MembersAreTold, VictimsAreTold, PreemptionErrorIsNamed, GroupIsTold, PlacedFit, InOneDomain,
		NoWorseThanItsPod}
}

// Costly are promises that ask the system again, of which a campaign checks a share of its clusters.
func Costly() []properties.Property { return []properties.Property{MetricsCount} }

// LowerPriorityOnly: a group preempts units of lower priority only.
var LowerPriorityOnly = properties.Property{
	Name:    "group-lower-priority-only",
	Of:      properties.OfGroups,
	Promise: "Identify the list of all potential victims: all running pod groups with (preemption) priority lower than preemptor priority; all individual pods with priority lower than preemptor priority.",
	Source:  kepPreemption,
	Lies:    []string{"a victim of its priority"},
	Applies: preempts,
	Check: eachVictim(func(s *properties.Subject, victim *v1.Pod) string {
		if own, its := priority(s), s.Priority(victim); its >= own {
			return fmt.Sprintf("priority %d is not below the group's %d", its, own)
		}
		return ""
	}),
}

// GoWhole: a group in mode All is evicted whole, or not at all. Pods that terminate already go anyway.
var GoWhole = properties.Property{
	Name:    "group-evicts-groups-whole",
	Of:      properties.OfGroups,
	Promise: "All pods from the PodGroup have to be disrupted together.",
	Source:  "docs: concepts/workloads/workload-api/disruption-and-priority",
	Lies:    []string{"a pod of a group stays"},
	Applies: preempts,
	Check: eachVictim(func(s *properties.Subject, victim *v1.Pod) string {
		whole := s.Unit(victim)
		if whole == nil {
			return ""
		}
		for _, p := range s.Cluster.Pods {
			if s.Unit(p) == whole && p.Spec.NodeName != "" && p.DeletionTimestamp == nil && !slices.Contains(s.Observation.Group.Victims, model.Key(p)) {
				return fmt.Sprintf("%s of the same %s stays", model.Key(p), whole)
			}
		}
		return ""
	}),
}

// EnoughOrNone: nobody is preempted, nominated or bound unless as many members as have to be scheduled are placed
// then, with those that run.
var EnoughOrNone = properties.Property{
	Name:    "group-enough-or-none",
	Of:      properties.OfGroups,
	Promise: "minCount is the minimum number of pods that must be schedulable or scheduled at the same time for the scheduler to admit the entire group. If removing all potential victims would not make the preemptor schedulable, the preemptor is unschedulable with preemption.",
	Source:  "GangSchedulingPolicy (scheduling/v1beta1/types.go:444@v0.37.1); " + kepPreemption,
	Needs:   properties.NeedsModel,
	Lies:    []string{"one member too few is bound", "one member too few is nominated", "preempts for nobody"},
	Applies: hadCycle,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		g, running, bound := s.Observation.Group, 0, boundNow(s.Observation)
		for _, p := range s.Cluster.Members() {
			if p.Spec.NodeName != "" {
				running++
			}
		}
		placed := nominatedNow(s)
		min := minCount(s)
		switch {
		case len(bound) > 0 && len(bound)+running < min:
			return properties.Found(model.StageActuate, "", fmt.Sprintf("%d pods are bound, where %d run already and %d have to be scheduled", len(bound), running, min)), nil
		case g.Ongoing || len(g.Victims) == 0 && len(placed) == 0:
			return nil, nil
		case len(placed) == 0 || len(placed)+running < min:
			return properties.Found(model.StageActuate, "", fmt.Sprintf("%d pods are preempted and %d members nominated, where %d run already and %d have to be scheduled", len(g.Victims), len(placed), running, min)), nil
		}
		return nil, nil
	},
}

// Never: a group whose policy is Never preempts nobody.
var Never = properties.Property{
	Name:    "group-never-preempts",
	Of:      properties.OfGroups,
	Promise: "preemptionPolicy is the Policy for preempting pods/podgroups with lower priority. One of Never, PreemptLowerPriority.",
	Source:  "PodGroupSpec.PreemptionPolicy (scheduling/v1beta1/types.go:706@v0.37.1); KEP-5710, \"Pod Group priorities\"",
	Lies:    []string{"the policy is not seen"},
	Applies: func(s *properties.Subject) bool {
		policy := v1.PreemptLowerPriority
		for _, m := range s.Cluster.Preemptors() {
			if m.Spec.PreemptionPolicy != nil {
				policy = *m.Spec.PreemptionPolicy
			}
		}
		if g := podGroup(s); g != nil && s.Cluster.Settings.FeatureGates[podgroup.GatePolicy] {
			policy = v1.PreemptLowerPriority
			if g.Spec.PreemptionPolicy != nil {
				policy = v1.PreemptionPolicy(*g.Spec.PreemptionPolicy)
			}
		}
		return hadCycle(s) && policy == v1.PreemptNever
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		if g := s.Observation.Group; g.SecondCalls > 0 || len(g.Victims) > 0 {
			return properties.Found(model.StageEligible, "", fmt.Sprintf("preempts %v", g.Victims)), nil
		}
		return nil, nil
	},
}

// Waits: while a pod that a member is nominated in place of still terminates, no other is preempted.
var Waits = properties.Property{
	Name:    "group-waits-for-its-victims",
	Of:      properties.OfGroups,
	Promise: "They can be retried even before victims are fully terminated, but they must pass through the Workload Scheduling Cycle again. Crucially, initiating new preemptions is forbidden during this retry.",
	Source:  kepCycle,
	Lies:    []string{"its nominations are not seen"},
	Applies: func(s *properties.Subject) bool { return hadCycle(s) && awaits(s) != "" },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		if g := s.Observation.Group; g.SecondCalls > 0 || len(g.Victims) > 0 {
			return properties.Found(model.StageEligible, "", fmt.Sprintf("preempts %v, while %s still terminates", g.Victims, awaits(s))), nil
		}
		return nil, nil
	},
}

// awaits is a pod of lower priority that terminates by preemption where a member is nominated to; "" if there is none. On
// a node that does not exist there is no room to wait for.
func awaits(s *properties.Subject) string {
	for _, p := range s.Cluster.Pods {
		if p.DeletionTimestamp == nil || !properties.MarkedAsVictim(p) || s.Priority(p) >= priority(s) {
			continue
		}
		for _, m := range s.Cluster.Preemptors() {
			exists := slices.ContainsFunc(s.Cluster.Nodes, func(n *v1.Node) bool { return n.Name == p.Spec.NodeName })
			if m.Status.NominatedNodeName == p.Spec.NodeName && exists {
				return model.Key(p)
			}
		}
	}
	return ""
}
