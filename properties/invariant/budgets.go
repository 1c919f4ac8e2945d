package invariant

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// ViolationsRecounted: the number of budget violations is one that the victims can come to.
var ViolationsRecounted = properties.Property{
	Name:    "violations-recounted",
	Promise: "pods: a group of pods expected to be preempted. numPDBViolations: the count of violations of PodDisruptionBudget.",
	Source:  "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; policy/v1 PodDisruptionBudgetStatus.disruptionsAllowed: \"Number of pod disruptions that are currently allowed.\"",
	Lies:    []string{"a violation is not counted"},
	Applies: func(s *properties.Subject) bool { return proposed(s) && len(s.Cluster.PodDisruptionBudgets) > 0 },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			least, most := Violations(s, p.node, set(p.victims...))
			if p.violations < least || p.violations > most {
				findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("victims %v violate budgets %s times, not %d", p.victims, span(least, most), p.violations)))
			}
		}
		return findings, nil
	},
}

func span(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// NoFewerViolations: no other candidate violates fewer budgets than the pick.
var NoFewerViolations = properties.Property{
	Name:    "no-fewer-violations",
	Promise: "The scheduler tries to find victims whose PDB are not violated by preemption, but if no such victims are found, preemption will still happen, and lower priority Pods will be removed despite their PDBs being violated.",
	Source:  properties.DocsBudgets + "; pickOneNodeForPreemption: \"A node with minimum number of PDB violations\" (preemption.go:329@v1.37.1)",
	Lies:    []string{"the pick violates a budget"},
	Applies: func(s *properties.Subject) bool {
		return choiceShown(s) && !s.Extended() && len(s.Observation.Candidates) > 1 && len(s.Cluster.PodDisruptionBudgets) > 0
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		p := picked(s)
		least, _ := Violations(s, p.node, set(p.victims...))
		for _, other := range s.Observation.Candidates {
			if other == p.node {
				continue
			}
			victims := s.Observation.DryRuns[other].Victims
			if _, most := Violations(s, other, set(victims...)); most < least {
				findings = append(findings, properties.FoundOf(model.StagePick, p.node, other, fmt.Sprintf("victims %v violate budgets %d times, on %s %v only %d times", p.victims, least, other, victims, most)))
			}
		}
		return findings, nil
	},
}
