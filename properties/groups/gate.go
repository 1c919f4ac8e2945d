package groups

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// GatedWhilePreempting: a group stays out of the queue until its victims are deleted, and no longer.
var GatedWhilePreempting = properties.Property{
	Name:    "group-gated-while-preempting",
	Of:      properties.OfGroups,
	Promise: "The Pod won't be retried until the goroutine triggered here completes. PreEnqueue: the Pod is not enqueued to activeQ while the preemption API calls are in-flight.",
	Source:  "doc comment of prepareCandidateAsync (executor.go:196@v1.37.1); KEP-4832",
	Lies:    []string{"the group is free while a victim is deleted", "the group stays gated"},
	Applies: func(s *properties.Subject) bool {
		return preempts(s) && s.Observation.Group.Violations >= 0 && s.Cluster.Settings.AsyncPreemption()
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Verb == "delete" && slices.Contains(s.Observation.Group.Victims, c.Object) && !c.Gated {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", c.Object, c.String()+": meanwhile the group may be tried again"))
			}
		}
		if s.Observation.Aftermath.Gated {
			findings = append(findings, properties.FoundOf(model.StageActuate, "", "after", "all victims are deleted, and the group is still kept out of the queue"))
		}
		return findings, nil
	},
}
