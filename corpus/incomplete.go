package corpus

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/preemptcheck/preemptcheck/model"
)

// storageKinds tells which of the kinds a dump holds at all without which nothing
// can be said about volumes. To leave one out is easy, and looks as if claims or
// volumes were gone, which the scheduler would have an answer to as well.
type storageKinds struct {
	claims           map[string]*v1.PersistentVolumeClaim
	volumes, classes bool
	csiNodes         bool
}

func (c *cluster) storageKinds() *storageKinds {
	s := &storageKinds{claims: map[string]*v1.PersistentVolumeClaim{}}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			s.claims[model.Key(o)] = o
		case *v1.PersistentVolume:
			s.volumes = true
		case *storagev1.StorageClass:
			s.classes = true
		case *storagev1.CSINode:
			s.csiNodes = true
		}
	}
	return s
}

// missing lists what a pod mounts and a dump does not tell about, as it holds no
// object of the kind. Every kubelet makes a CSINode; the claim of an ephemeral
// volume can be one that is not made yet.
func (s *storageKinds) missing(p *v1.Pod) model.Unmodelled {
	var missing model.Unmodelled
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := s.claims[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]
		kind := ""
		switch {
		case len(s.claims) == 0:
			kind = "PersistentVolumeClaims"
		case claim == nil:
		case claim.Spec.VolumeName != "" && !s.volumes:
			kind = "PersistentVolumes"
		case claim.Spec.VolumeName == "" && volume.GetPersistentVolumeClaimClass(claim) != "" && !s.classes:
			kind = "StorageClasses"
		case !s.csiNodes:
			kind = "CSINodes"
		}
		if kind != "" {
			missing = append(missing, model.UnmodelledField{Object: "Pod " + model.Key(p),
				Field: fmt.Sprintf("spec.volumes[%d].persistentVolumeClaim", i), Why: "the dump has no " + kind})
		}
	}
	return missing
}
