package main

import (
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// failed is a cycle that ended in an error. The nomination that it leaves is decided
// after it, which is not run.
func (s *scheduler) failed(obs *observation.Observation, err error) {
	obs.CycleError = err.Error()
	obs.Actuation = &observation.Actuation{Nomination: observation.NominationUnseen}
	s.client.Take(obs.Actuation)
}

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination.
func (s *scheduler) run(c *cluster, obs *observation.Observation) {
	defer func() {
		if first := s.panicked.Load(); first != nil {
			panic(*first)
		}
	}()
	obs.PinnedDryRuns = or(c.settings.Workers(), 1) == 1
	r := &recorder{Framework: s.profile, s: s, offset: or(c.settings.DryRunOffset, 0), obs: obs, victims: map[string][]*v1.Pod{}}
	s.recorder, s.evaluating = r, nil
	s.extend(c.settings.Extenders, r)
	state := framework.NewCycleState()
	if err := s.updateSnapshot(); err != nil { // from 1.36 on SchedulePod does not
		s.failed(obs, err)
		return
	}
	// Before 1.36 it takes the pod itself.
	results, err := callFunc(reflect.ValueOf(s.sched.SchedulePod), s.ctx, r, state, c.preemptor, &framework.QueuedPodInfo{PodInfo: s.info})
	if err == nil {
		obs.ScheduledTo = results[0].Interface().(upstream.ScheduleResult).SuggestedHost
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
			if v.Plugin == "" && len(s.sched.Extenders) > 0 { // no plugin, so it was an extender
				v.Plugin = "Extender"
			}
			obs.Filters[n.Name] = v
		}
	}

	result, st := s.postFilter(r, state, &fitError.Diagnosis)
	obs.PostFilterCode, obs.PostFilterMessage = st.Code().String(), st.Message()
	obs.Actuation = actuation(result)
	if len(s.sched.Extenders) > 0 && len(obs.Candidates) > 0 && obs.AfterExtenders == nil && !failed(st) {
		obs.AfterExtenders = map[string]observation.DryRun{} // nothing left
	}
	if node := obs.Actuation.NominatedNode; node != "" {
		s.awaitPreemption(r.victims[node])
		unseen := s.outside && obs.DryRuns == nil
		if len(obs.Candidates) == 0 && !unseen {
			obs.Candidates = []string{node}
		}
		run := obs.DryRuns[node]
		if obs.AfterExtenders != nil {
			run = obs.AfterExtenders[node]
		}
		obs.Pick = &observation.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
		if unseen { // a plugin from outside that has its own way to preempt
			s.client.Take(obs.Actuation)
			if obs.Pick.Victims = obs.Actuation.Deleted; len(obs.Pick.Victims) == 0 {
				obs.Pick = nil
			}
			return
		}
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

// caught makes a panic an error, and remembers the first.
func (s *scheduler) caught(p any) error {
	s.panicked.CompareAndSwap(nil, &p)
	return fmt.Errorf("panic: %v", p)
}

// rescue makes a panic the status of the call that is deferring it. Upstream's
// workers would end the process.
func (s *scheduler) rescue(st **status) {
	if p := recover(); p != nil {
		*st = asStatus(s.caught(p))
	}
}
