package release

import (
	"math"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// memberRanksAsGroup: a pod that is disrupted by itself has the rank of a group if it
// names one. With the gate GenericWorkload off no pod does.
func memberRanksAsGroup(r *answers.Rules) {
	importance := r.Importance
	seen := func(u *unit.Unit) *unit.Unit {
		if u.Kind != unit.Pod || u.Pods[0].Spec.SchedulingGroup == nil {
			return u
		}
		return variant.Changed(u, func(u *unit.Unit) { u.Kind = unit.PodGroup })
	}
	r.Importance = func(a, b *unit.Unit) int { return importance(seen(a), seen(b)) }
}

// pickByOwnPriority: the criteria see each victim with its own priority. The first counts
// as the highest: victims come in order of their groups' priorities, so that it need
// not be.
func pickByOwnPriority(r *answers.Rules) {
	r.Criteria = slices.Clone(r.Criteria)
	for i := range r.Criteria {
		of := math.MaxInt
		if r.Criteria[i].Name == model.DefaultCriteria()[1].Name {
			of = 1
		}
		compare := r.Criteria[i].Compare
		r.Criteria[i].Compare = func(a, b *model.Outcome) int { return compare(byOwnPriority(a, of), byOwnPriority(b, of)) }
	}
}

// byOwnPriority is an outcome with the first victims having their own priority, and
// without the others. It is the same if all have that of their group anyway.
func byOwnPriority(o *model.Outcome, first int) *model.Outcome {
	if !slices.ContainsFunc(o.Pods, func(p *filter.Pod) bool { return p.Priority != model.Priority(p.Pod) }) {
		return o
	}
	return variant.Changed(o, func(o *model.Outcome) {
		o.Pods = slices.Clone(o.Pods[:min(first, len(o.Pods))])
		for i, p := range o.Pods {
			o.Pods[i] = withOwnPriority(p)
		}
	})
}

func withOwnPriority(p *filter.Pod) *filter.Pod {
	return variant.Changed(p, func(p *filter.Pod) { p.Priority = model.Priority(p.Pod) })
}
