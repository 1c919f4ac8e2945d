package mutant

import (
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// otherResolvability: what preemption cannot resolve it may resolve, and the other
// way round.
func otherResolvability(p filter.Plugin) filter.Plugin {
	flipped := func(failed *filter.Verdict) *filter.Verdict {
		if failed == nil {
			return nil
		}
		other := *failed
		other.Unresolvable = !other.Unresolvable
		return &other
	}
	judged := variant.Rejudge(func(_ filter.State, _ *filter.Node, _ filter.View, failed *filter.Verdict) *filter.Verdict {
		return flipped(failed)
	})
	answered := variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		a.Rejection = flipped(a.Rejection)
		return st, a
	})
	return answered(judged(p))
}

// nobodyIsFirst: no pod may be the first of the pods that its affinity selects.
func nobodyIsFirst(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(st *filter.InterPodAffinityState) { st.SelectsItself = false })(p)
}

// firstComesAgain: others of the pods that its affinity selects do not keep a pod
// from being the first.
func firstComesAgain(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(st *filter.InterPodAffinityState) {
		for i := range st.Relations {
			st.Relations[i].Member = false
		}
		st.Count()
	})(p)
}

// strangerIsFirst: a pod that its own affinity does not select may be the first.
func strangerIsFirst(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(st *filter.InterPodAffinityState) { st.SelectsItself = true })(p)
}

func ofAffinity(change func(*filter.InterPodAffinityState)) variant.OfPlugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if affinity, ok := filter.As[*filter.InterPodAffinityState](st); ok {
			change(affinity)
		}
		return st, a
	})
}

// uncountedSelf: the preemptor does not count itself, so that one pod more may be
// where it goes.
func uncountedSelf(p filter.Plugin) filter.Plugin {
	return variant.MisreadPreemptor(func(p *v1.Pod) {
		changeConstraints(p, func(c *v1.TopologySpreadConstraint) {
			if filter.SpreadSelector(c, p.Labels).Matches(labels.Set(p.Labels)) {
				c.MaxSkew++
			}
		})
	})(p)
}

// noMinimum: domains are not compared to the emptiest, as if there were too few.
func noMinimum(p filter.Plugin) filter.Plugin {
	return variant.MisreadPreemptor(func(p *v1.Pod) {
		all := int32(math.MaxInt32)
		changeConstraints(p, func(c *v1.TopologySpreadConstraint) { c.MinDomains = &all })
	})(p)
}

func changeConstraints(p *v1.Pod, change func(*v1.TopologySpreadConstraint)) {
	p.Spec.TopologySpreadConstraints = slices.Clone(p.Spec.TopologySpreadConstraints)
	for i := range p.Spec.TopologySpreadConstraints {
		change(&p.Spec.TopologySpreadConstraints[i])
	}
}

// allNamespaces: pods of all namespaces count for spread constraints.
func allNamespaces(p filter.Plugin) filter.Plugin {
	return variant.Misread(func(s *filter.Snapshot) {
		s.Placed(func(_ *filter.Node, p *filter.Pod) {
			moved := *p.Pod
			moved.Namespace = s.Preemptor.Namespace
			p.Pod = &moved
		})
	})(p)
}

// terminatingCount: terminating pods count for spread constraints.
func terminatingCount(p filter.Plugin) filter.Plugin {
	return variant.MisreadPlaced(func(p *v1.Pod) { p.DeletionTimestamp = nil })(p)
}

// eachKeyAlone: a node without the key of one of the spread constraints counts for
// the others. Each constraint is judged as if it were the only one.
func eachKeyAlone(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(s *filter.Snapshot, _ filter.State, a filter.Answer) (filter.State, filter.Answer) {
		var all inTurn
		for _, c := range s.Preemptor.Spec.TopologySpreadConstraints {
			alone := variant.MisreadPreemptor(func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c} })
			if st, _ := alone(p).PreFilter(s); st != nil {
				all = append(all, st)
			}
		}
		return all, a
	})(p)
}

// inTurn are States of which the first that fails the preemptor gives the verdict.
type inTurn []filter.State

// Fits implements filter.State.
func (all inTurn) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	for _, st := range all {
		if failed := st.Fits(n, v); failed != nil {
			return failed
		}
	}
	return nil
}

// Alike implements filter.State.
func (all inTurn) Alike(a, b *filter.Pod) bool {
	return !slices.ContainsFunc(all, func(st filter.State) bool { return !st.Alike(a, b) })
}

// initFeaturesIgnored: what init containers need of the features that nodes declare
// is ignored.
func initFeaturesIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadPreemptor(func(p *v1.Pod) { p.Spec.InitContainers = nil })(p)
}
