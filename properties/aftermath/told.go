package aftermath

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
)

// VictimsAreTold: every victim gets one event that says who preempts it, and where.
var VictimsAreTold = properties.Property{
	Name:    "victims-are-told",
	Promise: "When a Pod is preempted, there will be events recorded for the preempted Pod. We currently only have events that describe a pod being preempted by another pod. related is the optional secondary object for more complex actions.",
	Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Troubleshooting\"; KEP-902, of missing metrics; API: events.k8s.io/v1 Event",
	Lies: []string{"no event for a victim", "an event about another pod", "an event of another type", "an event with another reason", "an event of another action",
		"the note does not name the node", "the note does not say that a pod preempts", "another pod is related"},
	Applies: preempted,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		preemptor := "Pod " + model.Key(s.Cluster.Preemptor)
		for _, p := range toDelete(s) {
			key := model.Key(p)
			told := events(s, key, "Preempted")
			if len(told) != 1 {
				f.add(key, fmt.Sprintf("victim %s gets %d events with the reason Preempted, and these in all: %v", key, len(told), events(s, key, "")))
				continue
			}
			e := told[0]
			if e.Type != v1.EventTypeNormal || e.Action != "Preempting" || !strings.Contains(e.Note, s.Observation.Pick.Node) || !strings.Contains(e.Note, " pod ") {
				f.add(key, fmt.Sprintf("victim %s is told: %s", key, e))
			}
			if e.Related != preemptor && !(e.Related == "" && s.Assumes("preempted-event-without-preemptor")) {
				f.add(key+" related", fmt.Sprintf("the event of victim %s is related to %q, not to %s", key, e.Related, preemptor))
			}
		}
		for _, e := range s.Observation.Aftermath.Events {
			if e.Reason == "Preempted" && !slices.ContainsFunc(toDelete(s), func(p *v1.Pod) bool { return e.Regarding == "Pod "+model.Key(p) }) {
				f.add(e.Regarding, e.Regarding+" is no victim, but is told that it is preempted")
			}
		}
		return f, nil
	},
}

// FailureIsTold: the pod gets one warning that says on how many nodes it fits.
var FailureIsTold = properties.Property{
	Name: "failure-is-told",
	Promise: "Error returns detailed information of why the pod failed to fit on each node. A message format is \"0/X nodes are available: <PreFilterMsg>. <FilterMsg>. <PostFilterMsg>.\" " +
		"The string includes the reason if this pod isn't eligible. " +
		"Added details about preemption in the event for scheduling failed. A FailedScheduling event and PodScheduled PodCondition for a pod for which the default preemption found a potential node will now contain " +
		"\"preemption: found a potential placement for pod on node <node_name>, preempting <victim_count> victims\".",
	Source: "doc comments of FitError.Error (types.go:1468@v1.37.1) and PodEligibleToPreemptOthers (default_preemption.go:443@v1.37.1); docs: tasks/debug/debug-application/debug-pods, \"My pod stays pending\"; release notes of kubernetes#107775 and kubernetes#140180",
	Lies: []string{"no event for the pod", "the event is no warning", "the event is of another action", "another number of nodes", "the answer of preemption is left out",
		"preemption counts another number of nodes", "preemption is not named", "preemption that helps is not named", "preemption counts another number of victims",
		"preemption says nothing of a node", "preemption says nothing of any node", "preemption does not say why nothing is preempted"},
	Applies: failed,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		o, key := s.Observation, model.Key(s.Cluster.Preemptor)
		told := events(s, key, "FailedScheduling")
		if len(told) != 1 || told[0].Type != v1.EventTypeWarning || told[0].Action != "Scheduling" {
			f.add(key, fmt.Sprintf("%s fits nowhere, and is told: %v", key, events(s, key, "")))
			return f, nil
		}
		if o.CycleError != "" {
			return f, nil
		}
		note := told[0].Note
		if begin := fmt.Sprintf("0/%d nodes are available:", len(s.Cluster.Nodes)); !strings.HasPrefix(note, begin) {
			f.add(key, fmt.Sprintf("the event does not begin with %q: %s", begin, note))
		}
		if len(note) < observation.MaxNote && !strings.HasSuffix(note, o.PostFilterMessage) {
			f.add(key, fmt.Sprintf("the event does not end with what preemption answered, %q: %s", o.PostFilterMessage, note))
		}
		if s.HasOutside() {
			return f, nil
		}
		answer := o.PostFilterMessage // before which another plugin may have answered
		if begin := fmt.Sprintf("preemption: 0/%d nodes are available", len(s.Cluster.Nodes)); strings.Contains(answer, "nodes are available") && !strings.Contains(answer, begin) {
			f.add(key+" preemption", fmt.Sprintf("the answer of preemption does not say %q: %s", begin, answer))
		} else if _, reasons, found := strings.Cut(answer, begin+":"); found && counted(reasons) < reasonsToTell(s) {
			f.add(key+" reasons", fmt.Sprintf("the answer of preemption gives %d reasons, want %d for %d nodes: %s", counted(reasons), reasonsToTell(s), len(s.Cluster.Nodes), answer))
		}
		if _, why, found := strings.Cut(answer, "preemption: "); o.PostFilterCode == "Unschedulable" && asksPreemption(s) && (!found || why == "") {
			f.add(key+" preemption", fmt.Sprintf("the answer of preemption does not say why nothing is preempted: %q", answer))
		}
		if o.Pick != nil {
			if want := fmt.Sprintf("preemption: found a potential placement for pod on node %s, preempting %d victims", o.Pick.Node, len(o.Pick.Victims)); answer != want {
				f.add(key+" preemption", fmt.Sprintf("the answer of preemption is not %q: %s", want, answer))
			}
		}
		return f, nil
	},
}

