package inprocess

import (
	"sync"

	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/preemptcheck/preemptcheck/model"
)

// counting is held by every use of a scheduler: alone if its metrics are read, which
// all schedulers of the process share.
var counting sync.RWMutex

func enter(alone bool) (done func()) {
	if alone {
		counting.Lock()
		return counting.Unlock
	}
	counting.RLock()
	return counting.RUnlock
}

// metricsNow are the metrics as they stand.
func metricsNow() (*model.Metrics, error) {
	m := &model.Metrics{ScheduleAttempts: map[string]int{}}
	families, err := legacyregistry.DefaultGatherer.Gather()
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			switch f.GetName() {
			case "scheduler_preemption_attempts_total":
				m.PreemptionAttempts = int(metric.GetCounter().GetValue())
			case "scheduler_preemption_victims":
				m.Preemptions = int(metric.GetHistogram().GetSampleCount())
				m.Victims = int(metric.GetHistogram().GetSampleSum())
			case "scheduler_schedule_attempts_total":
				labels := map[string]string{}
				for _, l := range metric.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				m.ScheduleAttempts[labels["result"]+" "+labels["profile"]] = int(metric.GetCounter().GetValue())
			}
		}
	}
	return m, err
}

// since is by how much the metrics were raised.
func since(before, now *model.Metrics) *model.Metrics {
	raised := &model.Metrics{
		PreemptionAttempts: now.PreemptionAttempts - before.PreemptionAttempts,
		Preemptions:        now.Preemptions - before.Preemptions,
		Victims:            now.Victims - before.Victims,
		ScheduleAttempts:   map[string]int{},
	}
	for labels, n := range now.ScheduleAttempts {
		if n -= before.ScheduleAttempts[labels]; n != 0 {
			raised.ScheduleAttempts[labels] = n
		}
	}
	return raised
}
