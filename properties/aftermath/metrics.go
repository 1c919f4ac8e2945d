package aftermath

import (
	"fmt"
	"maps"

	"github.com/preemptcheck/preemptcheck/properties"
)

// MetricsCount: what users alert on counts what happened.
var MetricsCount = properties.Property{
	Name:    "metrics-count",
	Promise: "scheduler_schedule_attempts_total: Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem. scheduler_preemption_attempts_total: Total preemption attempts in the cluster till now. scheduler_preemption_victims: Number of selected preemption victims for preemption initiated by a single pod.",
	Source:  "docs: reference/instrumentation/metrics, \"List of Stable Kubernetes Metrics\"",
	Lies:    []string{"an attempt to preempt is not counted", "a preemption is counted twice", "a victim is not counted", "a pod that cannot be scheduled is counted as an error", "an attempt is counted for another profile", "it panics as it counts"},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		o, broken, err := s.WithMetrics()
		if o == nil {
			return broken, err
		}
		var f findings
		m, tried := o.Aftermath.Metrics, len(o.PotentialNodes) > 0
		// A pod that may not preempt, or nowhere, may count as an attempt or not.
		if n := m.PreemptionAttempts; n > 1 || tried && n == 0 || o.PostFilterCode == "" && n > 0 {
			f.add("preemption_attempts_total", fmt.Sprintf("preemption was tried on %v, and %d attempts are counted", o.PotentialNodes, n))
		}
		preemptions, victims := 0, 0
		if o.Pick != nil {
			preemptions, victims = 1, len(o.Pick.Victims)
		}
		if m.Preemptions != preemptions || m.Victims != victims {
			f.add("preemption_victims", fmt.Sprintf("want %d preemptions with %d victims, counted are %d with %d", preemptions, victims, m.Preemptions, m.Victims))
		}
		result := "unschedulable"
		switch {
		case o.ScheduledTo != "":
			result = "scheduled"
		case o.CycleError != "" && len(s.Cluster.Nodes) > 0:
			result = "error"
		}
		want := map[string]int{result + " " + s.Cluster.Preemptor.Spec.SchedulerName: 1}
		unbound := result == "scheduled" && !bound(o) // it waits for its volumes, or binding them failed
		if !maps.Equal(m.ScheduleAttempts, want) && !unbound {
			f.add("schedule_attempts_total", fmt.Sprintf("want %v, counted are %v", want, m.ScheduleAttempts))
		}
		return f, nil
	},
}
