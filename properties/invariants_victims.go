package properties

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

func lowerPriorityOnly() Property {
	return Property{
		Name:    "lower-priority-only",
		Promise: "Preemption logic tries to find a Node where removal of one or more Pods with lower priority than P would enable P to be scheduled on that Node.",
		Source:  docsPreemption,
		Applies: proposed,
		Check: eachVictim(func(s *Subject, _ string, victim *v1.Pod) string {
			if victim == nil {
				return ""
			}
			if own, its := model.Priority(s.Cluster.Preemptor), model.Priority(victim); its >= own {
				return fmt.Sprintf("priority %d is not below the preemptor's %d", its, own)
			}
			return ""
		}),
	}
}

func victimsOnTheirNode() Property {
	return Property{
		Name:    "victims-on-their-node",
		Promise: "If such a Node is found, one or more lower priority Pods get evicted from the Node.",
		Source:  docsPreemption,
		Applies: proposed,
		Check: eachVictim(func(_ *Subject, node string, victim *v1.Pod) string {
			if victim != nil && victim.Spec.NodeName != node {
				return fmt.Sprintf("it is on node %q", victim.Spec.NodeName)
			}
			return ""
		}),
	}
}

func victimsWereRunning() Property {
	return Property{
		Name:    "victims-were-running",
		Promise: "After victim Pods are preempted, they get their graceful termination period.",
		Source:  docsNominated,
		Applies: proposed,
		Check: eachVictim(func(_ *Subject, _ string, victim *v1.Pod) string {
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
}

// eachVictim checks the victims of every proposal by themselves. A victim that
// does not exist, or is listed a second time, is passed as nil; wrong says what
// is wrong with a victim, or "".
func eachVictim(wrong func(s *Subject, node string, victim *v1.Pod) string) func(*Subject) ([]Finding, error) {
	return func(s *Subject) (findings []Finding, err error) {
		for _, p := range s.proposals() {
			seen := map[string]bool{}
			for _, key := range p.victims {
				victim := s.pod(key)
				if seen[key] {
					victim = nil
				}
				seen[key] = true
				if why := wrong(s, p.node, victim); why != "" {
					findings = append(findings, foundOf(p.stage, p.node, key, "victim "+key+": "+why))
				}
			}
		}
		return findings, nil
	}
}

func victimsByImportance() Property {
	return Property{
		Name:    "victims-by-importance",
		Promise: "Sort victims after reprieving pods to keep the victims sorted in order of importance from high to low.",
		Source:  "default_preemption.go:429@v1.37.1, SelectVictimsOnNode; pickOneNodeForPreemption relies on it (preemption.go:325@v1.37.1)",
		Applies: proposed,
		Check: func(s *Subject) (findings []Finding, err error) {
			for _, p := range s.proposals() {
				victims := s.pods(p.victims)
				sorted := 1 // lists, one after the other
				if s.grants("victims-unsorted") {
					sorted = 2
				}
				for i := 1; i < len(victims); i++ {
					if a, b := victims[i-1], victims[i]; s.compareImportance(b, a) < 0 {
						if sorted--; sorted > 0 {
							continue
						}
						findings = append(findings, foundOf(p.stage, p.node, model.Key(b),
							fmt.Sprintf("%s is more important than %s, which comes before it", model.Key(b), model.Key(a))))
					}
				}
			}
			return findings, nil
		},
	}
}
