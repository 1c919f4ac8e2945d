package groups

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// MetricsCount: victims of groups are counted as such, and not as those of pods.
var MetricsCount = properties.Property{
	Name:    "group-metrics-count",
	Of:      properties.OfGroups,
	Promise: "scheduler_preemption_victims: Number of selected preemption victims for preemption initiated by a single pod. scheduler_workload_preemption_victims: Number of pod preemption victims caused by workload preemption.",
	Source:  "docs: reference/instrumentation/metrics",
	Lies:    []string{"victims count as those of a pod", "a victim is not counted", "a preemption is not counted"},
	Applies: hadCycle,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		o, broken, err := s.WithMetrics()
		if o == nil {
			return broken, err
		}
		var findings []properties.Finding
		m := o.Aftermath.Metrics
		if m.Preemptions != 0 || m.Victims != 0 {
			findings = append(findings, properties.FoundOf(model.StageActuate, "", "preemption_victims", fmt.Sprintf("no pod preempts others, counted are %d preemptions with %d victims", m.Preemptions, m.Victims)))
		}
		if o.Group.Violations < 0 {
			return findings, nil // all terminate already: nobody is preempted, or once more
		}
		// A preemption without victims may count as one.
		if victims := len(o.Group.Victims); m.OfWorkloads > 1 || m.OfWorkloads == 0 && victims > 0 || m.WorkloadVictims != victims {
			findings = append(findings, properties.FoundOf(model.StageActuate, "", "workload_preemption_victims",
				fmt.Sprintf("%d pods are preempted, counted are %d preemptions with %d victims", victims, m.OfWorkloads, m.WorkloadVictims)))
		}
		return findings, nil
	},
}
