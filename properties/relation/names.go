package relation

import (
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
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
	if volume.Mounts(s.Cluster.Preemptor) || hasClaims(s.Cluster.Preemptor) {
		return nil // claims, volumes and what else names these and nodes would have to follow
	}
	out, all := copyOf(s.Cluster)
	var nodes, pods, budgets []string
	namespaces := []string{"renamed"}
	for _, n := range out.Nodes {
		nodes = append(nodes, n.Name)
	}
	for _, p := range all {
		pods, namespaces = append(pods, p.Name), append(namespaces, p.Namespace)
	}
	for _, b := range out.PodDisruptionBudgets {
		budgets, namespaces = append(budgets, b.Name), append(namespaces, b.Namespace)
	}
	for _, o := range out.Extra {
		if ns, ok := o.(*v1.Namespace); ok {
			namespaces = append(namespaces, ns.Name)
		}
	}
	node, pod, budget, namespace := swap(random, nodes), swap(random, pods), swap(random, budgets), swap(random, namespaces)

	v := &variation{cluster: out, node: names{}, pod: names{}}
	for _, p := range all {
		before := model.Key(p)
		p.Name, p.Namespace, p.UID = pod.of(p.Name), namespace.of(p.Namespace), ""
		v.pod[model.Key(p)] = before
		p.Spec.NodeName, p.Status.NominatedNodeName = node.of(p.Spec.NodeName), node.of(p.Status.NominatedNodeName)
		node.inLabel(p.Spec.NodeSelector, v1.LabelHostname)
		renameAffinity(p, node, namespace)
	}
	for _, o := range out.Extra {
		if ns, ok := o.(*v1.Namespace); ok {
			ns.Name = namespace.of(ns.Name)
			namespace.inLabel(ns.Labels, v1.LabelMetadataName)
		}
	}
	for _, n := range out.Nodes {
		before := n.Name
		n.Name = node.of(before)
		v.node[n.Name] = before
		node.inLabel(n.Labels, v1.LabelHostname)
	}
	for _, b := range out.PodDisruptionBudgets {
		b.Name, b.Namespace = budget.of(b.Name), namespace.of(b.Namespace)
		disrupted := map[string]metav1.Time{}
		for name, at := range b.Status.DisruptedPods {
			disrupted[pod.of(name)] = at
		}
		b.Status.DisruptedPods = disrupted
	}
	out.Settings = out.Settings.RenameNodes(node.of)
	return v
}

// names maps names to others, one to one; what is not in it stays.
type names map[string]string

// swap gives each of list the name of another of them.
func swap(random *rand.Rand, list []string) names {
	slices.Sort(list)
	list = slices.Compact(list)
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

// inLabel renames the value of a label, if it is there.
func (n names) inLabel(labels map[string]string, label string) {
	if value, ok := labels[label]; ok {
		labels[label] = n.of(value)
	}
}

func renameAffinity(p *v1.Pod, node, namespace names) {
	for _, t := range properties.NodeTerms(p) {
		for _, list := range [][]v1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
			for i := range list {
				if r := &list[i]; r.Key == v1.LabelHostname || r.Key == metav1.ObjectNameField {
					r.Values = node.ofAll(r.Values)
				}
			}
		}
	}
	for _, t := range properties.PodTerms(p) {
		t.Namespaces = namespace.ofAll(t.Namespaces)
		if t.NamespaceSelector == nil {
			continue
		}
		namespace.inLabel(t.NamespaceSelector.MatchLabels, v1.LabelMetadataName)
		for i := range t.NamespaceSelector.MatchExpressions {
			if r := &t.NamespaceSelector.MatchExpressions[i]; r.Key == v1.LabelMetadataName {
				r.Values = namespace.ofAll(r.Values)
			}
		}
	}
}

// unused is a name that no node and no pod of any namespace has, and nothing in the
// cluster mentions.
func unused(c *model.Cluster, name string) string {
	used := map[string]bool{}
	for _, n := range c.Nodes {
		used[n.Name], used[n.Labels[v1.LabelHostname]] = true, true
	}
	for _, p := range append(slices.Clone(c.Pods), c.Preemptor) {
		used[p.Name], used[p.Spec.NodeName], used[p.Status.NominatedNodeName] = true, true, true
		for _, t := range properties.NodeTerms(p) {
			for _, r := range append(slices.Clone(t.MatchExpressions), t.MatchFields...) {
				for _, v := range r.Values {
					used[v] = true
				}
			}
		}
	}
	for _, b := range c.PodDisruptionBudgets {
		for disrupted := range b.Status.DisruptedPods {
			used[disrupted] = true
		}
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