// asksPreemption tells whether preemption is asked about a pod that fits nowhere: a configuration may leave it out.
func asksPreemption(s *properties.Subject) bool {
	if s.Decision == nil {
		return len(s.Cluster.Settings.Configuration) == 0
	}
	return !s.Decision.NeverPreempts()
}

// reasonsToTell is how many reasons preemption has why it does not help: those of the dry run on a node, and one for each other node.
func reasonsToTell(s *properties.Subject) int {
	n := len(s.Cluster.Nodes)
	for _, run := range s.Observation.DryRuns {
		if run.Failed != nil {
			n += max(0, len(run.Failed.Reasons)-1)
		}
	}
	return n
}

var number = regexp.MustCompile(`(?:^|,) (\d+) `)

// counted adds up how often each reason of a list is given, " 1 reason, 2 another reason.": once for each node, or for a node more often.
func counted(reasons string) (sum int) {
	for _, match := range number.FindAllStringSubmatch(reasons, -1) {
		n, _ := strconv.Atoi(match[1])
		sum += n
	}
	return sum
}

// FailureIsCounted: the counts before the reasons are those of the nodes.
var FailureIsCounted = properties.Property{
	Name:    "failure-is-counted",
	Promise: "Error returns detailed information of why the pod failed to fit on each node.",
	Source:  "doc comment of FitError.Error (types.go:1468@v1.37.1)",
	Lies:    []string{"a reason is counted once too often", "a reason is left out"},
	Applies: func(s *properties.Subject) bool {
		o := s.Observation
		return failed(s) && o.CycleError == "" && len(o.Filters) == len(s.Cluster.Nodes) && !s.Extended()
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		key := model.Key(s.Cluster.Preemptor)
		told := events(s, key, "FailedScheduling")
		if len(told) != 1 || len(told[0].Note) >= observation.MaxNote {
			return nil, nil // failure-is-told says so
		}
		note, want := told[0].Note, map[string]int{}
		for _, v := range s.Observation.Filters {
			for _, reason := range v.Reasons {
				want[reason]++
			}
		}
		_, rest, _ := strings.Cut(note, "nodes are available:")
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, s.Observation.PostFilterMessage), " ")
		for reason, n := range want {
			// A rejection by PreFilter is told once, without a number.
			if counted := " " + strconv.Itoa(n) + " " + reason; !strings.Contains(rest, counted) && strings.TrimSpace(rest) != reason+"." {
				f.add(reason, fmt.Sprintf("%d nodes say %q, and the event says:%s", n, reason, rest))
			}
		}
		return f, nil
	},
}

// ConditionSaysWhy: the condition PodScheduled says what the event says.
var ConditionSaysWhy = properties.Property{
	Name:    "condition-says-why",
	Promise: "PodScheduled: the Pod has been scheduled to a node. PodReasonUnschedulable reason in PodScheduled PodCondition means that the scheduler can't schedule the pod right now. PodReasonSchedulerError reason in PodScheduled PodCondition means that some internal error happens during scheduling. observedGeneration represents the .metadata.generation that the pod condition was set based upon.",
	Source:  "docs: concepts/workloads/pods/pod-lifecycle, \"Pod conditions\"; API: core/v1 PodReasonUnschedulable, PodReasonSchedulerError, PodCondition",
	Lies:    []string{"the condition is not written", "the condition has another status", "the condition has another reason", "the condition has another message", "the condition is of another generation"},
	Applies: failed,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var f findings
		p, o := s.Cluster.Preemptor, s.Observation
		key, reason := model.Key(p), v1.PodReasonUnschedulable
		if o.CycleError != "" && len(s.Cluster.Nodes) > 0 {
			reason = v1.PodReasonSchedulerError
		}
		got, written := s.Condition(p, v1.PodScheduled)
		told := events(s, key, "FailedScheduling")
		switch {
		case got.Type == "":
			f.add(key, "the pod fits nowhere, and gets no condition PodScheduled that says so")
		case got.Status != string(v1.ConditionFalse) || got.Reason != reason:
			f.add(key, fmt.Sprintf("the condition PodScheduled is %q with the reason %q, not False with %q", got.Status, got.Reason, reason))
		case len(told) == 1 && !strings.HasPrefix(got.Message, strings.TrimSuffix(told[0].Note, " ...")):
			f.add(key, fmt.Sprintf("the condition says %q, the event %q", got.Message, told[0].Note))
		case written && got.ObservedGeneration != generation(p) && !gateOff(s, "PodObservedGenerationTracking"):
			f.add(key, fmt.Sprintf("the condition is of generation %d, the pod of %d", got.ObservedGeneration, generation(p)))
		}
		return f, nil
	},
}

// generation is a pod's; the API server gives each pod one.
func generation(p *v1.Pod) int64 { return max(p.Generation, 1) }

func gateOn(s *properties.Subject, gate string) bool { return s.Cluster.Settings.FeatureGates[gate] }

func gateOff(s *properties.Subject, gate string) bool {
	on, set := s.Cluster.Settings.FeatureGates[gate]
	return set && !on
}
