package aftermath

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Costly are the promises for which the system is asked again. Those about API calls
// that fail ask it once for each call, all of them together.
func Costly() []properties.Property { return append(Faults(), MetricsCount, SaidIsNotWritten) }

// Faults are the promises about a cycle of which an API call fails.
func Faults() []properties.Property {
	return []properties.Property{
		FaultGetsThrough,
		RetriedAfterFault,
		ActivatedAfterFault,
		TriedAgain,
		OnlyVictimsDeleted,
		LastVictimSpared,
		SparedIsNotTold,
		SparedIsHeld,
		UnmarkedIsNotDeleted,
		DeletedIsTold,
		FailedPreemptionIsTold,
		GoneIsNoError,
		NoNominationWithoutPreemption,
	}
}

// faulted is a cycle of which an API call failed.
type faulted struct {
	*properties.Subject
	fault reference.Fault
	findings
}

func (f *faulted) found(about, detail string) {
	f.add(f.fault.String()+" "+about, fmt.Sprintf("%s: %s", f.fault, detail))
}

// each checks what comes of each fault, unless the scheduler breaks: FaultGetsThrough
// says so.
func each(check func(f *faulted)) func(s *properties.Subject) ([]properties.Finding, error) {
	return eachOrCrash(func(f *faulted) {
		if f.Observation.Crash == nil {
			check(f)
		}
	})
}

func eachOrCrash(check func(f *faulted)) func(s *properties.Subject) ([]properties.Finding, error) {
	return func(s *properties.Subject) ([]properties.Finding, error) {
		all, err := s.Faulted()
		var found []properties.Finding
		for _, one := range all {
			f := &faulted{Subject: s.Under(one), fault: one.Fault}
			check(f)
			found = append(found, f.findings...)
		}
		return found, err
	}
}

// lost is the call that failed, unless it was tried again and got through; nil if there
// is none.
func (f *faulted) lost() (call *model.Call) {
	calls := f.Observation.Aftermath.Calls
	for i := range calls {
		c := &calls[i]
		if call == nil && c.Failed != "" {
			call = c
		} else if call != nil && c.Failed == "" && like(c, call) {
			return nil
		}
	}
	return call
}

// like tells whether two calls are for the same thing.
func like(a, b *model.Call) bool {
	return a.Verb == b.Verb && a.Resource == b.Resource && a.Object == b.Object
}

// spared is a victim whose preemption failed; nil if that is not what failed. A victim
// that is gone is none.
func (f *faulted) spared() *v1.Pod {
	c := f.lost()
	if c == nil || f.fault.Error == reference.NotFound || !strings.HasPrefix(c.Resource, "pods") || c.NominatedNode != nil || c.Object == model.Key(f.Cluster.Preemptor) {
		return nil
	}
	return f.Pod(c.Object)
}

// keepsNomination tells whether the call failed by which another pod's nomination was to be withdrawn as victims are preempted.
func (f *faulted) keepsNomination() bool {
	c := f.lost()
	return c != nil && f.fault.Error != reference.NotFound && c.NominatedNode != nil && *c.NominatedNode == "" && c.Object != model.Key(f.Cluster.Preemptor) &&
		len(deletions(f.Observation)) > 0 && !gateOn(f.Subject, "SchedulerAsyncAPICalls") // by which nobody waits for the answer
}

func deletions(o *model.Observation) (keys []string) {
	for _, c := range o.Aftermath.Calls {
		if c.Verb == "delete" && c.Resource == "pods" {
			keys = append(keys, c.Object)
		}
	}
	return keys
}

// bound tells whether the pod was bound to a node.
func bound(o *model.Observation) bool {
	return slices.ContainsFunc(o.Aftermath.Calls, func(c model.Call) bool { return c.Verb == "bind" && c.Failed == "" })
}

// FaultGetsThrough: no error of the API server ends the scheduler.
var FaultGetsThrough = properties.Property{
	Name:    "fault-gets-through",
	Promise: "It denotes a transient/rare error that may be self-healed in future cycles.",
	Source:  "doc comment of Preempt (preemption.go:168@v1.37.1); a process that ends, or waits for ever, has no future cycles",
	Lies:    []string{"a call that fails is followed by a panic"},
	Check: eachOrCrash(func(f *faulted) {
		// Which of two capacities the scheduler reads is chance: a known crash may show here only.
		if c := f.Observation.Crash; c != nil && len(properties.KnownCrashes(f.Cluster, c)) == 0 {
			f.found("", c.String())
			last := &f.findings[len(f.findings)-1]
			last.Kind, last.Stack = properties.CrashKind(c), c.Frames()
		}
	}),
}

