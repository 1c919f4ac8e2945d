package aftermath

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// TransitionIsDated: a condition has a new time of transition where its status changes, and only there.
var TransitionIsDated = properties.Property{
	Name:    "transition-is-dated",
	Promise: "lastTransitionTime: Last time the condition transitioned from one status to another.",
	Source:  "API: core/v1 PodCondition; docs: concepts/workloads/pods/pod-condition, \"Structure of a Pod condition\"",
	Lies:    []string{"a new condition has no time", "another status keeps the old time", "another message counts as a transition"},
	Applies: failed,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		f.checkTransition(s, s.Cluster.Preemptor, v1.PodScheduled)
		if preempted(s) {
			for _, p := range toDelete(s) {
				f.checkTransition(s, p, v1.DisruptionTarget)
			}
		}
		return f, nil
	},
}

// checkTransition follows a condition through the patches of the cycle.
func (f *findings) checkTransition(s *properties.Subject, p *v1.Pod, kind v1.PodConditionType) {
	status, key := "", model.Key(p)
	if i := slices.IndexFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == kind }); i >= 0 {
		status = string(p.Status.Conditions[i].Status)
	}
	for _, call := range calls(s, key) {
		for _, c := range call.Conditions {
			if c.Type != string(kind) {
				continue
			}
			now := status
			if c.Status != "" { // a patch holds differences only
				now = c.Status
			}
			if changes := now != status; changes != c.Transitioned {
				f.add(key, fmt.Sprintf("the status of condition %s of %s goes from %q to %q, and a new time of transition is written: %t", kind, key, status, now, c.Transitioned))
			}
			status = now
		}
	}
}
