package account

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Known is what a scheduler knows at an instant.
type Known struct {
	a *account
	i int
}

// Follow calls visit before each entry of a trace, and after the last one, with what the scheduler
// that is alive knows then. Nothing of it may be kept.
func Follow(t *timeline.Timeline, trace *timeline.Trace, visit func(i int, k Known)) {
	follow(t, trace, func(i int, a *account) { visit(i, Known{a, i}) })
}

// Cycle is what a cycle of a pod would be about if it began now; nil if the scheduler does not
// know the pod as one that waits for a node, or not as it is. Volumes, claims and the like count as
// the scheduler has been told of them or, if listed, as listers show them.
func (k Known) Cycle(pod string, listed bool) *Cycle {
	var known *waiting
	for _, w := range k.a.waiting {
		if model.Key(w.pod) == pod {
			if known != nil {
				return nil
			}
			known = w
		}
	}
	if known == nil || k.a.assumed[known.pod.UID] != nil || !same(known.pod, k.a.stored[pod]) {
		return nil
	}
	c := k.a.newCycle(k.i, known.pod)
	c.Result = &timeline.Entry{What: timeline.Unfit}
	c.budgets = [][]*policyv1.PodDisruptionBudget{sorted(k.a.budgets)}
	if !listed {
		c.extra = sorted(k.a.told)
	}
	return c
}

// Confirmed is the cycle without the pods on nodes that are assumed there, and not said to be bound yet.
func (c *Cycle) Confirmed() *Cycle {
	assumed := func(p onNode) bool { return p.assumed }
	out := *c
	out.pods = slices.DeleteFunc(slices.Clone(c.pods), assumed)
	out.unsure, out.lingers = slices.DeleteFunc(slices.Clone(c.unsure), assumed), nil
	return &out
}

// same tells whether listers show a pod as the scheduler has been told it is, as far as it matters
// where it fits.
func same(told, stored *v1.Pod) bool {
	return stored != nil && (stored == told || stored.UID == told.UID && stored.DeletionTimestamp == nil &&
		equality.Semantic.DeepEqual(told.Labels, stored.Labels) && equality.Semantic.DeepEqual(told.Spec, stored.Spec))
}

// AsListed tells whether listers show volumes, claims and the like as the scheduler has been told
// that they are.
func (k Known) AsListed() bool { return slices.Equal(sorted(k.a.told), sorted(k.a.others)) }
