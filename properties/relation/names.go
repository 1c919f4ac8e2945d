package relation

import (
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/naming"
)

// renaming swaps names wherever they occur. Swapped among themselves, they also
// sort differently, and cannot collide.
var renaming = relation{
	name: "renaming",
	promise: "Names only identify: with nodes, pods, namespaces and budgets renamed consistently, the same is preempted. " +
		"A name decides only what is documented to be a tie.",
	source: "docs: concepts/overview/working-with-objects/names",
	lies:   []string{"a node's name counts", "a pod's name counts", "the first name wins"},
	vary:   rename, extenders: true,
}

func rename(s *properties.Subject, random *rand.Rand) *variation {
	if volume.Mounts(s.Cluster.Preemptor) || usesDevices(s.Cluster) {
		return nil // claims, volumes and what else names these and nodes would have to follow
	}
	out, pods := copyOf(s.Cluster)
	listed := map[string][]string{naming.Within: {"renamed"}} // by kind
	for _, o := range out.Objects() {
		naming.Each(o, func(kind, _ string, name *string) { listed[kind] = append(listed[kind], *name) })
	}
	listed[naming.Within] = append(listed[naming.Within], listed[naming.Namespace]...)
	to := map[string]names{}
	for _, kind := range []string{naming.Node, naming.Pod, naming.Budget, naming.Within} {
		to[kind] = swap(random, listed[kind])
	}
	to[naming.Namespace] = to[naming.Within]
	for _, o := range out.Objects() {
		naming.Each(o, func(kind, _ string, name *string) { *name = to[kind].of(*name) })
	}
	out.Settings = out.Settings.RenameNodes(to[naming.Node].of)
	v := &variation{cluster: out, node: names{}, pod: names{}}
	for i, n := range s.Cluster.Nodes {
		v.node[out.Nodes[i].Name] = n.Name
	}
	v.pod[model.Key(out.Preemptor)] = model.Key(s.Cluster.Preemptor)
	for i, p := range s.Cluster.Pods {
		v.pod[model.Key(out.Pods[i])] = model.Key(p)
	}
	for _, p := range pods {
		p.UID = ""
	}
	return v
}

// names maps names to others, one to one; what is not in it stays.
type names map[string]string

// swap gives each of list the name of another of them.
func swap(random *rand.Rand, list []string) names {
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(name string) bool { return name == "" })
	out := names{}
	for i, j := range random.Perm(len(list)) {
		out[list[i]] = list[j]
	}
	return out
}

func (n names) of(name string) string {
	if other, ok := n[name]; ok {
		return other
	}
	return name
}

func (n names) ofAll(list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = n.of(name)
	}
	return out
}

// unused is a name that nothing in the cluster has or mentions.
func unused(c *model.Cluster, name string) string {
	used := map[string]bool{}
	for _, o := range c.Objects() {
		naming.Each(o, func(_, _ string, name *string) { used[*name] = true })
	}
	for used[name] {
		name += "-x"
	}
	return name
}

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
		// With that finding, a term that names no node ends the search for one that conflicts.
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil && !s.Assumes("one-term-conflicts") {
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
