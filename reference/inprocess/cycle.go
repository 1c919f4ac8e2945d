package inprocess

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
)

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination (schedule_one.go:250@v1.37.1, schedulingAlgorithm).
func (s *scheduler) run(r *recorder) {
	obs, upstream := r.obs, s.plugin.Evaluator.Interface
	r.sched, r.Framework, r.Interface = s, s.profile, upstream
	s.plugin.Evaluator.Interface = r
	defer func() { s.plugin.Evaluator.Interface = upstream }()
	extended := len(s.sched.Extenders) > 0
	if extended {
		s.plugin.Evaluator.Handler = handle{s.profile, append(slices.Clone(s.sched.Extenders), lastExtender{obs: obs})}
	}

	failed := func(err error) {
		obs.CycleError = err.Error()
		obs.Actuation = &model.Actuation{Nomination: model.NominationCleared}
		s.client.Take(obs.Actuation)
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
	fitError, ok := errors.AsType[*framework.FitError](err)
	if !ok {
		failed(err)
		return
	}
	for _, name := range s.loaded.nodeNames {
		v := verdict(fitError.Diagnosis.NodeToStatus.Get(name))
		if v.Plugin == "" && extended { // no plugin, so it was an extender
			v.Plugin = model.ExtenderName
		}
		obs.Filters[name] = v
	}

	nominate, status := s.postFilter(state, potentialNodes{fitError.Diagnosis.NodeToStatus, obs})
	obs.PostFilterCode, obs.PostFilterMessage = status.Code().String(), status.Message()
	obs.Actuation = actuation(nominate)
	s.client.Take(obs.Actuation)
	if extended && len(obs.Candidates) > 0 && obs.AfterExtenders == nil && status.Code() != fwk.Error {
		obs.AfterExtenders = map[string]model.DryRun{} // nothing left
	}

	if node := obs.Actuation.NominatedNode; node != "" {
		if len(obs.Candidates) == 0 {
			obs.Candidates = []string{node}
		}
		// Victims that were terminating already are not deleted again, so what
		// was preempted shows in the node's dry run only.
		run := obs.DryRuns[node]
		if obs.AfterExtenders != nil {
			run = obs.AfterExtenders[node]
		}
		obs.Pick = &model.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
	}
}

// postFilter returns when the API calls are made, also those of an asynchronous
// preemption.
func (s *scheduler) postFilter(state fwk.CycleState, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	select {
	case <-s.preempted: // of a preemption that was over before anybody waited
	default:
	}
	preemptor := s.loaded.preemptor
	result, status := s.profile.RunPostFilterPlugins(s.ctx, state, preemptor, nodes)
	if s.plugin.Executor.IsPodRunningPreemption(preemptor.UID) {
		<-s.preempted
		// What is left for upstream to do is to say that it is done.
		for s.plugin.Executor.IsPodRunningPreemption(preemptor.UID) {
			runtime.Gosched()
		}
	}
	return result, status
}

type preemptPodFunc = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)

// watch makes Executor.PreemptPod signal the end of a preemption, which is the
// last victim that is not terminating, or an error (executor.go:199@v1.37.1), and
// makes a panic in it an error.
func (s *scheduler) watch(next preemptPodFunc) preemptPodFunc {
	return func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (inMemory bool, err error) {
		var status *fwk.Status
		defer func() {
			if status != nil {
				err = status.AsError()
			}
			if err != nil || victim == lastToDelete(c.Victims().Pods) {
				select {
				case s.preempted <- struct{}{}:
				default:
				}
			}
		}()
		defer s.rescue(&status)
		return next(ctx, c, preemptor, victim, plugin)
	}
}

func lastToDelete(victims []*v1.Pod) *v1.Pod {
	for _, v := range slices.Backward(victims) {
		if v.DeletionTimestamp == nil {
			return v
		}
	}
	return nil
}

// rescue makes a panic the status of the call that is deferring it. Upstream's
// workers would end the process.
func (s *scheduler) rescue(status **fwk.Status) {
	if p := recover(); p != nil {
		s.panicked.CompareAndSwap(nil, &p)
		*status = fwk.AsStatus(fmt.Errorf("panic: %v", p))
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
	defer func() {
		if p := recover(); p != nil {
			s.panicked.CompareAndSwap(nil, &p)
		}
		if first := s.panicked.Load(); first != nil { // upstream may hold locks: never touch it again
			obs.CycleError = fmt.Sprintf("panic: %v", *first)
			obs.Actuation = &model.Actuation{Nomination: model.NominationCleared}
			s.client.Take(obs.Actuation)
			reusable = false
		}
	}()
	if err = s.load(c); err == nil {
		r := &recorder{obs: obs}
		if offset := c.Settings.DryRunOffset; offset != nil {
			r.offset = *offset
		}
		s.run(r)
	}
	if s.panicked.Load() != nil {
		return false, nil
	}
	return s.unload() == nil, err
}
