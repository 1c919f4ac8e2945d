package minimize

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// names gives objects and labels the names that a person would give: in the
// order in which the cluster lists them; if that does not do, in the order of
// the names they have, as names decide some ties.
func names(c *model.Cluster) []step {
	steps := []step{{"Pod " + model.Key(c.Preemptor) + ": the name p", func(c *model.Cluster) *model.Cluster {
		next := shallow(c)
		next.Preemptor = c.Preemptor.DeepCopy()
		next.Preemptor.Name = "p"
		return follow(c, next)
	}}, {"namespaces: all in one", func(c *model.Cluster) *model.Cluster {
		return follow(c, edit(c, func(_ int, o runtime.Object) bool {
			return inNamespace(o, func(string) string { return metav1.NamespaceDefault })
		}))
	}}}
	for _, byName := range []bool{false, true} {
		order := "in the order listed"
		if byName {
			order = "in the order of their names"
		}
		for _, r := range []struct {
			what   string
			rename func(c *model.Cluster, byName bool) *model.Cluster
		}{{"namespaces", namespaces}, {"nodes", nodeNames},
			{"pods", renamed(func(c *model.Cluster) []*v1.Pod { return c.Pods }, letter)},
			{"budgets", renamed(func(c *model.Cluster) []*policyv1.PodDisruptionBudget { return c.PodDisruptionBudgets }, numbered("budget"))},
			{"storage", storageNames}} {
			steps = append(steps, step{r.what + ": plain names " + order, func(c *model.Cluster) *model.Cluster { return r.rename(c, byName) }})
		}
	}
	return append(steps,
		step{"extenders: plain names", extenderNames},
		step{"labels of pods: plain names", func(c *model.Cluster) *model.Cluster { return plainLabels(c, podLabels, "app", "tier") }},
		step{"labels of nodes: plain names", func(c *model.Cluster) *model.Cluster { return plainLabels(c, nodeLabels, "zone", "disk") }})
}

// plain maps the keys of objects to plain names, or gives nil if their names are
// plain already, in whatever order.
func plain[T metav1.Object](list []T, byName bool, name func(i int) string) map[string]string {
	var keys, old, new []string
	for i, o := range list {
		keys, old, new = append(keys, model.Key(o)), append(old, o.GetName()), append(new, name(i))
	}
	if slices.Sort(old); slices.Equal(old, slices.Sorted(slices.Values(new))) {
		return nil
	}
	if byName {
		slices.Sort(keys)
	}
	to := map[string]string{}
	for i, key := range keys {
		to[key] = new[i]
	}
	return to
}

func numbered(prefix string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s-%d", prefix, i+1) }
}

// letter is a, b, c and so on without p, which is the preemptor; then pod-26.
func letter(i int) string {
	const all = "abcdefghijklmnoqrstuvwxyz"
	if i < len(all) {
		return all[i : i+1]
	}
	return fmt.Sprintf("pod-%d", i+1)
}

// namespaces: the first is "default".
func namespaces(c *model.Cluster, byName bool) *model.Cluster {
	var list []metav1.Object
	for _, o := range objects(c) {
		if meta, ok := o.(metav1.Object); ok && meta.GetNamespace() != "" {
			namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: meta.GetNamespace()}}
			if !slices.ContainsFunc(list, func(o metav1.Object) bool { return o.GetName() == namespace.Name }) {
				list = append(list, namespace)
			}
		}
	}
	to := plain(list, byName, func(i int) string {
		if i == 0 {
			return metav1.NamespaceDefault
		}
		return fmt.Sprintf("other-%d", i)
	})
	if to == nil {
		return nil
	}
	rename := func(namespace string) string { return cmp.Or(to["/"+namespace], namespace) }
	return follow(c, edit(c, func(_ int, o runtime.Object) bool {
		if ns, ok := o.(*v1.Namespace); ok {
			ns.Name = rename(ns.Name)
			if _, labelled := ns.Labels[v1.LabelMetadataName]; labelled {
				ns.Labels[v1.LabelMetadataName] = ns.Name
			}
			return true
		}
		return inNamespace(o, rename)
	}))
}

func nodeNames(c *model.Cluster, byName bool) *model.Cluster {
	to := plain(c.Nodes, byName, numbered("node"))
	if to == nil {
		return nil
	}
	rename := func(name string) string { return cmp.Or(to["/"+name], name) }
	hosts := relabel{key: func(key string) string { return key }, value: func(key, value string) string {
		if key == v1.LabelHostname {
			return rename(value)
		}
		return value
	}}
	next := edit(c, func(_ int, o runtime.Object) bool {
		labels := nodeLabels(o, hosts)
		switch o := o.(type) {
		case *v1.Node:
			o.Name = rename(o.Name)
		case *storagev1.CSINode:
			o.Name = rename(o.Name)
			for i := range o.Spec.Drivers {
				o.Spec.Drivers[i].NodeID = rename(o.Spec.Drivers[i].NodeID)
			}
		case *storagev1.VolumeAttachment:
			o.Spec.NodeName = rename(o.Spec.NodeName)
		case *v1.PersistentVolumeClaim:
			if name, selected := o.Annotations[selectedNode]; selected {
				o.Annotations[selectedNode] = rename(name)
			}
		case *v1.Pod:
			o.Spec.NodeName, o.Status.NominatedNodeName = rename(o.Spec.NodeName), rename(o.Status.NominatedNodeName)
			for _, term := range properties.NodeTerms(o) {
				for _, f := range term.MatchFields {
					for i := range f.Values {
						f.Values[i] = rename(f.Values[i])
					}
				}
			}
		default:
			return labels
		}
		return true
	})
	next.Settings = c.Settings.RenameNodes(rename)
	return next
}

