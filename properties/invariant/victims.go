package invariant

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// LowerPriorityOnly: every victim has a lower priority than the preemptor.
var LowerPriorityOnly = properties.Property{
	Name:    "lower-priority-only",
	Promise: "Preemption logic tries to find a Node where removal of one or more Pods with lower priority than P would enable P to be scheduled on that Node.",
	Source:  properties.DocsPreemption,
	Lies:    []string{"a victim of higher priority"},
	Applies: proposed,
	Check: eachVictim(func(s *properties.Subject, _ string, victim *v1.Pod) string {
		if victim == nil {
			return ""
		}
		if own, its := model.Priority(s.Cluster.Preemptor), s.Priority(victim); its >= own {
			return fmt.Sprintf("priority %d is not below the preemptor's %d", its, own)
		}
		return ""
	}),
}

// VictimsOnTheirNode: every victim is on the node for which it goes, or is disrupted
// together with a pod there.
var VictimsOnTheirNode = properties.Property{
	Name:    "victims-on-their-node",
	Promise: "If such a Node is found, one or more lower priority Pods get evicted from the Node.",
	Source:  properties.DocsPreemption,
	Lies:    []string{"a victim on another node"},
	Applies: proposed,
	Check: eachVictim(func(s *properties.Subject, node string, victim *v1.Pod) string {
		if victim != nil && victim.Spec.NodeName != node && !goesWithOneOn(s, node, victim) {
			return fmt.Sprintf("it is on node %q", victim.Spec.NodeName)
		}
		return ""
	}),
}

// goesWithOneOn tells whether a victim can only be disrupted together with a pod on a node.
func goesWithOneOn(s *properties.Subject, node string, victim *v1.Pod) bool {
	whole := s.Unit(victim)
	return whole != nil && slices.ContainsFunc(s.Cluster.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == node && s.Unit(p) == whole })
}

// VictimsWereRunning: every victim is a pod that is bound to a node and has not terminated, named once.
var VictimsWereRunning = properties.Property{
	Name:    "victims-were-running",
	Promise: "After victim Pods are preempted, they get their graceful termination period.",
	Source:  properties.DocsNominated,
	Lies:    []string{"a victim that waits", "the same victim twice", "a victim that does not exist"},
	Applies: proposed,
	Check: eachVictim(func(_ *properties.Subject, _ string, victim *v1.Pod) string {
		switch {
		case victim == nil:
			return "there is no such pod, or it is listed twice"
		case victim.Spec.NodeName == "":
			return "it is not bound to a node"
		case victim.Status.Phase == v1.PodSucceeded || victim.Status.Phase == v1.PodFailed:
			return "it has terminated already"
		}
		return ""
	}),
}

// StaticPodsStay: no victim is the mirror pod of a static one, which goes on running when
// that is deleted.
var StaticPodsStay = properties.Property{
	Name: "static-pods-stay",
	Promise: "The kubelet automatically tries to create a mirror Pod on the Kubernetes API server for each static Pod. " +
		"This means that the Pods running on a node are visible on the API server, but cannot be controlled from there.",
	Source: "docs: tasks/configure-pod-container/static-pod; the kubelet warns of a priority by which a \"Mirror pod may be attempted to be evicted from the node ineffectively\" " +
		"(kubelet/config/common.go:228@v1.37.1)",
	Lies:    []string{"a mirror pod is a victim"},
	Applies: proposed,
	Check: eachVictim(func(s *properties.Subject, node string, victim *v1.Pod) string {
		if victim == nil || victim.Annotations[v1.MirrorPodAnnotationKey] == "" {
			return ""
		}
		likeOthers := victim.Spec.NodeName == node && s.Priority(victim) < model.Priority(s.Cluster.Preemptor)
		if likeOthers && s.Assumes("mirror-pods-preempted") {
			return ""
		}
		return "it is a mirror pod, so that deleting it makes no room"
	}),
}

// eachVictim checks the victims of every proposal by themselves. A victim that
// does not exist, or is listed a second time, is passed as nil; wrong says what
// is wrong with a victim, or "".
func eachVictim(wrong func(s *properties.Subject, node string, victim *v1.Pod) string) func(*properties.Subject) ([]properties.Finding, error) {
	return func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			seen := map[string]bool{}
			for _, key := range p.victims {
				victim := s.Pod(key)
				if seen[key] {
					victim = nil
				}
				seen[key] = true
				if why := wrong(s, p.node, victim); why != "" {
					findings = append(findings, properties.FoundOf(p.stage, p.node, key, "victim "+key+": "+why))
				}
			}
		}
		return findings, nil
	}
}

// VictimsByImportance: victims are listed from the most important to the least.
var VictimsByImportance = properties.Property{
	Name:     "victims-by-importance",
	Promise:  "Sort victims after reprieving pods to keep the victims sorted in order of importance from high to low.",
	Source:   "default_preemption.go:429@v1.37.1, SelectVictimsOnNode; pickOneNodeForPreemption relies on it (preemption.go:325@v1.37.1)",
	PodByPod: true,
	Lies:     []string{"the less important victim first"},
	Applies:  proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			victims := s.Pods(p.victims)
			sorted := 1 // lists, one after the other
			if s.Assumes("victims-unsorted") {
				sorted = 2
			}
			for i := 1; i < len(victims); i++ {
				if a, b := victims[i-1], victims[i]; s.CompareImportance(b, a) < 0 {
					if sorted--; sorted > 0 {
						continue
					}
					findings = append(findings, properties.FoundOf(p.stage, p.node, model.Key(b),
						fmt.Sprintf("%s is more important than %s, which comes before it", model.Key(b), model.Key(a))))
				}
			}
		}
		return findings, nil
	},
}
