package aftermath

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NominationIsWritten: the API and the scheduler itself agree on the nomination.
var NominationIsWritten = properties.Property{
	Name:    "nomination-is-written",
	Promise: "When Pod P preempts one or more Pods on Node N, nominatedNodeName field of Pod P's status is set to the name of Node N.",
	Source:  properties.DocsNominated,
	Lies:    []string{"the nomination is not written", "the nomination is of another node", "the scheduler forgets the nomination"},
	Applies: preempted,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		p, want := s.Cluster.Preemptor, s.Observation.Pick.Node
		got := p.Status.NominatedNodeName
		for _, c := range calls(s, model.Key(p)) {
			if c.NominatedNode != nil {
				got = *c.NominatedNode
			}
		}
		if got != want {
			f.add(model.Key(p), fmt.Sprintf("preempted on %s, but status.nominatedNodeName is %q", want, got))
		}
		if in := s.Observation.Aftermath.NominatedTo; in != want {
			f.add(model.Key(p)+" in memory", fmt.Sprintf("preempted on %s, but the scheduler holds the pod as nominated to %q", want, in))
		}
		return f, nil
	},
}

const docsDisruption = "docs: concepts/workloads/pods/disruptions, \"Pod disruption conditions\" (KEP-3329)"

// ConditionBeforeDeletion: a victim is marked, and then it is deleted.
var ConditionBeforeDeletion = properties.Property{
	Name:    "condition-before-deletion",
	Promise: "A dedicated Pod DisruptionTarget condition is added to indicate that the Pod is about to be deleted due to a disruption. PreemptionByScheduler: Pod is due to be preempted by a scheduler in order to accommodate a new Pod with a higher priority.",
	Source: docsDisruption + "; that the message begins with the scheduler's name, and tells for what, is shown of groups in KEP-5710, " +
		"\"How can someone using this feature know that it is working for their instance?\"",
	Lies: []string{"a victim is marked after its deletion", "a victim is marked with another condition", "a victim is marked with another status", "a victim is marked with another reason",
		"a victim is marked without a message", "the message does not name the scheduler", "the message does not say what is accommodated", "a victim is marked for another generation"},
	Applies: preempted,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		scheduler := s.Cluster.Preemptor.Spec.SchedulerName + ": "
		for _, p := range toDelete(s) {
			key := model.Key(p)
			about := calls(s, key)
			deleted := slices.IndexFunc(about, func(c model.Call) bool { return c.Verb == "delete" })
			marked := slices.IndexFunc(about, func(c model.Call) bool { return len(c.Conditions) > 0 })
			got, written := s.Condition(p, v1.DisruptionTarget)
			switch {
			case deleted < 0:
				f.add(key, "victim "+key+" is not deleted")
			case marked > deleted || marked < 0 && !properties.MarkedAsVictim(p):
				f.add(key, fmt.Sprintf("victim %s is not marked before it is deleted: %v", key, about))
			case got.Status != string(v1.ConditionTrue) || got.Reason != v1.PodReasonPreemptionByScheduler || !strings.HasPrefix(got.Message, scheduler) || !strings.HasSuffix(got.Message, " pod"):
				f.add(key, fmt.Sprintf("victim %s is marked DisruptionTarget=%s with the reason %q: %q", key, got.Status, got.Reason, got.Message))
			case written && got.ObservedGeneration != generation(p) && !gateOff(s, "PodObservedGenerationTracking"):
				f.add(key, fmt.Sprintf("the condition of victim %s is of generation %d, the pod of %d", key, got.ObservedGeneration, generation(p)))
			}
		}
		return f, nil
	},
}

// LastVictimLast: the one victim whose end wakes the pod is preempted after all others.
var LastVictimLast = properties.Property{
	Name:    "last-victim-last",
	Promise: "We can evict all victims in parallel, but the last one. While deleting the last victim, we want the PreEnqueue check to be able to verify if the eviction is in fact ongoing.",
	Source:  "prepareCandidateAsync (executor.go:271@v1.37.1); KEP-4832",
	Lies:    []string{"the last victim is not the last"},
	Applies: func(s *properties.Subject) bool {
		return preempted(s) && s.Cluster.Settings.AsyncPreemption() && !s.Extended() && len(toDelete(s)) > 1
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		victims := toDelete(s)
		last, begun := model.Key(victims[len(victims)-1]), false
		for _, c := range s.Observation.Aftermath.Calls {
			switch {
			case c.Object == last:
				begun = true
			case begun && slices.ContainsFunc(victims, func(p *v1.Pod) bool { return model.Key(p) == c.Object }):
				f.add(c.Object, fmt.Sprintf("%s comes after calls for the last victim, %s", c, last))
			}
		}
		return f, nil
	},
}

