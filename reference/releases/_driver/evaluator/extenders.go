package main

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// extend makes the scheduler ask extenders, those that are ignorable last, as
// upstream keeps them. Only the Evaluator of preemption asks the framework for them,
// through its handle.
func (s *scheduler) extend(settings []model.Extender, r *recorder) {
	s.sched.Extenders, s.extenders = nil, nil
	for _, ignorable := range []bool{false, true} {
		for _, e := range s.configured {
			if e.IsIgnorable() == ignorable {
				s.sched.Extenders = append(s.sched.Extenders, e)
			}
		}
		for i := range settings {
			if settings[i].Ignorable == ignorable {
				s.sched.Extenders = append(s.sched.Extenders, &toldExtender{Extender: standin.Extender{Does: &settings[i]}})
			}
		}
	}
	if len(s.sched.Extenders) > 0 {
		s.extenders = append(slices.Clone(s.sched.Extenders), lastExtender{r: r})
	}
}

// handle is the framework with extenders of its own.
type handle struct {
	frameworkHandle
	extenders []extender
}

func (h handle) Extenders() []extender { return h.extenders }

// toldExtender does what the settings say.
type toldExtender struct {
	standin.Extender
	uncalled
}

// uncalled is what a scheduling cycle does not call; nil.
type uncalled struct{ extender }

// Prioritize gives all nodes the same score.
func (e *toldExtender) Prioritize(*v1.Pod, []extendedNode) (*extenderv1.HostPriorityList, int64, error) {
	return &extenderv1.HostPriorityList{}, 0, nil
}

func (e *toldExtender) Filter(_ *v1.Pod, nodes []extendedNode) (passed []extendedNode, failed, excluded extenderv1.FailedNodesMap, err error) {
	return standin.Filter(e.Does, nodes, nameOf)
}

func (e *toldExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ nodeInfoLister) (map[string]*extenderv1.Victims, error) {
	if e.Does.Preempt.Fails != "" {
		return nil, fmt.Errorf("extender %s: %s", e.Does.Name, e.Does.Preempt.Fails)
	}
	out := map[string]*extenderv1.Victims{}
	for node, victims := range candidates {
		if pods, violations, ok := standin.Victims(e.Does.Preempt, node, victims.Pods, victims.NumPDBViolations); ok {
			out[node] = &extenderv1.Victims{Pods: pods, NumPDBViolations: violations}
		}
	}
	return out, nil
}

// lastExtender comes after all extenders and records what they have left of the
// candidates. It changes nothing.
type lastExtender struct {
	extender
	r *recorder
}

func (lastExtender) SupportsPreemption() bool  { return true }
func (lastExtender) IsInterested(*v1.Pod) bool { return true }

func (l lastExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ nodeInfoLister) (map[string]*extenderv1.Victims, error) {
	l.r.obs.AfterExtenders = map[string]observation.DryRun{}
	for node, victims := range candidates {
		l.r.obs.AfterExtenders[node] = observation.DryRun{Victims: keys(victims.Pods), Violations: int(victims.NumPDBViolations)}
		l.r.victims[node] = victims.Pods
	}
	return maps.Clone(candidates), nil
}
