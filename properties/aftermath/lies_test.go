package aftermath

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// cluster is one on which the preemptor takes low and mid on node-1, with the pod's
// and the victims' objects in their third generation.
func cluster() *model.Cluster {
	c := checktest.Cluster()
	c.Preemptor = checktest.Pod("p", 10, "2")
	c.Preemptor.Generation = 3
	for _, p := range c.Pods {
		p.Generation = 3
	}
	return c
}

// giveConditions makes the preemptor one that was tried before, and mid one whose eviction
// did not happen.
func giveConditions(c *model.Cluster) {
	c.Preemptor.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulerError, ObservedGeneration: 2}}
	for _, p := range c.Pods {
		if p.Name == "mid" {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionFalse, Reason: "EvictionByEvictionAPI"}}
		}
	}
}

type aftermath = model.Aftermath

func eventOf(a *aftermath, reason string) *model.Event {
	return &a.Events[slices.IndexFunc(a.Events, func(e model.Event) bool { return e.Reason == reason })]
}

func withoutEvent(reason string) func(*aftermath) {
	return func(a *aftermath) {
		a.Events = slices.DeleteFunc(a.Events, func(e model.Event) bool { return e.Reason == reason })
	}
}

// callOf is the first call about a pod with a condition, or without.
func callOf(a *aftermath, pod string, marks bool) *model.Call {
	return &a.Calls[slices.IndexFunc(a.Calls, func(c model.Call) bool { return c.Object == pod && (len(c.Conditions) > 0) == marks })]
}

// replaceNote changes what the preemptor's event says; an old text of "" is all of it.
func replaceNote(old, with string) func(*aftermath) {
	return func(a *aftermath) {
		e := eventOf(a, "FailedScheduling")
		if old == "" {
			old = e.Note
		}
		e.Note = strings.Replace(e.Note, old, with, 1)
	}
}

type lie struct {
	property, name string
	tell           func(a *aftermath)
}