// GatedWhilePreempting: the pod stays out of the queue until its victims are deleted,
// and no longer.
var GatedWhilePreempting = properties.Property{
	Name:    "gated-while-preempting",
	Promise: "The Pod won't be retried until the goroutine triggered here completes. PreEnqueue: the Pod is not enqueued to activeQ while the preemption API calls are in-flight.",
	Source:  "doc comment of prepareCandidateAsync (executor.go:196@v1.37.1); KEP-4832",
	Lies:    []string{"the pod is free while a victim is deleted", "the pod is free while a nomination is removed", "the pod stays gated"},
	Applies: func(s *properties.Subject) bool { return preempted(s) && s.Cluster.Settings.AsyncPreemption() },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		for _, p := range toDelete(s) {
			for _, c := range calls(s, model.Key(p)) {
				if !c.Gated {
					f.add(c.Object, c.String()+": meanwhile the preemptor may be tried again")
				}
			}
		}
		// With asynchronous API calls, who removes a nomination does not wait for it.
		for _, c := range s.Observation.Aftermath.Calls {
			if removes := c.NominatedNode != nil && *c.NominatedNode == "" && c.Object != model.Key(s.Cluster.Preemptor); removes && !c.Gated && !gateOn(s, "SchedulerAsyncAPICalls") {
				f.add(c.Object, c.String()+": meanwhile the preemptor may be tried again")
			}
		}
		if s.Observation.Aftermath.Gated {
			f.add("after", "all victims are deleted, and the preemptor is still kept out of the queue")
		}
		return f, nil
	},
}

// WokenByWhatRejected: the queue knows which plugins rejected the pod. It may know of
// more, such as those whose PreFilter narrowed the choice: a try too many is no harm.
var WokenByWhatRejected = properties.Property{
	Name:    "woken-by-what-rejected",
	Promise: "UnschedulablePlugins records the plugin names that the entity failed with Unschedulable or UnschedulableAndUnresolvable status at specific extension points: PreFilter, Filter, Reserve, or Permit.",
	Source:  "doc comment of UnschedulablePlugins (types.go:615@v1.37.1)",
	Lies:    []string{"a plugin that rejects is left out"},
	Applies: func(s *properties.Subject) bool { return popped(s) && s.Observation.CycleError == "" },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		var rejected []string
		for _, v := range s.Observation.Filters {
			rejected = append(rejected, strings.Split(v.Plugin, ",")...)
		}
		slices.Sort(rejected)
		rejected = slices.Compact(rejected)
		f.addMissing(rejected, s.Observation.Aftermath.UnschedulablePlugins, "rejects the pod, but its events do not wake the pod up")
		return f, nil
	},
}

// PendingIsRecorded: the queue knows which plugins wait for something outside, and no
// others: their events spare the pod its backoff.
var PendingIsRecorded = properties.Property{
	Name:    "pending-is-recorded",
	Promise: "PendingPlugins records the plugin names that the entity failed with Pending status. When the scheduling queue requeues Pods, which was rejected with Pending in the last scheduling, the Pod goes to activeQ directly ignoring backoff.",
	Source:  "doc comments of PendingPlugins (types.go:622@v1.37.1) and Pending (kube-scheduler/framework/interface.go:84@v0.37.1)",
	Lies:    []string{"a plugin that rejects is taken for one that waits", "a plugin that waits is left out"},
	Applies: popped,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		a := s.Observation.Aftermath
		f.addMissing(a.PendingPlugins, a.AnsweredPending, "did not answer Pending, but its events let the pod skip its backoff")
		f.addMissing(a.AnsweredPending, a.PendingPlugins, "answered Pending, but its events do not let the pod skip its backoff")
		return f, nil
	},
}

