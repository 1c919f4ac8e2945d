package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofAffinity is a variant of InterPodAffinity whose State is changed: affinity is
// what st has within.
func ofAffinity(change func(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State) variant.OfPlugin {
	return variant.Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if affinity, ok := filter.As[*filter.InterPodAffinityState](st); ok {
			st = change(s, st, affinity)
		}
		return st, a
	})
}

// existingFirst: a pod's affinity to others is judged after the anti-affinity of
// others to it, so that what cannot be resolved is not seen.
func existingFirst(p filter.Plugin) filter.Plugin {
	return variant.Rejudge(func(st filter.State, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
		affinity, ok := filter.As[*filter.InterPodAffinityState](st)
		if ok && failed != nil && affinity.ExistingViolated(n, v) {
			return filter.Resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
		}
		return failed
	})(p)
}

// firstAnywhere: for the first of a group of pods any node will do.
func firstAnywhere(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(_ *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
		for i := range affinity.Labelled {
			affinity.Labelled[i] = true
		}
		return st
	})(p)
}

// onePodForAllTerms: pods count for a term of affinity only if all terms of the pod
// select them.
func onePodForAllTerms(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(_ *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
		before := &filter.InterPodAffinityState{Relations: slices.Clone(affinity.Relations)}
		for i := range affinity.Relations {
			if r := &affinity.Relations[i]; slices.Contains(r.Affinity, false) {
				r.Affinity = make([]bool, len(r.Affinity))
			}
		}
		affinity.Count()
		return alikeBefore{st, before}
	})(p)
}

// alikeBefore is a State that tells the pods apart which another one does.
type alikeBefore struct {
	filter.State
	before filter.State
}

// Inner implements filter.Wrapper.
func (s alikeBefore) Inner() filter.State { return s.State }

// Alike implements filter.State.
func (s alikeBefore) Alike(a, b *filter.Pod) bool { return s.before.Alike(a, b) }

// unlabelledNodesHideFirst: a pod counts as the first of its group although others
// of it run, on nodes without the topology labels.
func unlabelledNodesHideFirst(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
		s.Placed(func(n *filter.Node, p *filter.Pod) {
			if !slices.ContainsFunc(affinity.Affinity, func(t *filter.Topology) bool { return t.Domains[n.Index] >= 0 }) {
				affinity.Relations[p.Index].Member = false
			}
		})
		affinity.Count()
		return st
	})(p)
}

// nominatedPodsUnmet: the preemptor's own affinity and anti-affinity ignore nominated
// pods.
func nominatedPodsUnmet(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
		for _, n := range s.Nodes {
			for _, p := range n.Nominated {
				r := &affinity.Relations[p.Index]
				*r = filter.Relation{Affinity: make([]bool, len(r.Affinity)), Existing: r.Existing}
			}
		}
		return st
	})(p)
}

// nominatedRefusalsSkipped: the anti-affinity of nominated pods counts only if some
// other pod's affinity or anti-affinity does.
func nominatedRefusalsSkipped(p filter.Plugin) filter.Plugin {
	return ofAffinity(func(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
		if len(affinity.Affinity)+len(affinity.AntiAffinity) > 0 {
			return st
		}
		for _, n := range s.Nodes {
			for _, p := range n.Pods {
				if hasAny(affinity.Relations[p.Index].Existing, n) {
					return st
				}
			}
		}
		return variant.Judge{State: st, Verdict: func(*filter.Node, filter.View) *filter.Verdict { return nil }}
	})(p)
}

// reprievedPodsShunned: a pod that is reprieved counts for all terms of the
// preemptor's anti-affinity if one of them selects it.
func reprievedPodsShunned(p filter.Plugin) filter.Plugin {
	return variant.Rejudge(func(st filter.State, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
		affinity, ok := filter.As[*filter.InterPodAffinityState](st)
		if !ok || failed != nil || !hasAny(affinity.AntiAffinity, n) {
			return failed
		}
		for _, p := range v.Pods {
			if len(affinity.Relations[p.Index].AntiAffinity) > 0 && givenBack(v.Moves, p) {
				return filter.Resolvable("node(s) didn't match pod anti-affinity rules")
			}
		}
		return nil
	})(p)
}

// givenBack tells whether a pod was taken from the node, and given back last.
func givenBack(moves []filter.Move, p *filter.Pod) bool {
	for _, move := range slices.Backward(moves) {
		if move.Pod.Index == p.Index {
			return move.Back
		}
	}
	return false
}

// hasAny tells whether a node has the label of one of the topologies.
func hasAny(topologies []*filter.Topology, n *filter.Node) bool {
	return slices.ContainsFunc(topologies, func(t *filter.Topology) bool { return t.Domains[n.Index] >= 0 })
}
