package model

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const nodeAffinityReason = "node(s) didn't match Pod's node affinity/selector"

// nodeAffinityFails: the node has to match the pod's nodeSelector and one of its
// required terms (docs: concepts/scheduling-eviction/assign-pod-node).
func nodeAffinityFails(q *question, n *node, _ view) *Verdict {
	for key, value := range q.preemptor.Spec.NodeSelector {
		if has, ok := n.Labels[key]; !ok || has != value {
			return unresolvable(nodeAffinityReason)
		}
	}
	terms := requiredTerms(q.preemptor.Pod)
	if terms == nil {
		return nil
	}
	if !slices.ContainsFunc(terms, func(t v1.NodeSelectorTerm) bool { return termMatches(&t, n.Node) }) {
		return unresolvable(nodeAffinityReason)
	}
	return nil
}

func requiredTerms(p *v1.Pod) []v1.NodeSelectorTerm {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// termMatches: requirements are ANDed; an empty term matches nothing
// (API reference, NodeSelectorTerm).
func termMatches(t *v1.NodeSelectorTerm, n *v1.Node) bool {
	for i := range t.MatchExpressions {
		value, has := n.Labels[t.MatchExpressions[i].Key]
		if !requirementMatches(&t.MatchExpressions[i], value, has) {
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

func requirementMatches(r *v1.NodeSelectorRequirement, value string, has bool) bool {
	switch r.Operator {
	case v1.NodeSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case v1.NodeSelectorOpNotIn:
		// A requirement that cannot be parsed matches nothing
		// (nodeaffinity.go:70@v0.37.1, LazyErrorNodeSelector).
		for _, v := range r.Values {
			if len(validation.IsValidLabelValue(v)) > 0 {
				return false
			}
		}
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

// nodeAffinityPreFilter narrows the nodes to try: when every required term of
// the pod names its nodes, the others are not looked at. If the names contradict
// each other no node is left (node_affinity.go:150@v1.37.1, PreFilter).
func nodeAffinityPreFilter(q *question) *preFilterAnswer {
	terms := requiredTerms(q.preemptor.Pod)
	if len(terms) == 0 {
		return nil
	}
	named := map[string]bool{}
	for i := range terms {
		var inTerm []string
		narrowed := false
		for _, r := range terms[i].MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != v1.NodeSelectorOpIn {
				continue
			}
			if !narrowed {
				inTerm, narrowed = slices.Clone(r.Values), true
			} else {
				inTerm = slices.DeleteFunc(inTerm, func(name string) bool { return !slices.Contains(r.Values, name) })
			}
		}
		if !narrowed {
			return nil
		}
		if len(inTerm) == 0 && q.rules.oneTermConflicts {
			return &preFilterAnswer{rejection: unresolvable(nodeAffinityReason)}
		}
		for _, name := range inTerm {
			named[name] = true
		}
	}
	if len(named) == 0 {
		return &preFilterAnswer{rejection: unresolvable(nodeAffinityReason)}
	}
	return &preFilterAnswer{nodes: named}
}
