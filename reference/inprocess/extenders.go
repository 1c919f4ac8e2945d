package inprocess

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
)

// buildExtenders makes the extenders of a scheduler's settings, in the order in
// which upstream keeps them: the ignorable ones last (scheduler.go:602@v1.37.1,
// buildExtenders).
func buildExtenders(settings []model.Extender) ([]fwk.Extender, error) {
	var first, last []fwk.Extender
	for i := range settings {
		e := &extender{does: &settings[i]}
		if e.IsIgnorable() {
			last = append(last, e)
		} else {
			first = append(first, e)
		}
	}
	return append(first, last...), nil
}

// extend makes the scheduler ask extenders, or none. Only the evaluator of
// preemption asks the framework for them, through its handle.
func (s *scheduler) extend(extenders []fwk.Extender) {
	s.sched.Extenders = extenders
	s.plugin.Evaluator.Handler = handle{s.profile, extenders}
}

// handle is the framework with extenders of its own.
type handle struct {
	fwk.Handle
	extenders []fwk.Extender
}

func (h handle) Extenders() []fwk.Extender { return h.extenders }

// extender does what a model.Extender says.
type extender struct {
	fwk.Extender // nil: what a scheduling cycle does not call
	does         *model.Extender
}

func (e *extender) Name() string             { return e.does.Name }
func (e *extender) IsIgnorable() bool        { return e.does.Ignorable }
func (e *extender) IsFilter() bool           { return e.does.Filter != nil }
func (e *extender) IsPrioritizer() bool      { return false }
func (e *extender) IsBinder() bool           { return false }
func (e *extender) SupportsPreemption() bool { return e.does.Preempt != nil }

func (e *extender) IsInterested(pod *v1.Pod) bool {
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
func (e *extender) Prioritize(*v1.Pod, []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	return &extenderv1.HostPriorityList{}, 0, nil
}

func (e *extender) Filter(_ *v1.Pod, nodes []fwk.NodeInfo) (passed []fwk.NodeInfo, failed, excluded extenderv1.FailedNodesMap, err error) {
	if !e.IsFilter() {
		return nodes, nil, nil, nil
	}
	names := make([]string, len(nodes))
	byName := map[string]fwk.NodeInfo{}
	for i, n := range nodes {
		names[i] = n.Node().Name
		byName[names[i]] = n
	}
	left, failed, excluded, err := filter(e.does, names)
	for _, name := range left {
		passed = append(passed, byName[name])
	}
	return passed, failed, excluded, err
}

// filter is the extender's answer to a filter call.
func filter(e *model.Extender, nodes []string) (passed []string, failed, excluded extenderv1.FailedNodesMap, err error) {
	if e.Filter.Fails {
		return nil, nil, nil, errors.New("the filter fails")
	}
	failed, excluded = extenderv1.FailedNodesMap{}, extenderv1.FailedNodesMap{}
	for _, name := range nodes {
		stays := !slices.Contains(e.Filter.Omits, name)
		if slices.Contains(e.Filter.Rejects, name) {
			failed[name], stays = "rejected by extender "+e.Name, false
		}
		if slices.Contains(e.Filter.Excludes, name) {
			excluded[name], stays = "excluded by extender "+e.Name, false
		}
		if stays {
			passed = append(passed, name)
		}
	}
	return passed, failed, excluded, nil
}

func (e *extender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	if e.does.Preempt.Fails != "" {
		return nil, fmt.Errorf("extender %s: %s", e.does.Name, e.does.Preempt.Fails)
	}
	out := map[string]*extenderv1.Victims{}
	for node, victims := range candidates {
		if pods, violations, ok := processVictims(e.does.Preempt, node, victims.Pods, victims.NumPDBViolations); ok {
			out[node] = &extenderv1.Victims{Pods: pods, NumPDBViolations: violations}
		}
	}
	return out, nil
}

// processVictims is the extender's answer about one candidate; ok is false if it
// leaves it out.
func processVictims[P any](p *model.ExtenderPreempt, node string, victims []P, violations int64) (_ []P, _ int64, ok bool) {
	if p.Nothing || slices.Contains(p.Drops, node) {
		return nil, 0, false
	}
	i := slices.IndexFunc(p.Changes, func(c model.VictimChange) bool { return c.Node == node })
	if i < 0 {
		return victims, violations, true
	}
	victims = slices.Clone(victims)
	change := p.Changes[i]
	if change.Reverses {
		slices.Reverse(victims)
	}
	if change.Keeps != nil {
		victims = victims[:min(int(*change.Keeps), len(victims))]
	}
	if change.Violations != nil {
		violations = *change.Violations
	}
	return victims, violations, true
}

// lastExtender comes after all extenders and records what they have left of the
// candidates. It changes nothing.
type lastExtender struct {
	fwk.Extender
	obs *model.Observation
}

func (lastExtender) SupportsPreemption() bool  { return true }
func (lastExtender) IsInterested(*v1.Pod) bool { return true }

func (l lastExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	l.obs.AfterExtenders = map[string]model.DryRun{}
	for node, victims := range candidates {
		l.obs.AfterExtenders[node] = model.DryRun{Victims: keys(victims.Pods), Violations: int(victims.NumPDBViolations)}
	}
	return maps.Clone(candidates), nil
}
