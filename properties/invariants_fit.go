package properties

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
)

func preemptorFits() Property {
	return Property{
		Name:    "preemptor-fits",
		Promise: "After the Pods are gone, P can be scheduled on the Node.",
		Source:  docsPreemption + "; pods of equal or higher priority nominated to the node count (runtime/framework.go:1268@v1.37.1)",
		Applies: proposed,
		Check: func(s *Subject) (findings []Finding, err error) {
			for _, p := range s.proposals() {
				ok, err := s.fitsByModel(p.node, set(p.victims...))
				if err != nil {
					return nil, err
				}
				if !ok {
					findings = append(findings, foundOf(p.stage, p.node, "", fmt.Sprintf("by the model's filters the preemptor does not fit once %v are gone", p.victims)))
				}
			}
			if !decisionShown(s) {
				return findings, nil
			}
			p := s.decided()
			victims := set(p.victims...)
			judged, err := s.fits(p.node, victims)
			if err != nil || judged.bySystem {
				return findings, err
			}
			seems, err := s.fitsByModel(p.node, victims)
			if explained := len(s.granted) > 0 && seems && !judged.byModel; err == nil && !explained {
				findings = append(findings, foundOf(model.StagePick, p.node, "by the system", fmt.Sprintf("%s itself does not schedule the preemptor there once %v are gone", s.System.Name(), p.victims)))
			}
			return findings, err
		},
	}
}

func judgesAgree() Property {
	return Property{
		Name:    "judges-agree",
		Promise: "The filtering step finds the set of Nodes where it's feasible to schedule the Pod.",
		Source:  "docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"; asked of the cluster without the victims, in a full cycle and of the model's filters",
		Applies: decisionShown,
		Check: func(s *Subject) ([]Finding, error) {
			p := s.decided()
			judged, err := s.fits(p.node, set(p.victims...))
			if err != nil || judged.byModel == judged.bySystem {
				return nil, err
			}
			return found(model.StageFilter, p.node, fmt.Sprintf("once %v are gone, the preemptor fits: %t by the model, %t by %s", p.victims, judged.byModel, judged.bySystem, s.System.Name())), nil
		},
	}
}

func noFreeNode() Property {
	return Property{
		Name:    "no-free-node",
		Promise: "If no Node is found that satisfies all the specified requirements of the Pod, preemption logic is triggered for the pending Pod.",
		Source:  docsPreemption,
		Applies: preempted,
		Check: func(s *Subject) (findings []Finding, err error) {
			if to := s.Observation.ScheduledTo; to != "" {
				findings = append(findings, foundOf(model.StagePick, to, "", "preempted, although the pod was scheduled there"))
			}
			for _, n := range s.Cluster.Nodes {
				fits, err := s.fitsByModel(n.Name, nil)
				if err != nil {
					return nil, err
				}
				if fits && !s.Decision.RejectedByExtender(n.Name) {
					findings = append(findings, foundOf(model.StagePick, n.Name, "free", "preempted, although the preemptor fits there as it is"))
				}
			}
			return findings, nil
		},
	}
}

// after is the cluster without the pods gone, and without extenders, which may
// have their own mind about it (preemption.go:227@v1.37.1, callExtenders).
func (s *Subject) after(node string, gone map[string]bool) *model.Cluster {
	c := *s.Cluster
	c.Settings.Extenders = nil
	c.Pods, c.Extra = nil, s.attachmentsWithout(node, gone)
	for _, p := range s.Cluster.Pods {
		if !gone[model.Key(p)] {
			c.Pods = append(c.Pods, p)
		}
	}
	return &c
}

// fitsByModel tells whether, by the model's filters, the preemptor runs on a node
// once the pods gone are gone.
func (s *Subject) fitsByModel(node string, gone map[string]bool) (bool, error) {
	if s.trial == nil {
		trial, err := model.NewTrial(s.Cluster, s.rules())
		if err != nil {
			return false, err
		}
		s.trial = trial
	}
	return s.trial.Fits(node, gone), nil
}

// rules are the documented ones, with those quirks that are granted.
func (s *Subject) rules() *model.Rules {
	rules := s.Release.Rules()
	for _, quirk := range model.Quirks() {
		if s.grants(string(quirk)) {
			rules = rules.With(quirk)
		}
	}
	return rules
}
