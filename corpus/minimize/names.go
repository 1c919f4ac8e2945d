package minimize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/naming"
)

// names gives objects and labels the names that a person would give: in the
// order in which the cluster lists them; if that does not do, in the order of
// the names they have, as names decide some ties.
func names(c *model.Cluster) []step {
	plainly := "p"
	if c.PreemptorGroup != "" {
		plainly = "g"
	}
	steps := []step{{c.PreemptorTitle() + ": the name " + plainly, func(c *model.Cluster) *model.Cluster {
		to := renaming{}
		to.set(preemptorOf(c), plainly)
		return renamed(c, to.of)
	}}, {"namespaces: all in one", func(c *model.Cluster) *model.Cluster { return moved(c, metav1.NamespaceDefault) }}}
	for _, byName := range []bool{false, true} {
		order := "in the order listed"
		if byName {
			order = "in the order of their names"
		}
		for _, r := range []struct {
			what   string
			rename func(to renaming, c *model.Cluster, byName bool)
		}{
			{"namespaces", renaming.namespaces},
			{"nodes", func(to renaming, c *model.Cluster, byName bool) { plain(to, c.Nodes, byName, numbered("node")) }},
			{"pods", func(to renaming, c *model.Cluster, byName bool) { plain(to, c.Pods, byName, letter) }},
			{"budgets", func(to renaming, c *model.Cluster, byName bool) {
				plain(to, c.PodDisruptionBudgets, byName, numbered("budget"))
			}},
			{"pod groups", renaming.groups},
			{"storage", renaming.storage},
		} {
			steps = append(steps, step{r.what + ": plain names " + order, func(c *model.Cluster) *model.Cluster {
				to := renaming{}
				r.rename(to, c, byName)
				return renamed(c, to.of)
			}})
		}
	}
	return append(steps,
		step{"extenders: plain names", extenderNames},
		step{"labels of pods: plain names", func(c *model.Cluster) *model.Cluster { return plainLabels(c, podLabels, "app", "tier") }},
		step{"labels of nodes: plain names", func(c *model.Cluster) *model.Cluster { return plainLabels(c, nodeLabels, "zone", "disk") }})
}

// preemptorOf is the pod, or the group, that is scheduled.
func preemptorOf(c *model.Cluster) metav1.Object {
	if c.Preemptor != nil {
		return c.Preemptor
	}
	return c.Group(c.PreemptorGroup)
}

// renaming holds new names, each by its kind and the key that it has now: see
// naming.Each.
type renaming map[[2]string]string

func (r renaming) of(kind, namespace, name string) string {
	return cmp.Or(r[[2]string{kind, namespace + "/" + name}], name)
}

// set gives an object a name, and with a pod the claims of its ephemeral volumes,
// which are called after it (component-helpers/storage/ephemeral/ephemeral.go:36@v0.37.1).
func (r renaming) set(o metav1.Object, name string) {
	key := o.GetNamespace() + "/" + o.GetName()
	r[[2]string{naming.KindOf(o), key}] = name
	if p, ok := o.(*v1.Pod); ok {
		for _, v := range p.Spec.Volumes {
			if v.Ephemeral != nil {
				r[[2]string{naming.Claim, key + "-" + v.Name}] = name + "-" + v.Name
			}
		}
	}
}

// plain gives objects plain names, unless theirs are plain already, in whatever
// order.
func plain[T metav1.Object](r renaming, list []T, byName bool, name func(i int) string) {
	var old, new []string
	for i, o := range list {
		old, new = append(old, o.GetName()), append(new, name(i))
	}
	if slices.Sort(old); slices.Equal(old, slices.Sorted(slices.Values(new))) {
		return
	}
	if byName {
		list = slices.SortedFunc(slices.Values(list), func(a, b T) int { return strings.Compare(model.Key(a), model.Key(b)) })
	}
	for i, o := range list {
		r.set(o, new[i])
	}
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
func (r renaming) namespaces(c *model.Cluster, byName bool) {
	var list []*v1.Namespace
	for _, o := range c.Objects() {
		if meta, ok := o.(metav1.Object); ok && meta.GetNamespace() != "" {
			namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: meta.GetNamespace()}}
			if !slices.ContainsFunc(list, func(o *v1.Namespace) bool { return o.Name == namespace.Name }) {
				list = append(list, namespace)
			}
		}
	}
	plain(r, list, byName, func(i int) string {
		if i == 0 {
			return metav1.NamespaceDefault
		}
		return fmt.Sprintf("other-%d", i)
	})
	for _, ns := range list {
		r[[2]string{naming.Within, "/" + ns.Name}] = r.of(naming.KindOf(ns), "", ns.Name)
	}
}

// groups gives pod groups, but the preemptor, plain names.
func (r renaming) groups(c *model.Cluster, byName bool) {
	lists := map[string][]metav1.Object{}
	for _, o := range c.Extra {
		if kind := naming.KindOf(o); kind == naming.PodGroup || kind == naming.CompositePodGroup {
			if meta := o.(metav1.Object); meta != preemptorOf(c) {
				lists[kind] = append(lists[kind], meta)
			}
		}
	}
	plain(r, lists[naming.PodGroup], byName, numbered("group"))
	plain(r, lists[naming.CompositePodGroup], byName, numbered("composite"))
}

