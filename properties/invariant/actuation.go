package invariant

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
)

func actuated(s *properties.Subject) bool { return s.Observation.Actuation != nil }

// VictimsDeletedAndMarked: every victim is deleted and marked as a disruption target.
var VictimsDeletedAndMarked = properties.Property{
	Name:    "victims-deleted-and-marked",
	Promise: "If such a Node is found, one or more lower priority Pods get evicted from the Node. PreemptionByScheduler: Pod is due to be preempted by a scheduler in order to accommodate a new Pod with a higher priority.",
	Source:  properties.DocsPreemption + "; docs: concepts/workloads/pods/disruptions, \"Pod disruption conditions\" (KEP-3329)",
	Lies:    []string{"nobody is deleted", "nobody is marked"},
	Applies: func(s *properties.Subject) bool { return actuated(s) && preempted(s) },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		a := s.Observation.Actuation
		for _, p := range s.Victims() {
			key := model.Key(p)
			if p.DeletionTimestamp != nil {
				continue // on its way already (kubernetes#131519)
			}
			if !slices.Contains(a.Deleted, key) {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", key, "victim "+key+" is not deleted"))
			}
			if !slices.Contains(a.DisruptionTarget, key) && !properties.MarkedAsVictim(p) && s.Holds(properties.VictimsAreMarked) {
				findings = append(findings, properties.FoundOf(model.StageActuate, "", key+" unmarked", "victim "+key+" is not marked as a disruption target"))
			}
		}
		return findings, nil
	},
}

// LowerNominationsCleared: pods of lower priority lose their nomination to the node, and no others.
var LowerNominationsCleared = properties.Property{
	Name:    "lower-nominations-cleared",
	Promise: "Lower priority pods nominated to run on this node, may no longer fit on this node. So, we should remove their nomination.",
	Source:  "executor.go:257@v1.37.1, prepareCandidateAsync; executor.go:349@v1.37.1, prepareCandidate",
	Lies:    []string{"no nomination is cleared", "the nomination of another pod is cleared"},
	Applies: func(s *properties.Subject) bool { return actuated(s) && preempted(s) },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		node, cleared := s.Observation.Pick.Node, s.Observation.Actuation.Cleared
		// Asynchronous preemption stops there if nothing is left to delete.
		kept := s.Assumes("terminating-victims-keep-nominations") && s.Cluster.Settings.AsyncPreemption() &&
			!slices.ContainsFunc(s.Victims(), func(p *v1.Pod) bool { return p.DeletionTimestamp == nil })
		var lower []string
		priorityOf := s.Priority
		if s.Assumes("nomination-by-own-priority") {
			priorityOf = model.Priority
		}
		for _, p := range s.Cluster.Pods {
			// A scheduler knows of the waiting pods that are its own.
			if p.Spec.NodeName == "" && p.Status.NominatedNodeName == node && s.Cluster.Settings.Schedules(p.Spec.SchedulerName) &&
				priorityOf(p) < model.Priority(s.Cluster.Preemptor) {
				lower = append(lower, model.Key(p))
			}
		}
		for _, key := range lower {
			if !kept && !slices.Contains(cleared, key) {
				findings = append(findings, properties.FoundOf(model.StageActuate, node, key, "the nomination of "+key+" is kept"))
			}
		}
		for _, key := range cleared {
			if !slices.Contains(lower, key) {
				findings = append(findings, properties.FoundOf(model.StageActuate, node, key, "the nomination of "+key+" is cleared, which is no pod of lower priority nominated there"))
			}
		}
		return findings, nil
	},
}

// NothingElseWritten: the scheduler writes only what preemption needs.
var NothingElseWritten = properties.Property{
	Name:    "nothing-else-written",
	Promise: "When Pod P preempts one or more Pods on Node N, nominatedNodeName field of Pod P's status is set to the name of Node N.",
	Source:  properties.DocsNominated + "; the steps of prepareCandidate are deleting the victims and removing nominations, no more (executor.go:314@v1.37.1)",
	Lies:    []string{"an event is created", "a victim is deleted without grace", "another condition of the pod is written", "a pod that is no victim is deleted", "the pod is nominated to another node"},
	Applies: actuated,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		o, a := s.Observation, *s.Observation.Actuation
		broken := func(about, detail string) {
			findings = append(findings, properties.FoundOf(model.StageActuate, "", about, detail))
		}
		var victims []string
		if o.Pick != nil {
			victims = o.Pick.Victims
		}
		for _, claim := range device.SpecialOf(s.Cluster.Preemptor, s.Cluster.Extra) {
			// "It is deleted … by the scheduler dynamic resource plugin during postFilter phase" (KEP-5004).
			a.Other = slices.DeleteFunc(slices.Clone(a.Other), func(write string) bool {
				return strings.HasPrefix(write, "delete resourceclaims "+model.Key(claim)) || strings.HasPrefix(write, "update resourceclaims "+model.Key(claim)+", ")
			})
		}
		for _, write := range a.Other {
			if !s.Assumes("victim-status-overwritten") || !slices.ContainsFunc(victims, func(key string) bool { return strings.HasPrefix(write, "patch "+key+" [status]") }) {
				broken(write, "wrote "+write)
			}
		}
		for _, key := range a.Deleted {
			if !slices.Contains(victims, key) {
				broken(key, "deleted "+key+", which is no victim")
			}
		}
		for _, key := range a.DisruptionTarget {
			if !slices.Contains(victims, key) {
				broken(key, "marked "+key+", which is no victim")
			}
		}
		switch {
		case o.Pick != nil && (a.Nomination != model.NominationSet || a.NominatedNode != o.Pick.Node):
			broken("", fmt.Sprintf("preempted on %s, but the nomination is %s %s", o.Pick.Node, a.Nomination, a.NominatedNode))
		case o.Pick == nil && a.Nomination == model.NominationSet:
			broken("", "nominated to "+a.NominatedNode+" without preemption")
		case o.Pick == nil && len(a.Cleared) > 0:
			broken("", fmt.Sprintf("cleared the nominations of %v without preemption", a.Cleared))
		}
		return findings, nil
	},
}
