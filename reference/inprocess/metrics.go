package inprocess

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

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

// counters are the metrics that are read. The process has hundreds of others.
var counters = []string{"scheduler_preemption_attempts_total", "scheduler_preemption_victims", "scheduler_schedule_attempts_total", "scheduler_workload_preemption_victims"}

// countWorkloads has the process count what pod groups preempt, too: a scheduler asks for that only if it is the first of its process and
// has the feature gate for groups on (metrics.go:238@v1.37.1, Register).
func countWorkloads() error {
	err := legacyregistry.Register(metrics.WorkloadPreemptionVictims)
	if _, counts := errors.AsType[prometheus.AlreadyRegisteredError](err); counts {
		return nil
	}
	return err
}

// gatherer is that of the process, until it has shown all counters: then of these
// alone. Whoever reads it holds counting alone.
var gatherer prometheus.Gatherer = legacyregistry.DefaultGatherer

// metricsNow are the metrics as they stand.
func metricsNow() (*model.Metrics, error) {
	m := &model.Metrics{ScheduleAttempts: map[string]int{}}
	families, err := gatherer.Gather()
	if err != nil {
		return nil, err
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return !slices.Contains(counters, f.GetName()) })
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			switch f.GetName() {
			case "scheduler_preemption_attempts_total":
				m.PreemptionAttempts = int(metric.GetCounter().GetValue())
			case "scheduler_preemption_victims":
				m.Preemptions = int(metric.GetHistogram().GetSampleCount())
				m.Victims = int(metric.GetHistogram().GetSampleSum())
			case "scheduler_workload_preemption_victims":
				m.OfWorkloads = int(metric.GetHistogram().GetSampleCount())
				m.WorkloadVictims = int(metric.GetHistogram().GetSampleSum())
			case "scheduler_schedule_attempts_total":
				labels := map[string]string{}
				for _, l := range metric.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				m.ScheduleAttempts[labels["result"]+" "+labels["profile"]] = int(metric.GetCounter().GetValue())
			}
		}
	}
	if gatherer == legacyregistry.DefaultGatherer && len(families) == len(counters) {
		gatherer, err = only(families)
	}
	return m, err
}

// only gathers these families of the process: the registry tells who collects them.
func only(families []*dto.MetricFamily) (prometheus.Gatherer, error) {
	few := prometheus.NewRegistry()
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		like := described{desc: prometheus.NewDesc(f.GetName(), f.GetHelp(), labels, nil)}
		registered, ok := errors.AsType[prometheus.AlreadyRegisteredError](legacyregistry.Registerer().Register(like))
		if !ok {
			return nil, fmt.Errorf("metric %s is collected by nobody", f.GetName())
		}
		if err := few.Register(registered.ExistingCollector); err != nil {
			return nil, err
		}
	}
	return few, nil
}

// described is all that a registry looks at to know a collector again.
type described struct {
	prometheus.Collector
	desc *prometheus.Desc
}

func (d described) Describe(descs chan<- *prometheus.Desc) { descs <- d.desc }

// since is by how much the metrics were raised.
func since(before, now *model.Metrics) *model.Metrics {
	raised := &model.Metrics{
		PreemptionAttempts: now.PreemptionAttempts - before.PreemptionAttempts,
		Preemptions:        now.Preemptions - before.Preemptions,
		Victims:            now.Victims - before.Victims,
		OfWorkloads:        now.OfWorkloads - before.OfWorkloads,
		WorkloadVictims:    now.WorkloadVictims - before.WorkloadVictims,
		ScheduleAttempts:   map[string]int{},
	}
	for labels, n := range now.ScheduleAttempts {
		if n -= before.ScheduleAttempts[labels]; n != 0 {
			raised.ScheduleAttempts[labels] = n
		}
	}
	return raised
}
