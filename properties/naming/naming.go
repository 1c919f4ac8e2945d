// Package naming finds the names of objects wherever a cluster mentions them, to
// rename them.
package naming

import (
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/properties"
)

// selectedNode is the annotation of a claim with the node that its volume is made
// for (component-helpers/storage/volume/pv_helpers.go:51@v0.37.1).
const selectedNode = "volume.kubernetes.io/selected-node"

// Kinds of names: those of objects that others refer to, the UIDs of pods, namespaces
// that something is in, and the handles of volumes.
const (
	Pod       = "Pod"
	UID       = "UID"
	Node      = "Node"
	Claim     = "PersistentVolumeClaim"
	Volume    = "PersistentVolume"
	Class     = "StorageClass"
	Budget    = "PodDisruptionBudget"
	Namespace = "Namespace"
	Within    = "within"
	Handle    = "handle"

	PodGroup          = "PodGroup"
	CompositePodGroup = "CompositePodGroup"
)

// KindOf is the kind of an object.
func KindOf(o any) string { return reflect.TypeOf(o).Elem().Name() }

// Each calls visit with each name that there is in an object: its own, and
// those by which it refers to others, with the namespaces that these are in. visit
// may write another name to where it is, if the object is a copy.
func Each(o runtime.Object, visit func(kind, namespace string, name *string)) {
	meta, ok := o.(metav1.Object)
	if !ok {
		return
	}
	namespace := meta.GetNamespace()
	of := func(kind string, name *string) {
		if name != nil {
			visit(kind, "", name)
		}
	}
	in := func(m map[string]string, key, kind string) {
		if name, set := m[key]; set {
			if of(kind, &name); name != m[key] {
				m[key] = name
			}
		}
	}
	all := func(names []string, kind string) {
		for i := range names {
			of(kind, &names[i])
		}
	}
	selected := func(s *metav1.LabelSelector, key, kind string) {
		if s == nil {
			return
		}
		in(s.MatchLabels, key, kind)
		for _, r := range s.MatchExpressions {
			if r.Key == key {
				all(r.Values, kind)
			}
		}
	}
	required := func(term *v1.NodeSelectorTerm) {
		for _, r := range slices.Concat(term.MatchFields, term.MatchExpressions) {
			if r.Key == metav1.ObjectNameField || r.Key == v1.LabelHostname {
				all(r.Values, Node)
			}
		}
	}
	name, moved := meta.GetName(), namespace
	if visit(KindOf(o), namespace, &name); name != meta.GetName() {
		meta.SetName(name)
	}
	if of(Within, &moved); moved != namespace {
		meta.SetNamespace(moved)
	}
	switch o := o.(type) {
	case *v1.Namespace:
		in(o.Labels, v1.LabelMetadataName, KindOf(o))
	case *v1.Node:
		in(o.Labels, v1.LabelHostname, Node)
	case *policyv1.PodDisruptionBudget:
		disrupted, renamed := map[string]metav1.Time{}, false
		for was, at := range o.Status.DisruptedPods {
			name := was
			visit(Pod, namespace, &name)
			disrupted[name], renamed = at, renamed || name != was
		}
		if renamed {
			o.Status.DisruptedPods = disrupted
		}
	case *v1.Pod:
		of(Node, &o.Spec.NodeName)
		of(Node, &o.Status.NominatedNodeName)
		in(o.Spec.NodeSelector, v1.LabelHostname, Node)
		for _, term := range properties.NodeTerms(o) {
			required(term)
		}
		for _, term := range properties.PodTerms(o) {
			all(term.Namespaces, Within)
			selected(term.NamespaceSelector, v1.LabelMetadataName, Within)
		}
		for i := range o.Spec.Volumes {
			v := &o.Spec.Volumes[i]
			if v.PersistentVolumeClaim != nil {
				visit(Claim, namespace, &v.PersistentVolumeClaim.ClaimName)
			}
			if v.AWSElasticBlockStore != nil {
				of(Handle, &v.AWSElasticBlockStore.VolumeID)
			}
			if v.Cinder != nil {
				of(Handle, &v.Cinder.VolumeID)
			}
			if v.Ephemeral != nil {
				called := o.Name + "-" + v.Name // which follows from the names
				visit(Claim, namespace, &called)
				if v.Ephemeral.VolumeClaimTemplate != nil {
					of(Class, v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
				}
			}
		}
		if o.Spec.SchedulingGroup != nil && o.Spec.SchedulingGroup.PodGroupName != nil {
			visit(PodGroup, namespace, o.Spec.SchedulingGroup.PodGroupName)
		}
	case *schedulingv1beta1.PodGroup:
		if o.Spec.ParentCompositePodGroupName != nil {
			visit(CompositePodGroup, namespace, o.Spec.ParentCompositePodGroupName)
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if o.Spec.ParentCompositePodGroupName != nil {
			visit(CompositePodGroup, namespace, o.Spec.ParentCompositePodGroupName)
		}
	case *v1.PersistentVolumeClaim:
		for i := range o.OwnerReferences {
			visit(Pod, namespace, &o.OwnerReferences[i].Name)
			of(UID, (*string)(&o.OwnerReferences[i].UID))
		}
		of(Volume, &o.Spec.VolumeName)
		of(Class, o.Spec.StorageClassName)
		in(o.Annotations, v1.BetaStorageClassAnnotation, Class)
		in(o.Annotations, selectedNode, Node)
	case *v1.PersistentVolume:
		of(Class, &o.Spec.StorageClassName)
		if ref := o.Spec.ClaimRef; ref != nil {
			visit(Claim, ref.Namespace, &ref.Name)
			of(Within, &ref.Namespace)
		}
		if a := o.Spec.NodeAffinity; a != nil && a.Required != nil {
			for i := range a.Required.NodeSelectorTerms {
				required(&a.Required.NodeSelectorTerms[i])
			}
		}
		switch source := &o.Spec.PersistentVolumeSource; {
		case source.CSI != nil && !strings.HasPrefix(source.CSI.VolumeHandle, "projects/"): // of a GCE disk, which keeps its name
			of(Handle, &source.CSI.VolumeHandle)
		case source.AWSElasticBlockStore != nil:
			of(Handle, &source.AWSElasticBlockStore.VolumeID)
		case source.Cinder != nil:
			of(Handle, &source.Cinder.VolumeID)
		}
	case *storagev1.CSINode:
		of(Node, &o.Name)
		for i := range o.Spec.Drivers {
			of(Node, &o.Spec.Drivers[i].NodeID)
		}
	case *storagev1.VolumeAttachment:
		of(Node, &o.Spec.NodeName)
		of(Volume, o.Spec.Source.PersistentVolumeName)
	case *storagev1.StorageClass:
		for _, term := range o.AllowedTopologies {
			for _, r := range term.MatchLabelExpressions {
				if r.Key == v1.LabelHostname {
					all(r.Values, Node)
				}
			}
		}
	case *storagev1.CSIStorageCapacity:
		selected(o.NodeTopology, v1.LabelHostname, Node)
		of(Class, &o.StorageClassName)
	}
}
