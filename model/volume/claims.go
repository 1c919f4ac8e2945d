package volume

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// The annotations that say how far a claim has come (docs:
// reference/labels-annotations-taints; storage/volume/pv_helpers.go:39@v0.37.1).
const (
	AnnBindCompleted = "pv.kubernetes.io/bind-completed"
	AnnSelectedNode  = "volume.kubernetes.io/selected-node"
)

// Claim is the claim behind a volume of a pod.
type Claim struct {
	Key       string                    // namespace/name
	Ephemeral bool                      // it was made for the pod
	PVC       *v1.PersistentVolumeClaim // nil if it does not exist
	PV        *v1.PersistentVolume      // of which PVC names itself; nil if it does not exist
	Class     *storagev1.StorageClass   // nil if it does not exist
	Owned     bool                      // the pod may use it
	Volumes   int                       // so many volumes of the pod are of it
}

// ClaimsOf are the claims behind a pod's volumes: those it names, and those made
// for its ephemeral volumes, which are named after pod and volume and belong to
// the pod (KEP-1698; docs: concepts/storage/ephemeral-volumes). Several volumes
// may be of one claim, which has one volume all the same (API reference,
// PersistentVolumeClaimVolumeSource; CHANGELOG-1.35, kubernetes#122140).
func (x *Index) ClaimsOf(p *v1.Pod) []Claim {
	var claims []Claim
	for i := range p.Spec.Volumes {
		c := Claim{Volumes: 1}
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			c.Key = p.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			c.Key, c.Ephemeral = p.Namespace+"/"+p.Name+"-"+v.Name, true
		default:
			continue
		}
		if c.PVC = x.Claims[c.Key]; c.PVC != nil {
			c.PV, c.Class = x.Volumes[c.PVC.Spec.VolumeName], x.Classes[classOf(c.PVC)]
		}
		c.Owned = !c.Ephemeral || c.PVC != nil && filter.Controls(p, c.PVC)
		if j := slices.IndexFunc(claims, func(other Claim) bool { return other.Key == c.Key }); j >= 0 {
			before := &claims[j]
			before.Ephemeral, before.Owned, before.Volumes = before.Ephemeral || c.Ephemeral, before.Owned && c.Owned, before.Volumes+1
			continue
		}
		claims = append(claims, c)
	}
	return claims
}

// Unusable says why the pod has to wait for the claim, wherever; "" if it need not.
func (c *Claim) Unusable() string {
	switch {
	case c.PVC == nil:
		return c.named("not found")
	case c.PVC.Status.Phase == v1.ClaimLost:
		return c.named("has lost its volume")
	case c.PVC.DeletionTimestamp != nil:
		return c.named("is being deleted")
	case !c.Owned:
		return c.named("was not made for the pod")
	}
	return ""
}

func (c *Claim) named(what string) string { return "persistentvolumeclaim \"" + c.Key + "\" " + what }

// Bound tells whether both sides of the binding are written.
func (c *Claim) Bound() bool {
	if c.PVC == nil {
		return false
	}
	_, completed := c.PVC.Annotations[AnnBindCompleted]
	return c.PVC.Spec.VolumeName != "" && completed
}

// Waits tells whether the scheduler is to bind the claim, once there is a pod for
// it (docs: storage-classes, "Volume binding mode").
func (c *Claim) Waits() bool {
	return c.PVC != nil && c.PVC.Spec.VolumeName == "" && c.Class != nil &&
		ptr.Deref(c.Class.VolumeBindingMode, "") == storagev1.VolumeBindingWaitForFirstConsumer
}

// size is the storage that the claim requests.
func (c *Claim) size() *resource.Quantity {
	size := c.PVC.Spec.Resources.Requests[v1.ResourceStorage]
	return &size
}

// Immediate tells whether the claim ought to be bound before any pod uses it, and
// is not.
func (c *Claim) Immediate() bool { return c.PVC != nil && !c.Bound() && !c.Waits() }

// classOf is the class that a claim asks for: the annotation from before there
// was a field takes precedence (API reference, PersistentVolumeClaimSpec;
// storage/volume/helpers.go:43@v0.37.1).
func classOf(claim *v1.PersistentVolumeClaim) string {
	return annotatedClass(claim.Annotations, ptr.Deref(claim.Spec.StorageClassName, ""))
}

func annotatedClass(annotations map[string]string, field string) string {
	if class, ok := annotations[v1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return field
}

// Provisioned tells whether a volume is made for the claim where there is none: its class has a provisioner.
func (c *Claim) Provisioned() bool {
	return c.Class != nil && c.Class.Provisioner != "" && c.Class.Provisioner != noProvisioner
}
