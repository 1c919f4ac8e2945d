// Package aftermath holds the promises about what a scheduling cycle tells users, and
// about what it leaves behind for the next: events, conditions, the order of API
// calls, and the queue in which the pod waits. They say nothing about a scheduler
// that shows its decision only.
package aftermath

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// All are the promises about the aftermath of a cycle.
func All() []properties.Property {
	return []properties.Property{
		VictimsAreTold,
		FailureIsTold,
		FailureIsCounted,
		ReasonsAreTold,
		ConditionSaysWhy,
		NominationIsWritten,
		ConditionBeforeDeletion,
		TransitionIsDated,
		LastVictimLast,
		GatedWhilePreempting,
		WokenByWhatRejected,
		PendingIsRecorded,
		QueuedByDeletion,
		WaitsInItsQueue,
		FittingPodIsBound,
		ExtendedResourceClaim,
		OneExtendedResourceClaim,
		WaitingClaimsGetVolumes,
	}
}

// failed tells whether the cycle is shown whole, and its pod fits nowhere.
func failed(s *properties.Subject) bool {
	return s.Observation.Aftermath != nil && s.Observation.ScheduledTo == ""
}

// popped tells whether the scheduler would have tried the pod by itself, too.
func popped(s *properties.Subject) bool { return failed(s) && !s.Observation.Aftermath.NeverPopped }

// preempted tells whether the cycle is shown whole, and pods were preempted.
func preempted(s *properties.Subject) bool { return failed(s) && s.Observation.Pick != nil }

// toDelete are the victims that are not on their way already (kubernetes#131519).
func toDelete(s *properties.Subject) []*v1.Pod {
	return slices.DeleteFunc(s.Victims(), func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
}

// calls are the API calls about one pod that reached the API server.
func calls(s *properties.Subject, pod string) []model.Call {
	var about []model.Call
	for _, c := range s.Observation.Aftermath.Calls {
		if c.Object == pod && c.Failed == "" {
			about = append(about, c)
		}
	}
	return about
}

// events are those about one pod.
func events(s *properties.Subject, pod, reason string) []model.Event {
	var about []model.Event
	for _, e := range s.Observation.Aftermath.Events {
		if e.Regarding == "Pod "+pod && (reason == "" || e.Reason == reason) {
			about = append(about, e)
		}
	}
	return about
}

// findings collects what is broken at the end of a cycle.
type findings []properties.Finding

func (f *findings) add(about, detail string) {
	*f = append(*f, properties.FoundOf(model.StageActuate, "", about, detail))
}

// addMissing adds a finding for each of some plugins that is not among others: what that plugin does.
func (f *findings) addMissing(plugins, others []string, does string) {
	for _, plugin := range plugins {
		if !slices.Contains(others, plugin) {
			f.add(plugin, plugin+" "+does)
		}
	}
}