// storage gives claims, volumes, storage classes, attachments and capacities
// plain names, and volumes plain handles. The claims of ephemeral volumes are
// called after their pods, and what is referred to and not there stays so.
func (r renaming) storage(c *model.Cluster, byName bool) {
	prefixes := map[string]string{naming.Claim: "claim", naming.Volume: "volume", naming.Class: "class", "VolumeAttachment": "attachment", "CSIStorageCapacity": "capacity"}
	ephemeral := renaming{}
	for _, p := range pods(c) {
		ephemeral.set(p, p.Name)
	}
	lists := map[string][]metav1.Object{}
	handles := 0
	for _, o := range c.Extra {
		prefix := prefixes[naming.KindOf(o)]
		if prefix == "" {
			continue
		}
		meta := o.(metav1.Object)
		if _, is := ephemeral[[2]string{naming.KindOf(o), model.Key(meta)}]; !is {
			lists[prefix] = append(lists[prefix], meta)
		}
		naming.Each(o, func(kind, _ string, name *string) {
			key := [2]string{naming.Handle, "/" + *name}
			if kind == naming.Handle && r[key] == "" {
				r[key] = numbered("handle")(handles)
				handles++
			}
		})
	}
	missing := missing(c)
	for prefix, list := range lists {
		plain(r, list, byName, except(missing, numbered(prefix)))
	}
}

// missing are the names of claims, volumes and classes that are referred to and
// not there.
func missing(c *model.Cluster) map[string]bool {
	names := map[string]bool{}
	for _, o := range c.Objects() {
		naming.Each(o, func(kind, _ string, name *string) {
			if kind == naming.Claim || kind == naming.Volume || kind == naming.Class {
				names[*name] = true
			}
		})
	}
	for _, o := range c.Extra {
		if meta, ok := o.(metav1.Object); ok {
			delete(names, meta.GetName())
		}
	}
	return names
}

// except numbers names past those that are taken.
func except(taken map[string]bool, name func(i int) string) func(i int) string {
	past := 0
	return func(i int) string {
		for taken[name(i+past)] {
			past++
		}
		return name(i + past)
	}
}

// moved moves everything to one namespace.
func moved(c *model.Cluster, namespace string) *model.Cluster {
	return renamed(c, func(kind, _, name string) string {
		if kind == naming.Within && name != "" {
			return namespace
		}
		return name
	})
}

// renamed gives everything in a cluster the name that to gives it, wherever it is
// mentioned.
func renamed(c *model.Cluster, to func(kind, namespace, name string) string) *model.Cluster {
	uids := map[string]string{} // of pods without one: a scheduler knows them by their names
	for _, p := range pods(c) {
		if p.UID == "" {
			uids[model.Key(p)] = to(naming.Within, "", p.Namespace) + "/" + to(naming.Pod, p.Namespace, p.Name)
		}
	}
	next := edit(c, func(_ int, o runtime.Object) (changed bool) {
		naming.Each(o, func(kind, namespace string, name *string) {
			new := to(kind, namespace, *name)
			if kind == naming.UID {
				new = cmp.Or(uids[*name], *name)
			}
			changed = changed || new != *name
			*name = new
		})
		return changed
	})
	if c.PreemptorGroup != "" {
		group := preemptorOf(c)
		namespace := to(naming.Within, "", group.GetNamespace())
		name := to(naming.KindOf(group), group.GetNamespace(), group.GetName())
		if next.PreemptorGroup = model.PodGroupKey(namespace, name); naming.KindOf(group) == naming.CompositePodGroup {
			next.PreemptorGroup = model.CompositePodGroupKey(namespace, name)
		}
	}
	next.Settings = c.Settings.RenameNodes(func(name string) string { return to(naming.Node, "", name) })
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
	for _, key := range slices.Sorted(maps.Keys(m)) {
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

// terms renames the labels that node affinity looks at.
func (r relabel) terms(terms []v1.NodeSelectorTerm) {
	for _, term := range terms {
		for i := range term.MatchExpressions {
			e := &term.MatchExpressions[i]
			r.values(&e.Key, string(e.Operator), e.Values)
		}
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
	case *v1.PersistentVolume:
		if o.Spec.NodeAffinity == nil || o.Spec.NodeAffinity.Required == nil {
			return false
		}
		r.terms(o.Spec.NodeAffinity.Required.NodeSelectorTerms)
	case *storagev1.StorageClass:
		for _, term := range o.AllowedTopologies {
			for i := range term.MatchLabelExpressions {
				e := &term.MatchLabelExpressions[i]
				r.values(&e.Key, "", e.Values)
			}
		}
		return len(o.AllowedTopologies) > 0
	case *storagev1.CSIStorageCapacity:
		r.selector(o.NodeTopology)
	default:
		return false
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

// wellKnown tells whether a label of nodes means something by its name.
func wellKnown(key string) bool {
	return slices.Contains([]string{v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion,
		v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}, key)
}
