package mk

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// Driver is the CSI driver of all volumes.
const Driver = "disk.example.com"

// Claim is a claim of 1Gi that is bound to the volume of its name.
func Claim(name string, change ...func(*v1.PersistentVolumeClaim)) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{volume.AnnBindCompleted: "yes"}}}
	c.Spec = v1.PersistentVolumeClaimSpec{VolumeName: name, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}}
	c.Spec.Resources.Requests = Resources("storage", "1Gi")
	for _, f := range change {
		f(c)
	}
	return c
}

// Unbound has the claim ask for a class, and not be bound.
func Unbound(class string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		c.Annotations, c.Spec.VolumeName, c.Spec.StorageClassName = map[string]string{}, "", &class
	}
}

// ForOnePod makes the claim ReadWriteOncePod.
func ForOnePod(c *v1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
}

// OwnedBy makes the claim that of an ephemeral volume of Pod.
func OwnedBy(pod string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		yes := true
		c.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: pod, UID: filter.PodUID(Pod(pod, 0)), Controller: &yes}}
	}
}

// Volume is a volume of Driver, of 1Gi.
func Volume(name string, change ...func(*v1.PersistentVolume)) *v1.PersistentVolume {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pv.Spec = v1.PersistentVolumeSpec{Capacity: Resources("storage", "1Gi"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}}
	pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: name}
	pv.Status.Phase = v1.VolumeAvailable
	for _, f := range change {
		f(pv)
	}
	return pv
}

// ReachedFrom: just nodes with that label reach the volume.
func ReachedFrom(key, value string) func(*v1.PersistentVolume) {
	return func(pv *v1.PersistentVolume) {
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}}}}
	}
}

// OfClass gives the volume a class.
func OfClass(name string) func(*v1.PersistentVolume) {
	return func(pv *v1.PersistentVolume) { pv.Spec.StorageClassName = name }
}

// Class is a storage class.
func Class(name, provisioner string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

// CSINode says how many volumes of Driver the node attaches; any number if count
// is negative.
func CSINode(node string, count int32) *storagev1.CSINode {
	d := storagev1.CSINodeDriver{Name: Driver, NodeID: node}
	if count >= 0 {
		d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
	}
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d}}}
}

// Attachment attaches a volume to a node.
func Attachment(volume, node string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume + "-" + node},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: Driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}}
}

// Mounts adds volumes of the claims to the pod.
func Mounts(claims ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, c := range claims {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: c, VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: c}}})
		}
	}
}

// MountsOwn adds an ephemeral volume to the pod.
func MountsOwn(name string) func(*v1.Pod) {
	return MountsSource(name, v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}})
}

// MountsSource adds a volume to the pod.
func MountsSource(name string, source v1.VolumeSource) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: source})
	}
}
