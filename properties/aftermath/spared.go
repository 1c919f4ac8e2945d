package aftermath

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
)

// eachSpared checks what comes of each fault for which a victim is not preempted.
func eachSpared(check func(f *faulted, spared *v1.Pod)) func(s *properties.Subject) ([]properties.Finding, error) {
	return each(func(f *faulted) {
		if p := f.spared(); p != nil {
			check(f, p)
		}
	})
}

// SparedIsNotTold: only pods that are preempted are told so.
var SparedIsNotTold = properties.Property{
	Name:    "spared-is-not-told",
	Promise: "When a Pod is preempted, there will be events recorded for the preempted Pod.",
	Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Troubleshooting\"",
	Lies:    []string{"a pod that is not deleted is told that it is preempted"},
	Check: eachSpared(func(f *faulted, p *v1.Pod) {
		if len(events(f.Subject, model.Key(p), "Preempted")) > 0 {
			f.found(model.Key(p), fmt.Sprintf("%s, and the pod is told that it is preempted", f.lost()))
		}
	}),
}

// SparedIsHeld: only the end of a pod frees its room, and not the attempt to preempt it.
var SparedIsHeld = properties.Property{
	Name:    "spared-is-held",
	Promise: "Cache's operations are pod centric. It does incremental updates based on pod events. Added -> Remove -> Deleted.",
	Source:  "doc comment of Cache (backend/cache/interface.go:29@v1.37.1)",
	Lies:    []string{"a victim that still runs is forgotten"},
	Check: eachSpared(func(f *faulted, p *v1.Pod) {
		if onNode(p) && !slices.Contains(f.Observation.Aftermath.Held, model.Key(p)) {
			f.found(model.Key(p), fmt.Sprintf("%s, and the scheduler no longer counts the pod on %s", f.lost(), p.Spec.NodeName))
		}
	}),
}

// onNode tells whether a pod runs and was not on its way out before the cycle.
func onNode(p *v1.Pod) bool {
	return p != nil && p.Spec.NodeName != "" && p.DeletionTimestamp == nil
}

// UnmarkedIsNotDeleted: nobody takes a pod away that could not be told why.
var UnmarkedIsNotDeleted = properties.Property{
	Name:    "unmarked-is-not-deleted",
	Promise: "A dedicated Pod DisruptionTarget condition is added to indicate that the Pod is about to be deleted due to a disruption.",
	Source:  docsDisruption,
	Lies:    []string{"a victim that could not be marked is deleted"},
	Check: eachSpared(func(f *faulted, p *v1.Pod) {
		c := f.lost()
		if c.Verb == "patch" && !properties.MarkedAsVictim(p) && slices.Contains(deletions(f.Observation), model.Key(p)) {
			f.found(model.Key(p), fmt.Sprintf("%s, and the pod is deleted all the same", c))
		}
	}),
}

// DeletedIsTold: that the preemption of another victim failed changes nothing for the pods that were deleted.
var DeletedIsTold = properties.Property{
	Name:    "deleted-is-told",
	Promise: SparedIsNotTold.Promise,
	Source:  SparedIsNotTold.Source,
	Lies:    []string{"a victim that is deleted is not told"},
	Check: eachSpared(func(f *faulted, _ *v1.Pod) {
		for _, c := range f.Observation.Aftermath.Calls {
			if c.Verb == "delete" && c.Resource == "pods" && c.Failed == "" && len(events(f.Subject, c.Object, "Preempted")) != 1 {
				f.found(c.Object, fmt.Sprintf("%s, and victim %s, which is deleted, is told: %v", f.lost(), c.Object, events(f.Subject, c.Object, "")))
			}
		}
	}),
}

// FailedPreemptionIsTold: who waits for a preemption that failed within its cycle can read why.
// An asynchronous one fails after the pod was told.
var FailedPreemptionIsTold = properties.Property{
	Name:    "failed-preemption-is-told",
	Promise: "<nil, Error>. It denotes a transient/rare error that may be self-healed in future cycles. Error returns detailed information of why the pod failed to fit on each node. A message format is \"0/X nodes are available: <PreFilterMsg>. <FilterMsg>. <PostFilterMsg>.\"",
	Source:  "doc comments of Preempt (preemption.go:166@v1.37.1) and FitError.Error (types.go:1468@v1.37.1)",
	Lies:    []string{"a preemption that failed is answered as a success", "the event does not say the error", "the condition does not say the error"},
	Check: eachSpared(func(f *faulted, _ *v1.Pod) {
		c, o := f.lost(), f.Observation
		if f.Cluster.Settings.AsyncPreemption() || !failed(f.Subject) {
			return
		}
		key := model.Key(f.Cluster.Preemptor)
		if o.PostFilterCode != "Error" {
			f.found("code", fmt.Sprintf("%s, and preemption answers %q", c, o.PostFilterCode))
		}
		told := events(f.Subject, key, "FailedScheduling")
		if len(told) != 1 || len(told[0].Note) < observation.MaxNote && !strings.Contains(told[0].Note, c.Failed) {
			f.found("event", fmt.Sprintf("%s, and %s is told: %v", c, key, told))
		}
		if got, _ := f.Condition(f.Cluster.Preemptor, v1.PodScheduled); !strings.Contains(got.Message, c.Failed) {
			f.found("condition", fmt.Sprintf("%s, and the condition PodScheduled says %q", c, got.Message))
		}
	}),
}
