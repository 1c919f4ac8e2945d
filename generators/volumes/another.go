package volumes

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// AnotherClaim gives the preemptor one claim more that waits for a volume, and a first one if it has
// none: of one class, so that they may want one volume, or of two. It is for clusters that are rendered.
func AnotherClaim(s draw.Source, c *model.Cluster) {
	classes, first := []string{"wait"}, ""
	waiting := waitingClaims(c)
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolume:
			if o.Spec.ClaimRef == nil && o.Spec.StorageClassName != "" {
				classes = append(classes, o.Spec.StorageClassName)
			}
		case *v1.PersistentVolumeClaim:
			if waiting[o] && first == "" && o.Spec.StorageClassName != nil {
				first = *o.Spec.StorageClassName
			}
		}
	}
	if len(waiting) == 0 {
		first = draw.Pick(s, classes...)
		addWaiting(s, c, "first", first)
	}
	second := draw.Pick(s, classes...)
	if s.Chance(50) {
		second = first
	}
	addWaiting(s, c, "second", second)
}

// addWaiting gives the preemptor a claim that waits for a volume.
func addWaiting(s draw.Source, c *model.Cluster, name, class string) {
	plan := claim{state: unboundClaim, class: max(0, slices.Index(classNames, class)), size: 1 + draw.Weighted(s, 60, 25, 15), mode: draw.Weighted(s, 80, 10, 10)}
	p := c.Preemptor
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	c.Extra = append(c.Extra, &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name, UID: types.UID(p.Namespace + "/" + name)},
		Spec:       claimSpec(&plan),
		Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
	})
}
