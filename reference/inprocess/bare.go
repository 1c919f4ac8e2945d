package inprocess

import (
	"errors"
	"time"

	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// Bare loads c and calls measure with the bare upstream call: SchedulePod and,
// if the preemptor fits nowhere, RunPostFilterPlugins, with nothing recorded and
// nothing pinned but the order of budgets. The call changes nothing, so that it
// can be repeated. It is the yardstick for what everything else costs.
func (s *System) Bare(c *model.Cluster, measure func(call func())) error {
	if c.Preemptor == nil {
		return errors.New("the cluster has no preemptor that is a pod")
	}
	return s.with(c, func(sched *scheduler) (bool, error) {
		err := sched.load(c)
		if err == nil {
			if err = sched.sched.Cache.UpdateSnapshot(linked.Discard, sched.snapshot); err == nil {
				measure(sched.bare)
			}
		}
		return sched.unload() == nil, err
	})
}

func (s *scheduler) bare() {
	state := framework.NewCycleState()
	_, err := s.sched.SchedulePod(s.ctx, s.profile, state, s.loaded.queuedInfo)
	if fitError, ok := errors.AsType[*framework.FitError](err); ok {
		s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, fitError.Diagnosis.NodeToStatus)
		for s.plugin.Executor.IsPodRunningPreemption(s.loaded.preemptor.UID) {
			time.Sleep(time.Microsecond)
		}
	}
}

// BareCycle loads c and calls measure with the bare upstream call: ScheduleOne, until
// nothing goes on any more, with nothing recorded. The call can be made once, and is not there if the
// scheduler would not begin a cycle yet. It is the yardstick for what everything else
// costs where a pod group preempts.
func (s *System) BareCycle(c *model.Cluster, measure func(call func())) error {
	return s.with(c, func(sched *scheduler) (bool, error) {
		err := sched.load(c)
		if waits := sched.loaded.group != nil && sched.loaded.group.waits != ""; err == nil && !waits {
			measure(func() {
				sched.bubble.Settle(func() { sched.sched.ScheduleOne(sched.ctx) }, func() bool { return !sched.goesOn() })
			})
		}
		return false, err
	})
}
