package relation

import (
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	c := s.Cluster
	if volume.Mounts(c.Preemptor) || hasClaims(c.Preemptor) {
		return nil // claims, volumes and what else names these and nodes would have to follow
	}
	var nodes, pods, budgets []string
	namespaces := []string{"renamed", c.Preemptor.Namespace}
	for _, n := range c.Nodes {
		nodes = append(nodes, n.Name)
	}
	for _, p := range append(slices.Clone(c.Pods), c.Preemptor) {
		pods, namespaces = append(pods, p.Name), append(namespaces, p.Namespace)
	}
	for _, b := range c.PodDisruptionBudgets {
		budgets, namespaces = append(budgets, b.Name), append(namespaces, b.Namespace)
	}
	for _, o := range c.Extra {
		if ns, ok := o.(*v1.Namespace); ok {
			namespaces = append(namespaces, ns.Name)
		}
	}
	node, pod, budget, namespace := swap(random, nodes), swap(random, pods), swap(random, budgets), swap(random, namespaces)

	out := withPods(c, func(p *v1.Pod) {
		p.Name, p.Namespace, p.UID = pod.of(p.Name), namespace.of(p.Namespace), ""
		p.Spec.NodeName, p.Status.NominatedNodeName = node.of(p.Spec.NodeName), node.of(p.Status.NominatedNodeName)
		p.Spec.NodeSelector = node.inLabels(p.Spec.NodeSelector)
		renameAffinity(p, node, namespace)
	})
	out.Extra = slices.Clone(c.Extra)
	for i, o := range c.Extra {
		if ns, ok := o.(*v1.Namespace); ok {
			renamed := ns.DeepCopy()
			renamed.Name = namespace.of(ns.Name)
			if name, ok := ns.Labels[v1.LabelMetadataName]; ok {
				renamed.Labels[v1.LabelMetadataName] = namespace.of(name)
			}
			out.Extra[i] = renamed
		}
	}
	out.Nodes = make([]*v1.Node, len(c.Nodes))
	for i, n := range c.Nodes {
		renamed := *n
		renamed.Name, renamed.Labels = node.of(n.Name), node.inLabels(n.Labels)
		out.Nodes[i] = &renamed
	}
	out.PodDisruptionBudgets = make([]*policyv1.PodDisruptionBudget, len(c.PodDisruptionBudgets))
	for i, b := range c.PodDisruptionBudgets {
		renamed := *b
		renamed.Name, renamed.Namespace = budget.of(b.Name), namespace.of(b.Namespace)
		renamed.Status.DisruptedPods = nil
		for name, at := range b.Status.DisruptedPods {
			if renamed.Status.DisruptedPods == nil {
				renamed.Status.DisruptedPods = map[string]metav1.Time{}
			}
			renamed.Status.DisruptedPods[pod.of(name)] = at
		}
		out.PodDisruptionBudgets[i] = &renamed
	}
	out.Settings = out.Settings.RenameNodes(node.of)
	nodeBack, podBack, namespaceBack := node.inverse(), pod.inverse(), namespace.inverse()
	return &variation{
		cluster: out,
		node:    nodeBack.of,
		pod: func(key string) string {
			ns, name, _ := strings.Cut(key, "/")
			return namespaceBack.of(ns) + "/" + podBack.of(name)
		},
	}
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

func (n names) inverse() names {
	out := names{}
	for from, to := range n {
		out[to] = from
	}
	return out
}

// inLabels renames the value of the label that holds a node's name.
func (n names) inLabels(labels map[string]string) map[string]string {
	value, ok := labels[v1.LabelHostname]
	if !ok {
		return labels
	}
	out := map[string]string{}
	for k, v := range labels {
		out[k] = v
	}
	out[v1.LabelHostname] = n.of(value)
	return out
}

func renameAffinity(p *v1.Pod, node, namespace names) {
	if p.Spec.Affinity == nil {
		return
	}
	p.Spec.Affinity = p.Spec.Affinity.DeepCopy()
	for _, t := range properties.NodeTerms(p) {
		for _, list := range [][]v1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
			for i := range list {
				if r := &list[i]; r.Key == v1.LabelHostname || r.Key == metav1.ObjectNameField {
					for j := range r.Values {
						r.Values[j] = node.of(r.Values[j])
					}
				}
			}
		}
	}
	for _, t := range properties.PodTerms(p) {
		for i := range t.Namespaces {
			t.Namespaces[i] = namespace.of(t.Namespaces[i])
		}
		if t.NamespaceSelector == nil {
			continue
		}
		if name, ok := t.NamespaceSelector.MatchLabels[v1.LabelMetadataName]; ok {
			t.NamespaceSelector.MatchLabels[v1.LabelMetadataName] = namespace.of(name)
		}
		for _, r := range t.NamespaceSelector.MatchExpressions {
			for i := range r.Values {
				if r.Key == v1.LabelMetadataName {
					r.Values[i] = namespace.of(r.Values[i])
				}
			}
		}
	}
}

// unusedNode is a node name that nothing in the cluster mentions.
func unusedNode(c *model.Cluster, name string) string {
	used := map[string]bool{}
	for _, n := range c.Nodes {
		used[n.Name], used[n.Labels[v1.LabelHostname]] = true, true
	}
	for _, p := range append(slices.Clone(c.Pods), c.Preemptor) {
		used[p.Spec.NodeName], used[p.Status.NominatedNodeName] = true, true
		for _, t := range properties.NodeTerms(p) {
			for _, r := range append(slices.Clone(t.MatchExpressions), t.MatchFields...) {
				for _, v := range r.Values {
					used[v] = true
				}
			}
		}
	}
	for used[name] {
		name += "-x"
	}
	return name
}

// unusedPod is a name that no pod has in any namespace, and no budget mentions.
func unusedPod(c *model.Cluster, name string) string {
	used := map[string]bool{c.Preemptor.Name: true}
	for _, p := range c.Pods {
		used[p.Name] = true
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
