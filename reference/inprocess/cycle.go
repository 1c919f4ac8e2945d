package inprocess

import (
	"fmt"
	"runtime"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
)

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination (schedule_one.go:250@v1.37.1, schedulingAlgorithm).
func (s *scheduler) run(r *recorder) {
	obs := r.obs
	original, preempt := s.plugin.Evaluator.Interface, s.plugin.Executor.PreemptPod
	r.Framework, r.Interface = s.profile, original
	s.plugin.Evaluator.Interface, s.plugin.Executor.PreemptPod = r, r.preemptPod(preempt)
	defer func() { s.plugin.Evaluator.Interface, s.plugin.Executor.PreemptPod = original, preempt }()

	failed := func(err error) {
		obs.CycleError = err.Error()
		obs.Actuation = &model.Actuation{Nomination: model.NominationCleared}
		s.client.take(obs.Actuation)
	}
	if err := s.sched.Cache.UpdateSnapshot(discard, s.snapshot); err != nil {
		failed(err)
		return
	}
	state := framework.NewCycleState()
	result, err := s.sched.SchedulePod(s.ctx, r, state, s.loaded.queuedInfo)
	if err == nil {
		obs.ScheduledTo = result.SuggestedHost
		return
	}
	fitError, ok := err.(*framework.FitError)
	if !ok {
		failed(err)
		return
	}
	for _, name := range s.loaded.nodeNames {
		obs.Filters[name] = verdict(fitError.Diagnosis.NodeToStatus.Get(name))
	}

	nominate, status := s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, potentialNodes{fitError.Diagnosis.NodeToStatus, obs})
	s.awaitPreemption(s.loaded.preemptor)
	obs.PostFilterCode, obs.PostFilterMessage = status.Code().String(), status.Message()
	obs.Actuation = actuation(nominate)
	s.client.take(obs.Actuation)

	if node := obs.Actuation.NominatedNode; node != "" {
		if len(obs.Candidates) == 0 {
			obs.Candidates = []string{node}
		}
		// Victims that were terminating already are not deleted again, so what
		// was preempted shows in the node's dry run only.
		run := obs.DryRuns[node]
		obs.Pick = &model.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
	}
}

// awaitPreemption returns when the API calls of an asynchronous preemption are
// made. They take microseconds: the client answers at once.
func (s *scheduler) awaitPreemption(p *v1.Pod) {
	for s.plugin.Executor.IsPodRunningPreemption(p.UID) {
		runtime.Gosched()
	}
}

func actuation(r *fwk.PostFilterResult) *model.Actuation {
	if r == nil || r.Mode() == fwk.ModeNoop {
		return &model.Actuation{Nomination: model.NominationKept}
	}
	if r.NominatedNodeName == "" {
		return &model.Actuation{Nomination: model.NominationCleared}
	}
	return &model.Actuation{Nomination: model.NominationSet, NominatedNode: r.NominatedNodeName}
}

// cycle loads c, runs it and unloads it. It reports whether the scheduler can be
// used again; err is why c could not be loaded.
func (s *scheduler) cycle(c *model.Cluster, obs *model.Observation) (reusable bool, err error) {
	r := &recorder{obs: obs}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = p
		}
		if r.panicked != nil { // upstream may hold locks: never touch it again
			obs.CycleError = fmt.Sprintf("panic: %v", r.panicked)
			obs.Actuation = &model.Actuation{Nomination: model.NominationCleared}
			s.client.take(obs.Actuation)
			reusable = false
		}
	}()
	if err = s.load(c); err == nil {
		s.run(r)
	}
	if r.panicked != nil {
		return false, nil
	}
	return s.unload() == nil, err
}