// extenderNames: what extenders are called makes no difference.
func extenderNames(c *model.Cluster) *model.Cluster {
	next := shallow(c)
	next.Settings = c.Settings.DeepCopy()
	for i := range next.Settings.Extenders {
		next.Settings.Extenders[i].Name = numbered("extender")(i)
	}
	return next
}

// renamed gives the objects of a list plain names.
func renamed[T metav1.Object](list func(c *model.Cluster) []T, name func(i int) string) func(c *model.Cluster, byName bool) *model.Cluster {
	return func(c *model.Cluster, byName bool) *model.Cluster {
		to := plain(list(c), byName, name)
		if to == nil {
			return nil
		}
		return follow(c, edit(c, func(_ int, o runtime.Object) bool {
			named, ok := o.(T)
			if ok {
				named.SetName(cmp.Or(to[model.Key(named)], named.GetName()))
			}
			return ok
		}))
	}
}

// relabel renames keys and values of labels.
type relabel struct {
	key   func(key string) string
	value func(key, value string) string
}

func (r relabel) labels(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := map[string]string{}
	for _, key := range sortedKeys(m) {
		out[r.key(key)] = r.value(key, m[key])
	}
	return out
}

// values renames the key and the values of a requirement. Values that are
// compared as numbers stay.
func (r relabel) values(key *string, operator string, values []string) {
	for i := range values {
		if operator != string(v1.NodeSelectorOpGt) && operator != string(v1.NodeSelectorOpLt) {
			values[i] = r.value(*key, values[i])
		}
	}
	*key = r.key(*key)
}

// selector renames the labels that are selected.
func (r relabel) selector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	s.MatchLabels = r.labels(s.MatchLabels)
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		r.values(&e.Key, string(e.Operator), e.Values)
	}
}

// podLabels renames the labels of a pod, or those that it spreads by, or that its
// affinity or a budget selects.
func podLabels(o runtime.Object, r relabel) bool {
	switch o := o.(type) {
	case *v1.Pod:
		o.Labels = r.labels(o.Labels)
		for i := range o.Spec.TopologySpreadConstraints {
			c := &o.Spec.TopologySpreadConstraints[i]
			r.selector(c.LabelSelector)
			for j, key := range c.MatchLabelKeys {
				c.MatchLabelKeys[j] = r.key(key)
			}
		}
		for _, term := range properties.PodTerms(o) {
			r.selector(term.LabelSelector)
			for _, keys := range [][]string{term.MatchLabelKeys, term.MismatchLabelKeys} {
				for i := range keys {
					r.values(&keys[i], "", nil)
				}
			}
		}
	case *policyv1.PodDisruptionBudget:
		r.selector(o.Spec.Selector)
	default:
		return false
	}
	return true
}

// nodeLabels renames the labels of a node, or those that a pod selects or spreads
// over, or that tell where storage can be reached.
func nodeLabels(o runtime.Object, r relabel) bool {
	switch o := o.(type) {
	case *v1.Node:
		o.Labels = r.labels(o.Labels)
	case *v1.Pod:
		o.Spec.NodeSelector = r.labels(o.Spec.NodeSelector)
		for i := range o.Spec.TopologySpreadConstraints {
			c := &o.Spec.TopologySpreadConstraints[i]
			c.TopologyKey = r.key(c.TopologyKey)
		}
		for _, term := range properties.PodTerms(o) {
			r.values(&term.TopologyKey, "", nil)
		}
		for _, term := range properties.NodeTerms(o) {
			r.terms([]v1.NodeSelectorTerm{*term})
		}
	default:
		return storageNodes(o, r)
	}
	return true
}

// plainLabels calls the keys by the names given, then label-3 and so on, and the
// values of each key a, b, c in the order in which they come.
func plainLabels(c *model.Cluster, rename func(runtime.Object, relabel) bool, first ...string) *model.Cluster {
	var old, new []string
	values := map[string]map[string]string{}
	edit(c, func(_ int, o runtime.Object) bool {
		rename(o, relabel{func(key string) string {
			if !wellKnown(key) && !slices.Contains(old, key) {
				old = append(old, key)
			}
			return key
		}, func(key, value string) string {
			if values[key] == nil {
				values[key] = map[string]string{}
			}
			if !wellKnown(key) && value != "" && values[key][value] == "" {
				values[key][value] = letter(len(values[key]))
			}
			return value
		}})
		return false
	})
	for i := range old {
		if i < len(first) {
			new = append(new, first[i])
		} else {
			new = append(new, fmt.Sprintf("label-%d", i+1))
		}
	}
	if slices.Equal(slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(new))) {
		new = old
	}
	return edit(c, func(_ int, o runtime.Object) bool {
		return rename(o, relabel{func(key string) string {
			if i := slices.Index(old, key); i >= 0 {
				return new[i]
			}
			return key
		}, func(key, value string) string {
			return cmp.Or(values[key][value], value)
		}})
	})
}
