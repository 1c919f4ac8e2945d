package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

func onePodForAllTerms(_ *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
	before := &filter.InterPodAffinityState{Relations: slices.Clone(affinity.Relations)}
	for i := range affinity.Relations {
		if r := &affinity.Relations[i]; slices.Contains(r.Affinity, false) {
			r.Affinity = make([]bool, len(r.Affinity))
		}
	}
	affinity.Count()
	return variant.Judge{State: st, Verdict: st.Fits, Same: before.Alike}
}

func nominatedRefusalsSkipped(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
	if len(affinity.Affinity)+len(affinity.AntiAffinity) > 0 {
		return st
	}
	before, gone := s.Before()
	if len(gone) > 0 {
		whole, _ := (filter.InterPodAffinity{}).PreFilter(before)
		affinity, _ = filter.As[*filter.InterPodAffinityState](whole)
	}
	if affinity != nil && refusedByBound(before, affinity) {
		return st
	}
	return variant.Judge{State: st, Verdict: func(*filter.Node, filter.View) *filter.Verdict { return nil }}
}

// refusedByBound tells whether a pod that is bound keeps the preemptor away from some node.
func refusedByBound(s *filter.Snapshot, affinity *filter.InterPodAffinityState) bool {
	return slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return filter.InAny(affinity.Relations[p.Index].Existing, n) })
	})
}

func reprievedPodsShunned(affinity *filter.InterPodAffinityState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	if failed != nil || !filter.InAny(affinity.AntiAffinity, n) {
		return failed
	}
	for _, p := range v.Pods {
		if len(affinity.Relations[p.Index].AntiAffinity) > 0 && givenBack(v.Moves, p) {
			return filter.Resolvable("node(s) didn't match pod anti-affinity rules")
		}
	}
	return nil
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
