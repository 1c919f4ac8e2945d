package filter

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// NodeAffinityReason is what the scheduler says of nodes that the preemptor's node
// affinity does not match.
const NodeAffinityReason = "node(s) didn't match Pod's node affinity/selector"

// NodeAffinity wants the node to match the pod's nodeSelector and one of its
// required terms (docs: concepts/scheduling-eviction/assign-pod-node).
type NodeAffinity struct{}

// Name implements Plugin.
func (NodeAffinity) Name() string { return "NodeAffinity" }

// PreFilter narrows the nodes to try: when every required term of the pod names
// its nodes, the others are not looked at. If the names contradict each other no
// node is left (node_affinity.go:150@v1.37.1, PreFilter).
func (NodeAffinity) PreFilter(s *Snapshot) (State, Answer) {
	p := s.Preemptor.Pod
	terms := RequiredNodeTerms(p)
	if len(p.Spec.NodeSelector) == 0 && terms == nil {
		return nil, Answer{}
	}
	return EachNode(func(n *v1.Node) *Verdict {
		if !MatchesNodeAffinity(p, n) {
			return Unresolvable(NodeAffinityReason)
		}
		return nil
	}), namedNodes(terms)
}

func namedNodes(terms []v1.NodeSelectorTerm) Answer {
	if len(terms) == 0 {
		return Answer{}
	}
	named := map[string]bool{}
	for i := range terms {
		names, narrows := NamedNodes(&terms[i])
		if !narrows {
			return Answer{}
		}
		for _, name := range names {
			named[name] = true
		}
	}
	if len(named) == 0 {
		return Rejected(NodeAffinityReason)
	}
	return Answer{Nodes: named}
}

// NamedNodes are the names that a term leaves to choose from, if it narrows them
// by name at all.
func NamedNodes(t *v1.NodeSelectorTerm) (names []string, narrows bool) {
	for _, r := range t.MatchFields {
		if r.Key != metav1.ObjectNameField || r.Operator != v1.NodeSelectorOpIn {
			continue
		}
		if !narrows {
			names, narrows = slices.Clone(r.Values), true
		} else {
			names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(r.Values, name) })
		}
	}
	return names, narrows
}

// MatchesNodeAffinity tells whether a node is one that p itself asks for: it has all labels of the node selector, and
// one of the required terms matches it (docs: concepts/scheduling-eviction/assign-pod-node).
func MatchesNodeAffinity(p *v1.Pod, n *v1.Node) bool {
	for key, value := range p.Spec.NodeSelector {
		if has, ok := n.Labels[key]; !ok || has != value {
			return false
		}
	}
	terms := RequiredNodeTerms(p)
	return terms == nil || AnyTermMatches(terms, n)
}

// RequiredNodeTerms are the required terms of p's node affinity; nil if it has none.
func RequiredNodeTerms(p *v1.Pod) []v1.NodeSelectorTerm {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// AnyTermMatches tells whether one of the terms of a node selector matches a node:
// terms are ORed (API reference, NodeSelector).
func AnyTermMatches(terms []v1.NodeSelectorTerm, n *v1.Node) bool {
	for i := range terms {
		if termMatches(&terms[i], n) {
			return true
		}
	}
	return false
}

// termMatches: requirements are ANDed; an empty term matches nothing (API
// reference, NodeSelectorTerm).
func termMatches(t *v1.NodeSelectorTerm, n *v1.Node) bool {
	for i := range t.MatchExpressions {
		value, has := n.Labels[t.MatchExpressions[i].Key]
		if !areLabelValues(t.MatchExpressions[i].Values) || !requirementMatches(&t.MatchExpressions[i], value, has) {
			return false
		}
	}
	for i := range t.MatchFields {
		if !requirementMatches(&t.MatchFields[i], n.Name, true) {
			return false
		}
	}
	return len(t.MatchExpressions)+len(t.MatchFields) > 0
}

// areLabelValues tells whether a requirement on labels can be parsed: one that
// cannot matches nothing, whatever its operator
// (nodeaffinity/nodeaffinity.go:33@v0.37.1, doc comment of LazyErrorNodeSelector;
// line 191).
func areLabelValues(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return len(validation.IsValidLabelValue(v)) > 0 })
}

func requirementMatches(r *v1.NodeSelectorRequirement, value string, has bool) bool {
	switch r.Operator {
	case v1.NodeSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case v1.NodeSelectorOpNotIn:
		return !has || !slices.Contains(r.Values, value)
	case v1.NodeSelectorOpExists:
		return has
	case v1.NodeSelectorOpDoesNotExist:
		return !has
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		if !has || len(r.Values) != 1 {
			return false
		}
		have, err1 := strconv.ParseInt(value, 10, 64)
		bound, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		if r.Operator == v1.NodeSelectorOpGt {
			return have > bound
		}
		return have < bound
	}
	return false
}
