package properties

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
)

func violationsRecounted() Property {
	return Property{
		Name:    "violations-recounted",
		Promise: "pods: a group of pods expected to be preempted. numPDBViolations: the count of violations of PodDisruptionBudget.",
		Source:  "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; policy/v1 PodDisruptionBudgetStatus.disruptionsAllowed: \"Number of pod disruptions that are currently allowed.\"",
		Applies: func(s *Subject) bool { return proposed(s) && len(s.Cluster.PodDisruptionBudgets) > 0 },
		Check: func(s *Subject) (findings []Finding, err error) {
			for _, p := range s.proposals() {
				least, most := s.violations(p.node, set(p.victims...))
				if p.violations < least || p.violations > most {
					findings = append(findings, foundOf(p.stage, p.node, "", fmt.Sprintf("victims %v violate budgets %s times, not %d", p.victims, span(least, most), p.violations)))
				}
			}
			return findings, nil
		},
	}
}

func span(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func noFewerViolations() Property {
	return Property{
		Name:    "no-fewer-violations",
		Promise: "The scheduler tries to find victims whose PDB are not violated by preemption, but if no such victims are found, preemption will still happen, and lower priority Pods will be removed despite their PDBs being violated.",
		Source:  docsBudgets + "; pickOneNodeForPreemption: \"A node with minimum number of PDB violations\" (preemption.go:329@v1.37.1)",
		Applies: func(s *Subject) bool {
			return choiceShown(s) && !s.extended() && len(s.Observation.Candidates) > 1 && len(s.Cluster.PodDisruptionBudgets) > 0
		},
		Check: func(s *Subject) (findings []Finding, err error) {
			p := s.picked()
			least, _ := s.violations(p.node, set(p.victims...))
			for _, other := range s.Observation.Candidates {
				if other == p.node {
					continue
				}
				victims := s.Observation.DryRuns[other].Victims
				if _, most := s.violations(other, set(victims...)); most < least {
					findings = append(findings, foundOf(model.StagePick, p.node, other, fmt.Sprintf("victims %v violate budgets %d times, on %s %v only %d times", p.victims, least, other, victims, most)))
				}
			}
			return findings, nil
		},
	}
}