// RetriedAfterFault: the pod is in a queue, and in one that does not wait for events
// if there may be none.
var RetriedAfterFault = properties.Property{
	Name:    "retried-after-fault",
	Promise: "After the preemption goroutine is done, the scheduling for the Pod that triggered the preemption will be retried. When API call isn't successful or no victim deletion event will be produced, the preemptor's Pods may get stuck in the unschedulable pod pool in the worst case.",
	Source:  "KEP-4832, \"Proposal\"; prepareCandidateAsync (executor.go:248@v1.37.1)",
	Lies:    []string{"the pod is lost", "the pod waits for a deletion that does not come", "the pod stays gated"},
	Check: each(func(f *faulted) {
		a, key, lost := f.Observation.Aftermath, model.Key(f.Cluster.Preemptor), f.lost()
		binding := f.Observation.ScheduledTo != ""
		// A nomination that is written before binding is not critical.
		if a.NeverPopped || binding && (lost == nil || lost.Resource == "pods/status") {
			return
		}
		switch {
		case a.Gated:
			f.found("gated", "the pod is kept out of the queue for ever")
		case a.Queue == model.QueueNone:
			f.found("lost", "the pod is in no queue")
		case a.Queue == model.QueueUnschedulable && (binding || f.spared() != nil && f.Cluster.Settings.AsyncPreemption()):
			f.found("waits", fmt.Sprintf("%s waits for an event, though %s", key, lost))
		}
	}),
}

// ActivatedAfterFault: a pod whose preemption failed does not wait for a deletion that does
// not come; and no other pod is tried again because of that.
var ActivatedAfterFault = properties.Property{
	Name:    "activated-after-fault",
	Promise: "When API call isn't successful or no victim deletion event will be produced, the preemptor's Pods may get stuck in the unschedulable pod pool in the worst case. Activate moves the given pods to activeQ.",
	Source:  "prepareCandidateAsync (executor.go:248@v1.37.1); doc comment of PodActivator (kube-scheduler/framework/interface.go:943@v0.37.1)",
	Lies:    []string{"nobody is activated", "nobody is activated as a nomination cannot be withdrawn", "another pod is activated"},
	Check: each(func(f *faulted) {
		preemptor, activated := model.Key(f.Cluster.Preemptor), f.Observation.Aftermath.Activated
		if (f.spared() != nil || f.keepsNomination()) && f.Cluster.Settings.AsyncPreemption() && !slices.Contains(activated, preemptor) {
			f.found("not activated", fmt.Sprintf("%s, and the pod is not activated", f.lost()))
		}
		for _, key := range activated {
			if key != preemptor {
				f.found(key, fmt.Sprintf("%s is activated, which does not preempt", key))
			}
		}
	}),
}

// TriedAgain: an error that may pass is not taken for an answer.
var TriedAgain = properties.Property{
	Name:    "tried-again",
	Promise: "Retriable defines the retriable errors during a scheduling cycle. RetriableWithConflict defines the retriable errors during a scheduling cycle, including conflicts. BindPod binds a pod to a node with retry.",
	Source:  "doc comments of Retriable (util/utils.go:100@v1.37.1), RetriableWithConflict (util/utils.go:106@v1.37.1) and BindPod (util/utils.go:111@v1.37.1)",
	Lies:    []string{"a patch is not tried again"},
	Check: each(func(f *faulted) {
		c := f.lost()
		if c == nil || !f.fault.Passing {
			return
		}
		patch, bind := c.Verb == "patch" && c.Resource == "pods/status", c.Verb == "bind"
		if f.fault.Error == reference.InternalError && (patch || bind) || f.fault.Error == reference.Conflict && patch {
			f.found(c.Object, "it is not tried again: "+c.String())
		}
	}),
}

