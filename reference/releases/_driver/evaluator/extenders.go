package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// extend makes the scheduler ask extenders, those that are ignorable last, as
// upstream keeps them. Only the Evaluator of preemption asks the framework for them,
// through its handle.
func (s *scheduler) extend(settings []wire.Extender, r *recorder) {
	s.sched.Extenders, s.extenders = nil, nil
	for _, ignorable := range []bool{false, true} {
		for i := range settings {
			if settings[i].Ignorable == ignorable {
				s.sched.Extenders = append(s.sched.Extenders, &toldExtender{does: &settings[i]})
			}
		}
	}
	if len(settings) > 0 {
		s.extenders = append(slices.Clone(s.sched.Extenders), lastExtender{r: r})
	}
}

// handle is the framework with extenders of its own.
type handle struct {
	frameworkHandle
	extenders []extender
}

func (h handle) Extenders() []extender { return h.extenders }

// toldExtender does what a wire.Extender says.
type toldExtender struct {
	extender // nil: what a scheduling cycle does not call
	does     *wire.Extender
}

func (e *toldExtender) Name() string             { return e.does.Name }
func (e *toldExtender) IsIgnorable() bool        { return e.does.Ignorable }
func (e *toldExtender) IsFilter() bool           { return e.does.Filter != nil }
func (e *toldExtender) IsPrioritizer() bool      { return false }
func (e *toldExtender) IsBinder() bool           { return false }
func (e *toldExtender) SupportsPreemption() bool { return e.does.Preempt != nil }

func (e *toldExtender) IsInterested(pod *v1.Pod) bool {
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for _, list := range []v1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for name := range list {
				if slices.Contains(e.does.ManagedResources, string(name)) {
					return true
				}
			}
		}
	}
	return len(e.does.ManagedResources) == 0
}

// Prioritize gives all nodes the same score.
func (e *toldExtender) Prioritize(*v1.Pod, []extendedNode) (*extenderv1.HostPriorityList, int64, error) {
	return &extenderv1.HostPriorityList{}, 0, nil
}

func (e *toldExtender) Filter(_ *v1.Pod, nodes []extendedNode) (passed []extendedNode, failed, excluded extenderv1.FailedNodesMap, err error) {
	does := e.does.Filter
	switch {
	case does == nil:
		return nodes, nil, nil, nil
	case does.Fails:
		return nil, nil, nil, errors.New("the filter fails")
	}
	failed, excluded = extenderv1.FailedNodesMap{}, extenderv1.FailedNodesMap{}
	for _, n := range nodes {
		name := nameOf(n)
		stays := !slices.Contains(does.Omits, name)
		if slices.Contains(does.Rejects, name) {
			failed[name], stays = "rejected by extender "+e.does.Name, false
		}
		if slices.Contains(does.Excludes, name) {
			excluded[name], stays = "excluded by extender "+e.does.Name, false
		}
		if stays {
			passed = append(passed, n)
		}
	}
	return passed, failed, excluded, nil
}

func (e *toldExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ nodeInfoLister) (map[string]*extenderv1.Victims, error) {
	does := e.does.Preempt
	if does.Fails != "" {
		return nil, fmt.Errorf("extender %s: %s", e.does.Name, does.Fails)
	}
	out := map[string]*extenderv1.Victims{}
	for node, victims := range candidates {
		if !does.Nothing && !slices.Contains(does.Drops, node) {
			out[node] = changed(does.Changes, node, victims)
		}
	}
	return out, nil
}

func changed(changes []wire.VictimChange, node string, victims *extenderv1.Victims) *extenderv1.Victims {
	i := slices.IndexFunc(changes, func(c wire.VictimChange) bool { return c.Node == node })
	if i < 0 {
		return victims
	}
	change := changes[i]
	out := &extenderv1.Victims{Pods: slices.Clone(victims.Pods), NumPDBViolations: victims.NumPDBViolations}
	if change.Reverses {
		slices.Reverse(out.Pods)
	}
	if change.Keeps != nil {
		out.Pods = out.Pods[:min(int(*change.Keeps), len(out.Pods))]
	}
	if change.Violations != nil {
		out.NumPDBViolations = *change.Violations
	}
	return out
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