// lies are what a lying scheduler tells, by the names in Property.Lies.
var lies = []lie{
	{"victims-are-told", "no event for a victim", func(a *aftermath) {
		a.Events = slices.DeleteFunc(a.Events, func(e model.Event) bool { return e.Regarding == "Pod default/low" })
	}},
	{"victims-are-told", "an event about another pod", func(a *aftermath) { eventOf(a, "Preempted").Regarding = "Pod default/other" }},
	{"victims-are-told", "an event of another type", func(a *aftermath) { eventOf(a, "Preempted").Type = v1.EventTypeWarning }},
	{"victims-are-told", "an event with another reason", func(a *aftermath) { eventOf(a, "Preempted").Reason = "Evicted" }},
	{"victims-are-told", "an event of another action", func(a *aftermath) { eventOf(a, "Preempted").Action = "Deleting" }},
	{"victims-are-told", "the note does not name the node", func(a *aftermath) { eventOf(a, "Preempted").Note = "preempted" }},
	{"victims-are-told", "the note does not say that a pod preempts", func(a *aftermath) { eventOf(a, "Preempted").Note = "Preempted by  default/p on node node-1" }},
	{"victims-are-told", "another pod is related", func(a *aftermath) { eventOf(a, "Preempted").Related = "Pod default/other" }},
	{"failure-is-told", "no event for the pod", withoutEvent("FailedScheduling")},
	{"failure-is-told", "the event is no warning", func(a *aftermath) { eventOf(a, "FailedScheduling").Type = v1.EventTypeNormal }},
	{"failure-is-told", "the event is of another action", func(a *aftermath) { eventOf(a, "FailedScheduling").Action = "Preempting" }},
	{"failure-is-told", "another number of nodes", replaceNote("0/2", "0/3")},
	{"failure-is-told", "the answer of preemption is left out", replaceNote("", "0/2 nodes are available: 2 Insufficient cpu.")},
	{"failure-is-counted", "a reason is counted once too often", replaceNote("2 Insufficient cpu", "3 Insufficient cpu")},
	{"failure-is-counted", "a reason is left out", replaceNote("2 Insufficient cpu", "2 Insufficient")},
	{"condition-says-why", "the condition is not written", func(a *aftermath) { callOf(a, "default/p", true).Conditions = nil }},
	{"condition-says-why", "the condition has another status", func(a *aftermath) { callOf(a, "default/p", true).Conditions[0].Status = "Unknown" }},
	{"condition-says-why", "the condition has another reason", func(a *aftermath) {
		callOf(a, "default/p", true).Conditions[0].Reason = v1.PodReasonSchedulerError
	}},
	{"condition-says-why", "the condition has another message", func(a *aftermath) { callOf(a, "default/p", true).Conditions[0].Message = "no room" }},
	{"condition-says-why", "the condition is of another generation", func(a *aftermath) { callOf(a, "default/p", true).Conditions[0].ObservedGeneration = 2 }},
	{"nomination-is-written", "the nomination is not written", func(a *aftermath) { callOf(a, "default/p", true).NominatedNode = nil }},
	{"nomination-is-written", "the nomination is of another node", func(a *aftermath) { *callOf(a, "default/p", true).NominatedNode = "node-2" }},
	{"nomination-is-written", "the scheduler forgets the nomination", func(a *aftermath) { a.NominatedTo = "" }},
	{"condition-before-deletion", "a victim is marked after its deletion", func(a *aftermath) {
		mark, deletion := callOf(a, "default/low", true), callOf(a, "default/low", false)
		*mark, *deletion = *deletion, *mark
	}},
	{"condition-before-deletion", "a victim is marked with another condition", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].Type = "Preempted" }},
	{"condition-before-deletion", "a victim is marked with another status", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].Status = "False" }},
	{"condition-before-deletion", "a victim is marked with another reason", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].Reason = "EvictionByEvictionAPI" }},
	{"condition-before-deletion", "a victim is marked without a message", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].Message = "" }},
	{"condition-before-deletion", "the message does not name the scheduler", func(a *aftermath) {
		callOf(a, "default/low", true).Conditions[0].Message = ": preempting to accommodate a higher priority pod"
	}},
	{"condition-before-deletion", "the message does not say what is accommodated", func(a *aftermath) {
		callOf(a, "default/low", true).Conditions[0].Message = "default-scheduler: preempting to accommodate a higher priority "
	}},
	{"condition-before-deletion", "a victim is marked for another generation", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].ObservedGeneration = 0 }},
	{"transition-is-dated", "a new condition has no time", func(a *aftermath) { callOf(a, "default/low", true).Conditions[0].Transitioned = false }},
	{"transition-is-dated", "another status keeps the old time", func(a *aftermath) { callOf(a, "default/mid", true).Conditions[0].Transitioned = false }},
	{"transition-is-dated", "another message counts as a transition", func(a *aftermath) { callOf(a, "default/p", true).Conditions[0].Transitioned = true }},
	{"last-victim-last", "the last victim is not the last", func(a *aftermath) { slices.Reverse(a.Calls) }},
	{"gated-while-preempting", "the pod is free while a victim is deleted", func(a *aftermath) { callOf(a, "default/low", false).Gated = false }},
	{"gated-while-preempting", "the pod is free while a nomination is removed", func(a *aftermath) { callOf(a, "default/waiting", false).Gated = false }},
	{"gated-while-preempting", "the pod stays gated", func(a *aftermath) { a.Gated = true }},
	{"woken-by-what-rejected", "a plugin that rejects is left out", func(a *aftermath) { a.UnschedulablePlugins = nil }},
	{"pending-is-recorded", "a plugin that rejects is taken for one that waits", func(a *aftermath) { a.PendingPlugins = a.UnschedulablePlugins }},
	{"pending-is-recorded", "a plugin that waits is left out", func(a *aftermath) { a.AnsweredPending = []string{"DynamicResources"} }},
	{"queued-by-deletion", "the pod is activated while its victims are there", func(a *aftermath) { a.Activated = []string{"default/p"} }},
	{"queued-by-deletion", "another pod is activated", func(a *aftermath) { a.Activated = []string{"default/waiting"} }},
	{"waits-in-its-queue", "a rejected pod is tried again at once", func(a *aftermath) { a.Queue = model.QueueActive }},
	{"waits-in-its-queue", "the pod is in no queue", func(a *aftermath) { a.Queue = model.QueueNone }},
	{"waits-in-its-queue", "the pod stays in flight", func(a *aftermath) { a.InFlight = true }},
	{"fitting-pod-is-bound", "a pod that fits is not bound", func(a *aftermath) { a.Calls = nil }},
	{"fitting-pod-is-bound", "a pod is bound to another node", func(a *aftermath) { a.Calls[0].Node = "node-3" }},
	{"fitting-pod-is-bound", "the pod is not told that it is scheduled", func(a *aftermath) { a.Events = nil }},
	{"fitting-pod-is-bound", "a volume is written that nobody waits for", also(model.Call{Verb: "update", Resource: "persistentvolumes", Object: "large", BoundTo: "default/other"})},
}