// OnlyVictimsDeleted: an error does not lead to the deletion of other pods.
var OnlyVictimsDeleted = properties.Property{
	Name:    "only-victims-deleted",
	Promise: "There are no functional changes: the result of the preemption is the same. If a node can be found where removing one or more Pods of lower priority would enable P to be scheduled, those pods get evicted.",
	Source:  "KEP-4832, \"Does enabling the feature change any default behavior?\"; " + properties.DocsPreemption,
	Lies:    []string{"a pod of another node is deleted instead"},
	Check: each(func(f *faulted) {
		o := f.Observation
		runs := o.DryRuns
		if o.AfterExtenders != nil {
			runs = o.AfterExtenders
		}
		deleted := deletions(o)
		if o.Pick != nil {
			runs = map[string]model.DryRun{o.Pick.Node: {Victims: o.Pick.Victims}}
		}
		for _, run := range runs {
			if !slices.ContainsFunc(deleted, func(key string) bool { return !slices.Contains(run.Victims, key) }) {
				return
			}
		}
		if len(deleted) > 0 {
			f.found("", fmt.Sprintf("deleted are %v: no node has these victims", deleted))
		}
	}),
}

// LastVictimSpared: a preemption that cannot succeed goes no further.
var LastVictimSpared = properties.Property{
	Name:    "last-victim-spared",
	Promise: "If any of the previous victims failed to be preempted, then we can skip the preemption attempt for the last victim Pod to expedite the preemptor's re-entry to the scheduling cycle.",
	Source:  "prepareCandidateAsync (executor.go:288@v1.37.1)",
	Lies:    []string{"the last victim is deleted all the same"},
	Check: eachSpared(func(f *faulted, spared *v1.Pod) {
		victims := toDelete(f.Subject)
		if f.Observation.Pick == nil || !f.Cluster.Settings.AsyncPreemption() || f.Extended() || len(victims) < 2 {
			return
		}
		if last := model.Key(victims[len(victims)-1]); last != model.Key(spared) && slices.Contains(deletions(f.Observation), last) {
			f.found(last, fmt.Sprintf("%s, and the last victim %s is deleted all the same", f.lost(), last))
		}
	}),
}

// GoneIsNoError: a victim that is gone already makes room as well.
var GoneIsNoError = properties.Property{
	Name:    "gone-is-no-error",
	Promise: "404 StatusNotFound: Indicates the requested resource does not exist. Victim Pod is already deleted.",
	Source:  "API conventions, \"HTTP status codes\"; NewExecutor (executor.go:95@v1.37.1)",
	Lies:    []string{"a victim that is gone ends the preemption"},
	Check: each(func(f *faulted) {
		c := f.lost()
		if c == nil || f.fault.Error != reference.NotFound || !strings.HasPrefix(c.Resource, "pods") || c.NominatedNode != nil || !popped(f.Subject) || c.Object == model.Key(f.Cluster.Preemptor) {
			return
		}
		if f.Observation.Pick == nil {
			f.found("", fmt.Sprintf("%s, and the preemption is given up: %s", c, f.Observation.PostFilterMessage))
			return
		}
		deleted := deletions(f.Observation)
		for _, p := range toDelete(f.Subject) {
			if key := model.Key(p); key != c.Object && !slices.Contains(deleted, key) {
				f.found(key, fmt.Sprintf("%s, and victim %s is not deleted", c, key))
			}
		}
	}),
}

// NoNominationWithoutPreemption: room that was not made is not kept.
var NoNominationWithoutPreemption = properties.Property{
	Name:    "no-nomination-without-preemption",
	Promise: "If the preemption goroutine fails at some point, it reverts the nomination. <nil, Error>: a nil PostFilterResult is returned to keep the pod's nominatedNodeName unchanged.",
	Source:  "KEP-4832, \"Design Details\"; doc comment of Preempt (preemption.go:166@v1.37.1)",
	Lies:    []string{"a preemption that failed nominates", "a preemption that failed nominates to another node"},
	Check: eachSpared(func(f *faulted, _ *v1.Pod) {
		p, o := f.Cluster.Preemptor, f.Observation
		// What is known keeps the nomination to the node whose pods were to go, and to no other.
		stays := func(node string) bool {
			return node == "" || node == p.Status.NominatedNodeName || f.Cluster.Settings.AsyncPreemption() &&
				o.Pick != nil && node == o.Pick.Node && f.Assumes("failed-preemption-keeps-nomination")
		}
		if got := o.Aftermath.NominatedTo; !stays(got) {
			f.found("memory", fmt.Sprintf("%s, and the scheduler keeps the pod as nominated to %s", f.lost(), got))
		}
		got := p.Status.NominatedNodeName
		for _, c := range calls(f.Subject, model.Key(p)) {
			if c.NominatedNode != nil {
				got = *c.NominatedNode
			}
		}
		if !stays(got) {
			f.found("status", fmt.Sprintf("%s, and status.nominatedNodeName is %s", f.lost(), got))
		}
	}),
}
