package minimize

import (
	v1 "k8s.io/api/core/v1"
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
	pod    = "Pod"
	uid    = "UID"
	node   = "Node"
	claim  = "PersistentVolumeClaim"
	volume = "PersistentVolume"
	class  = "StorageClass"
	within = "within"
	handle = "handle"
)

// mentions calls visit with each name that there is in an object: its own, and
// those by which it refers to others, with the namespaces that these are in. visit
// may write another name to where it is, if the object is a copy.
func mentions(o runtime.Object, visit func(kind, namespace string, name *string)) {
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
		name, set := m[key]
		if of(kind, &name); set && name != m[key] {
			m[key] = name
		}
	}
	name, moved := meta.GetName(), namespace
	if visit(kindOf(o), namespace, &name); name != meta.GetName() {
		meta.SetName(name)
	}
	if of(within, &moved); moved != namespace {
		meta.SetNamespace(moved)
	}
	switch o := o.(type) {
	case *v1.Namespace:
		in(o.Labels, v1.LabelMetadataName, kindOf(o))
	case *v1.Pod:
		of(node, &o.Spec.NodeName)
		of(node, &o.Status.NominatedNodeName)
		for _, term := range properties.NodeTerms(o) {
			for _, f := range term.MatchFields {
				for i := range f.Values {
					of(node, &f.Values[i])
				}
			}
		}
		for _, term := range properties.PodTerms(o) {
			for i := range term.Namespaces {
				of(within, &term.Namespaces[i])
			}
		}
		for i := range o.Spec.Volumes {
			v := &o.Spec.Volumes[i]
			if v.PersistentVolumeClaim != nil {
				visit(claim, namespace, &v.PersistentVolumeClaim.ClaimName)
			}
			if v.Ephemeral != nil {
				called := o.Name + "-" + v.Name // which follows from the names
				visit(claim, namespace, &called)
				if v.Ephemeral.VolumeClaimTemplate != nil {
					of(class, v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
				}
			}
		}
	case *v1.PersistentVolumeClaim:
		for i := range o.OwnerReferences {
			visit(pod, namespace, &o.OwnerReferences[i].Name)
			of(uid, (*string)(&o.OwnerReferences[i].UID))
		}
		of(volume, &o.Spec.VolumeName)
		of(class, o.Spec.StorageClassName)
		in(o.Annotations, v1.BetaStorageClassAnnotation, class)
		in(o.Annotations, selectedNode, node)
	case *v1.PersistentVolume:
		of(class, &o.Spec.StorageClassName)
		if ref := o.Spec.ClaimRef; ref != nil {
			visit(claim, ref.Namespace, &ref.Name)
			of(within, &ref.Namespace)
		}
		if o.Spec.CSI != nil {
			of(handle, &o.Spec.CSI.VolumeHandle)
		}
	case *storagev1.CSINode:
		of(node, &o.Name)
		for i := range o.Spec.Drivers {
			of(node, &o.Spec.Drivers[i].NodeID)
		}
	case *storagev1.VolumeAttachment:
		of(node, &o.Spec.NodeName)
		of(volume, o.Spec.Source.PersistentVolumeName)
	case *storagev1.CSIStorageCapacity:
		of(class, &o.StorageClassName)
	}
}
