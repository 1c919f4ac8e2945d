package invariant

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// PreemptorFits: without the victims the preemptor fits, by the model and by the system itself.
var PreemptorFits = properties.Property{
	Name:    "preemptor-fits",
	Promise: "After the Pods are gone, P can be scheduled on the Node.",
	Source:  properties.DocsPreemption + "; pods of equal or higher priority nominated to the node count (runtime/framework.go:1268@v1.37.1)",
	Lies:    []string{"too few victims"},
	Applies: proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			ok, err := s.FitsByModel(p.node, set(p.victims...))
			if err != nil {
				return nil, err
			}
			if !ok {
				findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("by the model's filters the preemptor does not fit once %v are gone", p.victims)))
			}
		}
		if !decisionShown(s) {
			return findings, nil
		}
		p := decided(s)
		victims := set(p.victims...)
		judged, err := s.Fits(p.node, victims)
		if err != nil || judged.BySystem {
			return findings, err
		}
		seems, err := s.FitsByModel(p.node, victims)
		if explained := s.AssumesAny() && seems && !judged.ByModel; err == nil && !explained {
			findings = append(findings, properties.FoundOf(model.StagePick, p.node, "by the system", fmt.Sprintf("%s itself does not schedule the preemptor there once %v are gone", s.System.Name(), p.victims)))
		}
		return findings, err
	},
}

// JudgesAgree: model and system agree whether the preemptor fits once the victims are gone.
var JudgesAgree = properties.Property{
	Name:    "judges-agree",
	Promise: "The filtering step finds the set of Nodes where it's feasible to schedule the Pod.",
	Source:  "docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"; asked of the cluster without the victims, in a full cycle and of the model's filters",
	Lies:    []string{"not scheduled once the victims are gone"},
	Applies: decisionShown,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		p := decided(s)
		judged, err := s.Fits(p.node, set(p.victims...))
		if err != nil || judged.ByModel == judged.BySystem {
			return nil, err
		}
		return properties.Found(model.StageFilter, p.node, fmt.Sprintf("once %v are gone, the preemptor fits: %t by the model, %t by %s", p.victims, judged.ByModel, judged.BySystem, s.System.Name())), nil
	},
}

// NoFreeNode: nobody is preempted if the preemptor fits somewhere as it is.
var NoFreeNode = properties.Property{
	Name:    "no-free-node",
	Promise: "If no Node is found that satisfies all the specified requirements of the Pod, preemption logic is triggered for the pending Pod.",
	Source:  properties.DocsPreemption,
	Lies:    []string{"a free node is not seen"},
	Applies: preempted,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		if to := s.Observation.ScheduledTo; to != "" {
			findings = append(findings, properties.FoundOf(model.StagePick, to, "", "preempted, although the pod was scheduled there"))
		}
		for _, n := range s.Cluster.Nodes {
			fits, err := s.FitsByModel(n.Name, nil)
			if err != nil {
				return nil, err
			}
			if fits && !explain.RejectedByExtender(s.Decision, n.Name) {
				findings = append(findings, properties.FoundOf(model.StagePick, n.Name, "free", "preempted, although the preemptor fits there as it is"))
			}
		}
		return findings, nil
	},
}
