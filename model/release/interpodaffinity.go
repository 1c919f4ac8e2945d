package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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

// gateHostnames is the gate with which terms about host names are counted in a way of their own.
const gateHostnames = "InterPodAffinityHostnameFastPath"

func unlabelledNodesHideFirst(s *filter.Snapshot, st *filter.InterPodAffinityState, _ *filter.Answer) {
	if s.FeatureGates[gateHostnames] && !slices.ContainsFunc(filter.RequiredAffinity(s.Preemptor.Pod), notAboutHosts) {
		return // all pods count
	}
	s.Placed(func(n *filter.Node, p *filter.Pod) {
		if !filter.InAny(st.Affinity, n) {
			st.Relations[p.Index].Member = false
		}
	})
	st.Count()
}

func notAboutHosts(t v1.PodAffinityTerm) bool {
	return t.TopologyKey != v1.LabelHostname && t.TopologyKey != byNode
}

// affinitySkips tells whether InterPodAffinity answers Skip in PreFilter: the preemptor has no terms, and no bound pod keeps
// it away from some node; nor, with gateHostnames, has one terms of anti-affinity about host names, whoever they select. affinity
// is nil if no pod has anything to say.
func affinitySkips(s *filter.Snapshot, affinity *filter.InterPodAffinityState) bool {
	if affinity != nil && (len(affinity.Affinity)+len(affinity.AntiAffinity) > 0 || refusedByBound(s, affinity)) {
		return false
	}
	return !s.FeatureGates[gateHostnames] || !slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool {
			return slices.ContainsFunc(filter.RequiredAntiAffinity(p.Pod), func(t v1.PodAffinityTerm) bool { return !notAboutHosts(t) })
		})
	})
}

func nominatedRefusalsSkipped(s *filter.Snapshot, st filter.State, affinity *filter.InterPodAffinityState) filter.State {
	refuses := func(n *filter.Node, p *filter.Pod) bool { return filter.InAny(affinity.Relations[p.Index].Existing, n) }
	if len(affinity.Affinity)+len(affinity.AntiAffinity) > 0 || !slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Nominated, func(p *filter.Pod) bool { return refuses(n, p) }) || len(n.Moves) > 0
	}) {
		return st
	}
	before, gone := s.Before()
	if len(gone) > 0 {
		whole, _ := (filter.InterPodAffinity{}).PreFilter(before)
		affinity, _ = filter.As[*filter.InterPodAffinityState](whole)
	}
	if !affinitySkips(before, affinity) {
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

// hostsShareName tells whether, with gateHostnames, two nodes have one host name.
func hostsShareName(s *filter.Snapshot) bool {
	seen := map[string]bool{}
	return s.FeatureGates[gateHostnames] && slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		host, labelled := n.Node.Labels[v1.LabelHostname]
		again := labelled && seen[host]
		seen[host] = seen[host] || labelled
		return again
	})
}

// byNode is the key of a label that tells each node with a host name from all others.
const byNode = "node of the host name"

// matchesUnlabelled tells whether a term selects namespaces by labels, and would select one that has none.
func matchesUnlabelled(t v1.PodAffinityTerm) bool {
	selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	return err == nil && selector.Matches(labels.Set{})
}

func selectsUnlabelled(s *filter.Snapshot) bool {
	p := s.Preemptor.Pod
	return slices.ContainsFunc(filter.RequiredAffinity(p), matchesUnlabelled) || slices.ContainsFunc(filter.RequiredAntiAffinity(p), matchesUnlabelled)
}

// excludedNamespacesCount has such terms of the preemptor be about all namespaces: what they select is found out first, and then the selector
// is asked once more, about each namespace as if it had no labels (interpodaffinity/plugin.go:144@v1.36.3, mergeAffinityTermNamespacesIfNotEmpty,
// which changes a copy of the term).
func excludedNamespacesCount(p *v1.Pod) {
	p.Spec.Affinity = p.Spec.Affinity.DeepCopy()
	for _, terms := range [][]v1.PodAffinityTerm{filter.RequiredAffinity(p), filter.RequiredAntiAffinity(p)} {
		for i := range terms {
			if matchesUnlabelled(terms[i]) {
				terms[i].NamespaceSelector = &metav1.LabelSelector{}
			}
		}
	}
}

// hostsApart has terms about host names be about nodes that have one; those of the preemptor's affinity only if all of them are
// (interpodaffinity/filtering.go:226@v1.37.1, classifyTermsBasedOnScope).
func hostsApart(s *filter.Snapshot) {
	for _, n := range s.Nodes {
		if _, labelled := n.Node.Labels[v1.LabelHostname]; labelled {
			n.Node = n.Node.DeepCopy()
			n.Node.Labels[byNode] = n.Node.Name
		}
	}
	apart := func(terms []v1.PodAffinityTerm) {
		for i := range terms {
			if !notAboutHosts(terms[i]) {
				terms[i].TopologyKey = byNode
			}
		}
	}
	of := func(p *v1.Pod, nearToo bool) *v1.Pod {
		if p.Spec.Affinity == nil {
			return p
		}
		out := *p
		out.Spec.Affinity = p.Spec.Affinity.DeepCopy()
		apart(filter.RequiredAntiAffinity(&out))
		if near := filter.RequiredAffinity(&out); nearToo && !slices.ContainsFunc(near, notAboutHosts) {
			apart(near)
		}
		return &out
	}
	s.Preemptor.Pod = of(s.Preemptor.Pod, true)
	s.Placed(func(_ *filter.Node, p *filter.Pod) { p.Pod = of(p.Pod, false) })
}
