package model

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/unit"
)

// The feature gates of pod groups: with GateWorkload the members of a PodGroup are
// scheduled together (KEP-4671), and with GateComposite the groups of a CompositePodGroup
// are (KEP-6012), which needs GateTopology.
const (
	GateWorkload  = unit.GateWorkload
	GateComposite = unit.GateComposite
	GateTopology  = "TopologyAwareWorkloadScheduling"
)

// What the name of a pod group as a preemptor begins with: podgroup/NAMESPACE/NAME.
const (
	podGroup  = "podgroup/"
	composite = "compositepodgroup/"
)

// PodGroupKey names a PodGroup as Cluster.PreemptorGroup does.
func PodGroupKey(namespace, name string) string { return podGroup + namespace + "/" + name }

// CompositePodGroupKey names a CompositePodGroup as Cluster.PreemptorGroup does.
func CompositePodGroupKey(namespace, name string) string { return composite + namespace + "/" + name }

// IsGroupKey tells whether a name is that of a pod group, not that of a pod.
func IsGroupKey(key string) bool {
	return strings.Count(key, "/") == 2 && (strings.HasPrefix(key, podGroup) || strings.HasPrefix(key, composite))
}

// GroupTitle is the kind and the key of the group with a name: "PodGroup default/g".
func GroupTitle(key string) string {
	if name, ok := strings.CutPrefix(key, composite); ok {
		return "CompositePodGroup " + name
	}
	return "PodGroup " + strings.TrimPrefix(key, podGroup)
}

// PreemptorKey names what is scheduled: a pod as namespace/name, or PreemptorGroup; "" is
// nothing.
func (c *Cluster) PreemptorKey() string {
	if c.Preemptor != nil {
		return Key(c.Preemptor)
	}
	return c.PreemptorGroup
}

// PreemptorTitle is the kind and the key of what is scheduled: "Pod default/p".
func (c *Cluster) PreemptorTitle() string {
	if c.Preemptor != nil {
		return "Pod " + Key(c.Preemptor)
	}
	return GroupTitle(c.PreemptorGroup)
}

// RootOf names the group that a pod is scheduled with, whatever the gate GateWorkload: its
// PodGroup or, if the gate GateComposite is on, the topmost of the composite groups that hold it.
// It is "" if the pod is a member of no group, or if one of these objects is missing: then the pod
// waits for it (KEP-4671, KEP-6012).
func (c *Cluster) RootOf(p *v1.Pod) string {
	if p.Spec.SchedulingGroup == nil || p.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return c.rootOf(p.Namespace, PodGroupKey(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName))
}

// GroupsOf are the groups that a pod is scheduled with, from its PodGroup up to RootOf; nil if that is "".
func (c *Cluster) GroupsOf(p *v1.Pod) []string {
	if c.RootOf(p) == "" {
		return nil
	}
	return c.upFrom(p.Namespace, PodGroupKey(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName))
}

// rootOf is RootOf for the pods of a group.
func (c *Cluster) rootOf(namespace, key string) string {
	all := c.upFrom(namespace, key)
	if all == nil {
		return ""
	}
	return all[len(all)-1]
}

// upFrom are a group and those above it; nil if one of them is missing, or in a circle, which has no root.
func (c *Cluster) upFrom(namespace, key string) []string {
	parent, ok := c.parentOf(key)
	if !ok {
		return nil
	}
	all := []string{key}
	for parent != "" && c.Settings.FeatureGates[GateComposite] {
		if key = CompositePodGroupKey(namespace, parent); slices.Contains(all, key) {
			return nil
		}
		if parent, ok = c.parentOf(key); !ok {
			return nil
		}
		all = append(all, key)
	}
	return all
}

// parentOf is the name of the composite group that a group is in, "" if it is in none, and whether the group is
// there at all.
func (c *Cluster) parentOf(key string) (parent string, ok bool) {
	var name *string
	switch o := c.Group(key).(type) {
	case *schedulingv1beta1.PodGroup:
		name = o.Spec.ParentCompositePodGroupName
	case *schedulingv1alpha3.CompositePodGroup:
		name = o.Spec.ParentCompositePodGroupName
	default:
		return "", false
	}
	return ptr.Deref(name, ""), true
}

// Group is the object of the group with a name, or nil.
func (c *Cluster) Group(key string) metav1.Object {
	kind, rest, _ := strings.Cut(key, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *schedulingv1beta1.PodGroup:
			if o.Name == name && o.Namespace == namespace && kind+"/" == podGroup {
				return o
			}
		case *schedulingv1alpha3.CompositePodGroup:
			if o.Name == name && o.Namespace == namespace && kind+"/" == composite {
				return o
			}
		}
	}
	return nil
}

// Members are the pods that are scheduled with the group PreemptorGroup, in their order: those that
// are bound too.
func (c *Cluster) Members() (all []*v1.Pod) {
	for _, p := range c.Pods {
		if c.PreemptorGroup != "" && c.RootOf(p) == c.PreemptorGroup {
			all = append(all, p)
		}
	}
	return all
}

// GroupsOfPreemptor are PreemptorGroup and the groups that are scheduled with it, by their names.
func (c *Cluster) GroupsOfPreemptor() map[string]metav1.Object {
	all := map[string]metav1.Object{}
	for _, o := range c.Extra {
		group, ok := o.(metav1.Object)
		if key := KeyOfGroup(group); ok && key != "" && c.PreemptorGroup != "" && c.rootOf(group.GetNamespace(), key) == c.PreemptorGroup {
			all[key] = group
		}
	}
	return all
}

// IsGroup tells whether an object is a PodGroup or a CompositePodGroup.
func IsGroup(o runtime.Object) bool {
	group, ok := o.(metav1.Object)
	return ok && KeyOfGroup(group) != ""
}

// KeyOfGroup is the name of a PodGroup or a CompositePodGroup, as Cluster.PreemptorGroup; "" of other objects.
func KeyOfGroup(o metav1.Object) string {
	switch o := o.(type) {
	case *schedulingv1beta1.PodGroup:
		return PodGroupKey(o.Namespace, o.Name)
	case *schedulingv1alpha3.CompositePodGroup:
		return CompositePodGroupKey(o.Namespace, o.Name)
	}
	return ""
}

// UIDOfGroup is the UID of a PodGroup or a CompositePodGroup; one without a UID goes by its KeyOfGroup.
func UIDOfGroup(o metav1.Object) types.UID {
	return cmp.Or(o.GetUID(), types.UID(KeyOfGroup(o)))
}

// Preemptors are the pods whose cycle is asked about: Preemptor, or the members of PreemptorGroup
// that are not bound.
func (c *Cluster) Preemptors() []*v1.Pod {
	if c.Preemptor != nil {
		return []*v1.Pod{c.Preemptor}
	}
	return slices.DeleteFunc(c.Members(), func(p *v1.Pod) bool { return p.Spec.NodeName != "" })
}
