package answers

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// admitsDryRun finds the allowed outcome that was observed on a node. It is nil
// if preemption does not help there.
func (s *Set) admitsDryRun(w *world, name string, got model.DryRun) (*model.Outcome, *Disagreement) {
	run := w.runs[name]
	switch {
	case run == nil:
		return nil, disagree(model.StageDryRun, name, kindOtherNodes, "not tried", got)
	case run.Failed == nil:
	case run.fails(got.Error):
		return nil, nil
	case got.Error != "" || got.Failed == nil || got.Failed.Plugin != run.Failed.Plugin || !s.rules.DryRunStatusUnreported && got.Failed.Unresolvable != run.Failed.Unresolvable:
		return nil, disagree(model.StageDryRun, name, s.dryRunKind(run, got), model.DryRun{Failed: run.Failed}, got)
	default:
		return nil, nil
	}
	if got.Failed == nil {
		o := run.find(s.Cycle, got)
		if o == nil {
			run.enumerate(s.Cycle, w.order)
			if !run.exact {
				run.outcomes = append(run.outcomes, s.likely(run, got.Victims, w.order))
			}
			o = run.find(s.Cycle, got)
		}
		if o != nil {
			return o, nil
		}
	}
	want := make([]model.DryRun, len(run.outcomes))
	for i, o := range run.outcomes {
		want[i] = model.DryRun{Victims: o.Victims, Violations: o.Violations}
	}
	dis := disagree(model.StageDryRun, name, s.dryRunKind(run, got), want, got)
	dis.Undecided = !run.exact && got.Failed == nil && got.Error == ""
	return nil, dis
}

// AllowsDryRun tells whether a dry run on a node may come to what was seen of it.
func (s *Set) AllowsDryRun(node string, got model.DryRun) bool {
	if len(s.worlds) == 0 {
		return false
	}
	_, dis := s.admitsDryRun(s.worlds[0], node, got)
	return dis == nil
}

// likely is the outcome of the order that is likeliest to lead to the victims
// observed: of equally important pods, those that were reprieved come first. If
// any order leads to them this one does, unless budgets tell the pods apart.
func (s *Set) likely(run *run, victims []string, order []int) *model.Outcome {
	isVictim := func(u *unit.Unit) bool { return slices.Contains(victims, u.Pods[0].Key) }
	var sequence []*unit.Unit
	for _, group := range run.groups {
		reprieved := slices.DeleteFunc(slices.Clone(group), isVictim)
		sequence = append(sequence, reprieved...)
		sequence = append(sequence, slices.DeleteFunc(slices.Clone(group), func(u *unit.Unit) bool { return !isVictim(u) })...)
	}
	return s.Cycle.Reprieve(s.Cycle, run.DryRunOnNode, sequence, order)
}

// find is the outcome of r that was observed, with the pods observed, or nil.
func (r *run) find(cy *model.Cycle, got model.DryRun) *model.Outcome {
	if got.Error != "" {
		if r.fails(got.Error) {
			return r.without()
		}
		return nil
	}
	o := &model.Outcome{Victims: got.Victims, Violations: got.Violations}
	for _, key := range got.Victims {
		p := r.possible(key)
		if p == nil || slices.Contains(o.Pods, p) {
			return nil
		}
		o.Pods = append(o.Pods, p)
	}
	if len(o.Pods) > 0 && slices.ContainsFunc(r.outcomes, func(other *model.Outcome) bool { return r.same(cy, o, other) }) {
		return o
	}
	return nil
}

// possible is the pod of that key among the possible victims, or nil.
func (r *run) possible(key string) *filter.Pod {
	for _, u := range r.Possible {
		for _, p := range u.Pods {
			if p.Key == key {
				return p
			}
		}
	}
	return nil
}
