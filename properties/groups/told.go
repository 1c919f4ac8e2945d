package groups

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
)

// MembersAreTold: a member that is not bound is told so, by its condition PodScheduled and by an event.
var MembersAreTold = properties.Property{
	Name:    "group-members-are-told",
	Of:      properties.OfGroups,
	Promise: "All Pods in the group are moved back to the scheduling queue. Their status is updated and the event with failure reason is sent.",
	Source:  "KEP-4671, \"Failure Handling\"",
	Needs:   properties.NeedsModel, // where volumes are bound first, a member may be on its way for long
	Lies:    []string{"a member is not told", "a member that was tried before is told that it is scheduled", "a member gets no event", "a member that is bound gets no event"},
	Applies: hadCycle,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		o, bound := s.Observation, boundNow(s.Observation)
		for _, m := range s.Cluster.Preemptors() {
			key := model.Key(m)
			wrong := ""
			if _, ours := o.Group.Members[key]; slices.Contains(bound, key) {
				if !hasEvent(o, "Scheduled", key) {
					wrong = "no event says that it is bound"
				}
			} else if !ours {
				wrong = "the scheduler forgets it"
			} else if c, _ := s.Condition(m, v1.PodScheduled); c.Status != string(v1.ConditionFalse) {
				wrong = "its condition PodScheduled does not say that it is not scheduled"
			} else if !hasEvent(o, "FailedScheduling", key) {
				wrong = "no event says that it is not scheduled"
			}
			if wrong != "" {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", key, "member "+key+": "+wrong))
			}
		}
		return findings, nil
	},
}

// VictimsAreTold: each pod that is preempted for a group is told so, by its condition DisruptionTarget and by one event.
var VictimsAreTold = properties.Property{
	Name: "group-victims-are-told",
	Of:   properties.OfGroups,
	Promise: "Events: … \"reason\": \"Preempted\", \"message\": \"Preempted by podgroup ... on node cluster\", … \"type\": \"Normal\", \"action\": \"Preempting\" … " +
		"Object: Pod. Condition Name: DisruptionTarget. reason: PreemptionByScheduler. message: default-scheduler: preempting to accommodate a higher priority podgroup. Obj returns the object that is triggering preemption. related is the optional secondary object for more complex actions.",
	Source: "KEP-5710, \"How can someone using this feature know that it is working for their instance?\"; doc comment of ExecutorPreemptor.Obj (executor.go:60@v1.37.1); API: events.k8s.io/v1 Event",
	Lies: []string{"a victim gets no event", "an event is of another action", "an event does not say that a group preempts", "a condition has another reason", "a condition does not say that a group preempts",
		"a condition does not name the scheduler", "another object is related"},
	Applies: preempts,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		o := s.Observation
		const group = "podgroup" // or a word that ends so, for one of groups
		named := func(message string) bool {
			return slices.ContainsFunc(s.Cluster.Preemptors(), func(p *v1.Pod) bool { return strings.HasPrefix(message, p.Spec.SchedulerName+": ") })
		}
		for _, key := range o.Group.Victims {
			if !slices.ContainsFunc(o.Aftermath.Calls, func(c model.Call) bool {
				return c.Verb == "delete" && c.Resource == "pods" && c.Object == key && c.Failed == ""
			}) || s.Pod(key) == nil {
				continue
			}
			broken := func(text string, is any) {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", key, fmt.Sprintf("victim %s: %s: %v", key, text, is)))
			}
			events := slices.DeleteFunc(slices.Clone(o.Aftermath.Events), func(e model.Event) bool { return e.Reason != "Preempted" || e.Regarding != "Pod "+key })
			if len(events) != 1 || events[0].Type != v1.EventTypeNormal || events[0].Action != "Preempting" || !strings.HasPrefix(events[0].Note, "Preempted by ") || !strings.Contains(events[0].Note, group+" ") {
				broken("no single event says that a group preempts it", events)
			} else if group := s.Cluster.PreemptorTitle(); events[0].Related != group {
				broken("its event is not related to "+group, events[0])
			}
			if c, _ := s.Condition(s.Pod(key), v1.DisruptionTarget); c.Status != string(v1.ConditionTrue) || c.Reason != v1.PodReasonPreemptionByScheduler || !named(c.Message) || !strings.HasSuffix(c.Message, group) {
				broken("the condition DisruptionTarget does not say that a group preempts it", c)
			}
		}
		return findings, nil
	},
}

// PreemptionErrorIsNamed: a member that is not bound as preemption ended in an error is told that it was preemption.
var PreemptionErrorIsNamed = properties.Property{
	Name:     "group-preemption-error-is-named",
	Of:       properties.OfGroups,
	Releases: ">=1.37.0",
	Promise:  "Errors coming from pod group preemption are now prefixed with \"pod group preemption:\" message.",
	Source:   "release note of kubernetes#139218",
	Lies:     []string{"the error is told without its origin", "no member is told of the error"},
	Applies: func(s *properties.Subject) bool { // the scheduler names the plugin that an error is of
		return hadCycle(s) && s.Observation.Group.Code == "Error" && strings.Contains(s.Observation.Group.Message, "\"DefaultPreemption\"")
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		const origin = "pod group preemption: "
		if why := s.Observation.Group.Message; !strings.Contains(why, origin) {
			return properties.Found(model.StageActuate, "", fmt.Sprintf("the error in which preemption ends does not say %q: %s", origin, why)), nil
		}
		for _, e := range s.Observation.Aftermath.Events {
			member := strings.TrimPrefix(e.Regarding, "Pod ")
			if e.Reason == "FailedScheduling" && slices.ContainsFunc(s.Cluster.Preemptors(), func(m *v1.Pod) bool { return model.Key(m) == member }) &&
				!strings.Contains(e.Note, origin) && len(e.Note) < observation.MaxNote {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", member, fmt.Sprintf("member %s is not told of %q: %s", member, origin, e.Note)))
			}
		}
		return findings, nil
	},
}

// GroupIsTold: the condition PodGroupInitiallyScheduled says whether the group was scheduled, and stays true once it was.
var GroupIsTold = properties.Property{
	Name:    "group-is-told",
	Of:      properties.OfGroups,
	Promise: "PodGroupInitiallyScheduled represents whether the initial scheduling of the PodGroup succeeded; once it is true, it does not revert to False.",
	Source:  "PodGroupInitiallyScheduled (scheduling/v1beta1/types.go:768@v0.37.1); KEP-4671, \"PodGroup Status\"",
	Needs:   properties.NeedsModel,
	Lies:    []string{"it is scheduled, and is not told", "it is told that it is scheduled", "it is told that it is not, after it was"},
	Applies: func(s *properties.Subject) bool { return hadCycle(s) && podGroup(s) != nil },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		g := podGroup(s)
		want := metav1.ConditionFalse
		before := apimeta.FindStatusCondition(g.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
		if len(boundNow(s.Observation)) > 0 || before != nil && before.Status == metav1.ConditionTrue {
			want = metav1.ConditionTrue
		}
		is := metav1.ConditionUnknown
		if before != nil {
			is = before.Status
		}
		if now := told(s.Observation, "podgroups/status", model.Key(g), schedulingv1beta1.PodGroupInitiallyScheduled); now != nil {
			is = metav1.ConditionStatus(now.Status)
		}
		if is != want {
			return properties.Found(model.StageActuate, "", "the condition PodGroupInitiallyScheduled is "+string(is)+", not "+string(want)), nil
		}
		return nil, nil
	},
}