// QueuedByDeletion: it is the deletion of its victims that wakes the pod, and nothing
// before that.
var QueuedByDeletion = properties.Property{
	Name:    "queued-by-deletion",
	Promise: "If the preemption goroutine is complete, the preemption plugin ungates the Pod; the Pod is queued back to the queue with the Pod/delete event. The stashed pods will be activated at the end of a scheduling cycle if it succeeds, and at the end of a binding cycle if it succeeds.",
	Source:  "KEP-4832, \"Design Details\"; doc comment of PodsToActivateKey (framework/interface.go:133@v1.37.1)",
	Lies:    []string{"the pod is activated while its victims are there", "another pod is activated"},
	Applies: failed,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		for _, key := range s.Observation.Aftermath.Activated {
			f.add(key, key+" is activated, though no call failed, and none of the victims is gone")
		}
		return f, nil
	},
}

// WaitsInItsQueue: a pod that was rejected waits for an event, one whose cycle
// ended in an error for its backoff.
var WaitsInItsQueue = properties.Property{
	Name:    "waits-in-its-queue",
	Promise: "unschedulableEntities holds entities that were already attempted for scheduling and are currently determined to be unschedulable. If entities are rejected at other extension points, they're assumed to be unexpected errors and retried soon after a backoff period. Done must be called for pod returned by Pop. This allows the queue to keep track of which pods are currently being processed.",
	Source:  "doc comments of PriorityQueue (scheduling_queue.go:186@v1.37.1), SchedulingQueue.Done and UnschedulablePlugins (types.go:615@v1.37.1)",
	Lies:    []string{"a rejected pod is tried again at once", "the pod is in no queue", "the pod stays in flight"},
	Applies: popped,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		o, want := s.Observation, model.QueueUnschedulable
		if o.CycleError != "" {
			want = model.QueueBackoff
		}
		got := o.Aftermath.Queue
		if o.Aftermath.InFlight {
			f.add("in flight", "the cycle is over, and the queue still counts the pod as in flight: it keeps all events for it")
		}
		if got != want && !(o.CycleError != "" && got == model.QueueActive) {
			f.add(model.Key(s.Cluster.Preemptor), fmt.Sprintf("the pod waits in the %q queue, not in the %s one", got, want))
		}
		return f, nil
	},
}

// FittingPodIsBound: a pod that fits is bound to the node that was chosen for it.
var FittingPodIsBound = properties.Property{
	Name:    "fitting-pod-is-bound",
	Promise: "The scheduler then notifies the API server about this decision in a process called binding.",
	Source:  "docs: concepts/scheduling-eviction/kube-scheduler",
	Lies:    []string{"a pod that fits is not bound", "a pod is bound to another node", "the pod is not told that it is scheduled", "a volume is written that nobody waits for"},
	Applies: func(s *properties.Subject) bool {
		p := s.Cluster.Preemptor
		// Others write to volumes and claims before the pod is bound: see waiting-claims-get-volumes; an extender may bind it.
		// For resources that devices back a claim is made: see extended-resource-claim.
		return len(s.Unmodelled) == 0 && s.Observation.Aftermath != nil && s.Observation.ScheduledTo != "" && !s.Extended() &&
			!mayWait(s) && !device.Uses(s.Cluster.Extra, p)
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		key, node := model.Key(s.Cluster.Preemptor), s.Observation.ScheduledTo
		about := calls(s, key)
		if len(about) != 1 || about[0].Verb != "bind" || about[0].Node != node {
			f.add(key, fmt.Sprintf("the pod fits on %s, and is not bound to it by one call: %v", node, about))
		}
		for _, c := range s.Observation.Aftermath.Calls {
			if strings.HasPrefix(c.Resource, "persistentvolume") {
				f.add(c.Object, fmt.Sprintf("%s of %s %s for a pod whose claims are bound", c.Verb, c.Resource, c.Object))
			}
		}
		told := events(s, key, "")
		if len(told) != 1 || told[0].Type != v1.EventTypeNormal || told[0].Reason != "Scheduled" || !strings.HasSuffix(told[0].Note, " to "+node) {
			f.add(key+" told", fmt.Sprintf("the pod fits on %s, and is told: %v", node, told))
		}
		if s.Observation.Aftermath.InFlight {
			f.add("in flight", "the pod is bound, and the queue still counts it as in flight: it keeps all events for it")
		}
		return f, nil
	},
}
