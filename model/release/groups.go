package release

import (
	"github.com/preemptcheck/preemptcheck/model/answers"
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
