package main

import (
	"fmt"
	goruntime "runtime"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// observe loads c, runs the scheduling cycle of its preemptor and unloads it.
// reusable tells whether the scheduler can be used again; err is why c could not
// be loaded.
func (s *scheduler) observe(c *cluster) (obs *observation.Observation, reusable bool, err error) {
	obs = &observation.Observation{System: release, Filters: map[string]observation.Verdict{}, PinnedBudgetOrder: true}
	obs.PinnedDryRuns = or(c.settings.Parallelism, 1) == 1
	defer func() {
		if p := recover(); p != nil {
			s.panicked.CompareAndSwap(nil, &p)
		}
		if first := s.panicked.Load(); first != nil { // upstream may hold locks: never touch it again
			s.failed(obs, fmt.Errorf("panic: %v", *first))
			reusable, err = false, nil
		}
	}()
	name := c.preemptor.Spec.SchedulerName
	s.profile, s.plugin = s.sched.Profiles[name], s.plugins[name]
	r := &recorder{Framework: s.profile, s: s, offset: or(c.settings.DryRunOffset, 0), obs: obs, victims: map[string][]*v1.Pod{}}
	s.extend(c.settings.Extenders, r)
	if err = s.load(c); err == nil {
		s.run(r, c)
	}
	if s.panicked.Load() != nil {
		return obs, false, nil
	}
	return obs, s.unload() == nil, err
}

// failed is a cycle that ended in an error.
func (s *scheduler) failed(obs *observation.Observation, err error) {
	obs.CycleError = err.Error()
	obs.Actuation = &observation.Actuation{Nomination: observation.NominationCleared}
	s.client.Take(obs.Actuation)
}

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination.
func (s *scheduler) run(r *recorder, c *cluster) {
	obs := r.obs
	state := framework.NewCycleState()
	host, err := s.schedulePod(r, state)
	if err == nil {
		obs.ScheduledTo = host
		return
	}
	fitError, ok := err.(*framework.FitError)
	if !ok {
		s.failed(obs, err)
		return
	}
	for _, n := range c.nodes {
		if st := nodeStatus(&fitError.Diagnosis, n.Name); st != nil {
			v := verdict(st)
			if v.Plugin == "" && len(c.settings.Extenders) > 0 { // no plugin, so it was an extender
				v.Plugin = "Extender"
			}
			obs.Filters[n.Name] = v
		}
	}

	result, st := s.postFilter(r, state, &fitError.Diagnosis)
	obs.PostFilterCode, obs.PostFilterMessage = st.Code().String(), st.Message()
	obs.Actuation = actuation(result)
	if len(c.settings.Extenders) > 0 && len(obs.Candidates) > 0 && obs.AfterExtenders == nil && !failed(st) {
		obs.AfterExtenders = map[string]observation.DryRun{} // nothing left
	}
	if node := obs.Actuation.NominatedNode; node != "" {
		s.awaitPreemption(r.victims[node])
		if len(obs.Candidates) == 0 {
			obs.Candidates = []string{node}
		}
		run := obs.DryRuns[node]
		if obs.AfterExtenders != nil {
			run = obs.AfterExtenders[node]
		}
		obs.Pick = &observation.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
	}
	s.client.Take(obs.Actuation)
}

func actuation(r *postFilterResult) *observation.Actuation {
	if r == nil || r.Mode() == modeNoop {
		return &observation.Actuation{Nomination: observation.NominationKept}
	}
	if r.NominatedNodeName == "" {
		return &observation.Actuation{Nomination: observation.NominationCleared}
	}
	return &observation.Actuation{Nomination: observation.NominationSet, NominatedNode: r.NominatedNodeName}
}

// preempts wraps the call that preempts one victim: it makes a panic an error, and
// signals the end of an asynchronous preemption, which is its last victim, or an
// error.
func (s *scheduler) preempts(c preemption.Candidate, victim *v1.Pod, call func() error) (err error) {
	var st *status
	defer func() {
		if st != nil {
			err = st.AsError()
		}
		if err != nil || victim == lastToDelete(c.Victims().Pods) {
			select {
			case s.preempted <- struct{}{}:
			default:
			}
		}
	}()
	defer s.rescue(&st)
	return call()
}

// awaitPreemption returns when the API calls of an asynchronous preemption are
// made.
func (s *scheduler) awaitPreemption(victims []*v1.Pod) {
	if s.async && lastToDelete(victims) != nil {
		<-s.preempted
		// What is left for upstream to do is to say that it is done.
		for s.preempting(s.loaded.preemptor.UID) {
			goruntime.Gosched()
		}
	}
}

// lastToDelete is the victim that is preempted after all others. From 1.35 on
// those that are terminating already are left out.
func lastToDelete(victims []*v1.Pod) *v1.Pod {
	for _, v := range slices.Backward(victims) {
		if v.DeletionTimestamp == nil || deletesTerminating {
			return v
		}
	}
	return nil
}

// rescue makes a panic the status of the call that is deferring it. Upstream's
// workers would end the process.
func (s *scheduler) rescue(st **status) {
	if p := recover(); p != nil {
		s.panicked.CompareAndSwap(nil, &p)
		*st = asStatus(fmt.Errorf("panic: %v", p))
	}
}
