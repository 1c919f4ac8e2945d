package standin

import (
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Extender has the methods of an extender that are the same in all releases. It does
// what the settings say.
type Extender struct{ Does *model.Extender }

func (e Extender) Name() string             { return e.Does.Name }
func (e Extender) IsIgnorable() bool        { return e.Does.Ignorable }
func (e Extender) IsFilter() bool           { return e.Does.Filter != nil }
func (e Extender) IsPrioritizer() bool      { return false }
func (e Extender) IsBinder() bool           { return false }
func (e Extender) SupportsPreemption() bool { return e.Does.Preempt != nil }

func (e Extender) IsInterested(pod *v1.Pod) bool {
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for _, list := range []v1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for name := range list {
				if slices.Contains(e.Does.ManagedResources, string(name)) {
					return true
				}
			}
		}
	}
	return len(e.Does.ManagedResources) == 0
}

// Filter is the answer to a filter call.
func Filter[N any](e *model.Extender, nodes []N, name func(N) string) (passed []N, failed, excluded map[string]string, err error) {
	does := e.Filter
	switch {
	case does == nil:
		return nodes, nil, nil, nil
	case does.Fails:
		return nil, nil, nil, errors.New("the filter fails")
	}
	failed, excluded = map[string]string{}, map[string]string{}
	for _, n := range nodes {
		name := name(n)
		stays := !slices.Contains(does.Omits, name)
		if slices.Contains(does.Rejects, name) {
			failed[name], stays = "rejected by extender "+e.Name, false
		}
		if slices.Contains(does.Excludes, name) {
			excluded[name], stays = "excluded by extender "+e.Name, false
		}
		if stays {
			passed = append(passed, n)
		}
	}
	return passed, failed, excluded, nil
}

// Victims is the extender's answer about one candidate; ok is false if it
// leaves it out.
func Victims[P any](p *model.ExtenderPreempt, node string, victims []P, violations int64) (_ []P, _ int64, ok bool) {
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
