package relation

import (
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/properties"
)

// permutingLists: three lists keep their order. Init containers run in it (KEP-753).
// Pods of a node do if equally important ones differ, because it is open which of
// these is reprieved first. Budgets have a relation of their own.
var permutingLists = relation{
	name: "permuting-lists",
	promise: "The order in which nodes, pods, containers, ports, tolerations, taints, and the terms, requirements and values of an affinity are listed means nothing: " +
		"terms are ORed, requirements ANDed, taints all have to be tolerated by any toleration, requests and ports are summed up.",
	source:    "docs: concepts/scheduling-eviction/assign-pod-node, concepts/scheduling-eviction/taint-and-toleration",
	lies:      []string{"the first node is worse", "the first pod counts", "the first container counts"},
	extenders: true,
	vary:      permuteLists,
}

func permuteLists(s *properties.Subject, random *rand.Rand) *variation {
	out, pods := copyOf(s.Cluster)
	for _, p := range pods {
		shuffle(random, p.Spec.Tolerations)
		shuffle(random, p.Spec.Containers)
		for i := range p.Spec.Containers {
			shuffle(random, p.Spec.Containers[i].Ports)
		}
		for _, t := range properties.NodeTerms(p) {
			shuffle(random, t.MatchExpressions)
			shuffle(random, t.MatchFields)
			for i := range t.MatchExpressions {
				shuffle(random, t.MatchExpressions[i].Values)
			}
		}
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			shuffle(random, a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
		}
	}
	listed := slices.Clone(out.Pods)
	shuffle(random, out.Pods)
	shuffle(random, out.Nodes)
	for _, n := range out.Nodes {
		if hasTies(s, n.Name) {
			inOrder := slices.DeleteFunc(slices.Clone(listed), func(p *v1.Pod) bool { return p.Spec.NodeName != n.Name })
			for j, p := range out.Pods {
				if p.Spec.NodeName == n.Name {
					out.Pods[j], inOrder = inOrder[0], inOrder[1:]
				}
			}
		}
		shuffle(random, n.Spec.Taints)
	}
	return &variation{cluster: out}
}

var permutingBudgets = relation{
	name: "permuting-budgets",
	promise: "The order in which the API server lists PodDisruptionBudgets means nothing: nothing documented ranks one budget above another. " +
		"Neither the victims nor the number of violations on a node depend on it.",
	source:    "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\"",
	lies:      []string{"the first budget counts"},
	extenders: true,
	vary: func(s *properties.Subject, _ *rand.Rand) *variation {
		if len(s.Cluster.PodDisruptionBudgets) < 2 || s.Assumes("budget-order") && slices.ContainsFunc(s.Cluster.Nodes, func(n *v1.Node) bool { return anyOverlap(s, n.Name) }) {
			return nil
		}
		out := *s.Cluster
		out.PodDisruptionBudgets = slices.Clone(out.PodDisruptionBudgets)
		slices.Reverse(out.PodDisruptionBudgets) // changes the order of each two
		return &variation{cluster: &out}
	},
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
