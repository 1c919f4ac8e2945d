package invariant

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/properties"
)

// GroupsGoWhole: of pods that can only be disrupted together all are victims, or none; and all that
// are not terminating already are deleted, or none.
var GroupsGoWhole = properties.Property{
	Name:    "groups-go-whole",
	Promise: "All pods from the PodGroup have to be disrupted together.",
	Source:  "docs: concepts/workloads/workload-api/disruption-and-priority; KEP-5710: \"either all of Pods can be reprieved or none of them will be reprieved\"; of composite groups KEP-6012",
	Lies:    []string{"one pod of a group stays", "one pod of a group is not deleted"},
	Applies: func(s *properties.Subject) bool { return proposed(s) && s.Together() },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			victims := set(p.victims...)
			findings = append(findings, torn(s, p.stage, p.node, "is no victim", victims, func(*v1.Pod) bool { return true })...)
		}
		if a := s.Observation.Actuation; a != nil && !s.Extended() {
			alive := func(p *v1.Pod) bool { return p.DeletionTimestamp == nil }
			findings = append(findings, torn(s, model.StageActuate, a.NominatedNode, "is not deleted", set(a.Deleted...), alive)...)
		}
		return findings, nil
	},
}

// torn reports the pods that stay of those that go together, if some of them go. Only those that
// count are looked at.
func torn(s *properties.Subject, stage model.Stage, node, stays string, goes map[string]bool, counts func(*v1.Pod) bool) (findings []properties.Finding) {
	of := map[*unit.Group][]*v1.Pod{}
	for _, p := range s.Cluster.Pods {
		if g := s.Unit(p); g != nil && p.Spec.NodeName != "" && counts(p) {
			of[g] = append(of[g], p)
		}
	}
	for _, p := range s.Cluster.Pods {
		members := of[s.Unit(p)]
		first := slices.IndexFunc(members, func(other *v1.Pod) bool { return goes[model.Key(other)] })
		if first >= 0 && slices.Contains(members, p) && !goes[model.Key(p)] {
			findings = append(findings, properties.FoundOf(stage, node, model.Key(p),
				fmt.Sprintf("%s %s, though %s goes, and both are of %s", model.Key(p), stays, model.Key(members[first]), s.Unit(p))))
		}
	}
	return findings
}