// answers are the lies about what preemption answered, and about what the event says of
// it: the old text and the new one.
var answers = []struct {
	name, old, with string
	priority        int32 // of the preemptor
}{
	{"preemption counts another number of nodes", "preemption: 0/2", "preemption: 0/3", 0},
	{"preemption is not named", "preemption: 0/2", "0/2", 0},
	{"preemption that helps is not named", "preemption: found", "found", 10},
	{"preemption counts another number of victims", "preempting 2", "preempting 3", 10},
	{"preemption says nothing of a node", "available: 2", "available: 1", 0},
	{"preemption says nothing of any node", "available: 2 No preemption victims found for incoming pod.", "available:", 0},
	{"preemption does not say why nothing is preempted", "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.", "", 0},
}

func TestAftermathCatchesLies(t *testing.T) {
	system := checktest.System(t)
	caught := map[string][]string{}
	test := func(property, name string, c *model.Cluster, tell func(*model.Observation)) {
		t.Run(property+"/"+name, func(t *testing.T) {
			i := slices.IndexFunc(All(), func(p properties.Property) bool { return p.Name == property })
			require.GreaterOrEqual(t, i, 0)
			check := func(system reference.System) []properties.Finding {
				checker := &properties.Checker{System: system, Properties: All()[i : i+1]}
				r, err := checker.Check(t.Context(), c.DeepCopy())
				require.NoError(t, err)
				return r.Unexplained()
			}
			assert.Empty(t, check(system), "the truth")
			findings := check(checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) { tell(o) }})
			require.NotEmpty(t, findings)
			caught[property] = append(caught[property], name)
		})
	}
	for _, lie := range slices.Concat(lies, ofExtendedClaims, ofVolumes) {
		c := cluster()
		if lie.property == "fitting-pod-is-bound" {
			c.Preemptor = checktest.Pod("p", 10, "0")
		}
		if lie.property == "transition-is-dated" {
			giveConditions(c)
		}
		if lie.property == "extended-resource-claim" {
			c = extendedCluster(lie.name)
		}
		if lie.property == "waiting-claims-get-volumes" {
			c = volumesCluster()
		}
		test(lie.property, lie.name, c, func(o *model.Observation) {
			require.True(t, o.ScheduledTo != "" || len(o.Pick.Victims) == 2)
			lie.tell(o.Aftermath)
		})
	}
	for _, lie := range answers {
		c := cluster()
		c.Preemptor.Spec.Priority = &lie.priority
		test("failure-is-told", lie.name, c, func(o *model.Observation) {
			require.Contains(t, o.PostFilterMessage, lie.old)
			o.PostFilterMessage = strings.Replace(o.PostFilterMessage, lie.old, lie.with, 1)
			replaceNote(lie.old, lie.with)(o.Aftermath)
		})
	}
	for _, lie := range ofReasons {
		c := reasonsCluster()
		if lie.change != nil {
			lie.change(c)
		}
		test("reasons-are-told", lie.name, c, func(o *model.Observation) {
			v, rejected := o.Filters[lie.node]
			require.True(t, rejected)
			v.Reasons = lie.reasons
			o.Filters[lie.node] = v
		})
	}
	second := OneExtendedResourceClaim.Lies[0]
	test("one-extended-resource-claim", second, extendedCluster(second), func(o *model.Observation) { alsoMakes(o.Aftermath) })
	for _, p := range All() {
		assert.NotEmpty(t, p.Lies, "no lie breaks %s", p.Name)
		assert.Equal(t, p.Lies, caught[p.Name], p.Name)
		assert.NotEmpty(t, p.Promise, p.Name)
		assert.NotEmpty(t, p.Source, p.Name)
	}
}
