package mutant

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// Short names of what is misread.
type (
	pvc = *v1.PersistentVolumeClaim
	pv  = *v1.PersistentVolume
)

// usersElsewhereIgnored: a ReadWriteOncePod claim may be in use on another node.
func usersElsewhereIgnored(p filter.Plugin) filter.Plugin {
	return variant.Rejudge(func(st filter.State, _ *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
		restrictions, ok := filter.As[*volume.RestrictionsState](st)
		if !ok || slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool {
			return restrictions.Disk[p.Index] || len(restrictions.Uses[p.Index]) > 0
		}) {
			return failed
		}
		return nil
	})(p)
}

// sharedVolumesCountEach: a volume counts for each pod that mounts it.
func sharedVolumesCountEach(p filter.Plugin) filter.Plugin {
	return variant.Rejudge(func(st filter.State, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
		limits, ok := filter.As[*volume.LimitsState](st)
		if !ok || failed != nil {
			return failed
		}
		for _, l := range limits.Limits[n.Index] {
			inUse := limits.InUse(n, v, l.Driver)
			ofDriver := func(w volume.CSIVolume) bool { return w.Driver == l.Driver }
			more, mounts, mounted := 0, 0, map[volume.CSIVolume]bool{}
			for _, w := range limits.Wanted {
				if ofDriver(w) && !inUse[w] {
					more++
				}
			}
			for _, p := range v.Pods {
				for _, w := range limits.Mounted[p.Index] {
					if ofDriver(w) {
						mounts++
						mounted[w] = true
					}
				}
			}
			if more > 0 && len(inUse)-len(mounted)+mounts+more > l.Count {
				return volume.TooManyVolumes()
			}
		}
		return nil
	})(p)
}

// attachedVolumesUncounted: what is attached does not count if no pod mounts it.
func attachedVolumesUncounted(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(a *storagev1.VolumeAttachment) { a.Spec.Attacher = "" })(p)
}

// pendingVolumesUncounted: the preemptor's volumes that are to be provisioned do not
// count.
func pendingVolumesUncounted(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if limits, ok := filter.As[*volume.LimitsState](st); ok {
			limits.Wanted = slices.DeleteFunc(limits.Wanted, func(w volume.CSIVolume) bool { return w.Pending })
		}
		return st, a
	})(p)
}

// missingDriversIgnored: no driver has to be on a node.
func missingDriversIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil })(p)
}

// lostClaimsAreGood: a claim that has lost its volume will do.
func lostClaimsAreGood(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c pvc) { c.Status.Phase = v1.ClaimBound })(p)
}

// deletedClaimsAreGood: a claim that is being deleted will do.
func deletedClaimsAreGood(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c pvc) { c.DeletionTimestamp = nil })(p)
}

// foreignClaimsAreGood: an ephemeral volume may have a claim of another pod.
func foreignClaimsAreGood(p filter.Plugin) filter.Plugin {
	return variant.Misread(func(s *filter.Snapshot) {
		controller := true
		for i, o := range s.Objects {
			if c, ok := o.(pvc); ok {
				c = c.DeepCopy()
				c.OwnerReferences = []metav1.OwnerReference{{UID: filter.PodUID(s.Preemptor.Pod), Controller: &controller}}
				s.Objects[i] = c
			}
		}
	})(p)
}

// immediateClaimsNeedNotBeBound: a claim that does not wait for a pod need not be
// bound.
func immediateClaimsNeedNotBeBound(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		binding, ok := filter.As[*volume.BindingState](st)
		if ok && !slices.ContainsFunc(binding.Claims, func(c volume.Claim) bool { return c.Unusable() != "" }) {
			a.Rejection = nil
		}
		return st, a
	})(p)
}

// volumeAffinityIgnored: a volume is reached from everywhere.
func volumeAffinityIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(v pv) { v.Spec.NodeAffinity = nil })(p)
}

// selectedNodeIgnored: a claim for which a node was selected may go anywhere.
func selectedNodeIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c pvc) { delete(c.Annotations, volume.AnnSelectedNode) })(p)
}

// claimSelectorIgnored: a claim takes volumes that it does not select.
func claimSelectorIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c pvc) { c.Spec.Selector = nil })(p)
}

// accessModesIgnored: a claim takes volumes without its access modes.
func accessModesIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c pvc) { c.Spec.AccessModes = nil })(p)
}

// volumesInUseTaken: a claim takes volumes that are not available.
func volumesInUseTaken(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(v pv) { v.Status.Phase = v1.VolumeAvailable })(p)
}

// volumeModeIgnored: a claim takes volumes of the other mode.
func volumeModeIgnored(p filter.Plugin) filter.Plugin {
	p = variant.MisreadObjects(func(c pvc) { c.Spec.VolumeMode = nil })(p)
	return variant.MisreadObjects(func(v pv) { v.Spec.VolumeMode = nil })(p)
}

// volumeCapacityIgnored: a claim takes volumes that are too small: all are seen
// larger than they are.
func volumeCapacityIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(v pv) {
		has := v.Spec.Capacity[v1.ResourceStorage]
		has.Add(resource.MustParse("1Ei"))
		if v.Spec.Capacity == nil {
			v.Spec.Capacity = v1.ResourceList{}
		}
		v.Spec.Capacity[v1.ResourceStorage] = has
	})(p)
}

// oneVolumeForTwoClaims: two claims take the same volume: each that is promised to
// nobody is seen twice.
func oneVolumeForTwoClaims(p filter.Plugin) filter.Plugin {
	return variant.Misread(func(s *filter.Snapshot) {
		for _, o := range s.Objects {
			if v, ok := o.(pv); ok && v.Spec.ClaimRef == nil {
				v = v.DeepCopy()
				v.Name += " again"
				s.Objects = append(s.Objects, v)
			}
		}
	})(p)
}

// allowedTopologiesIgnored: volumes are provisioned everywhere.
func allowedTopologiesIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c *storagev1.StorageClass) { c.AllowedTopologies = nil })(p)
}

// storageCapacityIgnored: volumes are provisioned where no room is left.
func storageCapacityIgnored(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(d *storagev1.CSIDriver) { d.Spec.StorageCapacity = nil })(p)
}

// zoneLabelsNotRenamed: a node needs the zone labels that have been renamed. Where
// it has only others, it is seen to be in no zone.
func zoneLabelsNotRenamed(p filter.Plugin) filter.Plugin {
	old := []string{v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}
	return variant.MisreadNodes(func(n *v1.Node) {
		labelled := func(key string) bool { _, has := n.Labels[key]; return has }
		if !slices.ContainsFunc(append([]string{v1.LabelTopologyZone, v1.LabelTopologyRegion}, old...), labelled) {
			return
		}
		for _, key := range old {
			if !labelled(key) {
				n.Labels[key] = "?"
			}
		}
	})(p)
}

// misreadVolumes sees other volumes of pods.
func misreadVolumes(p filter.Plugin, change func(v *v1.Volume)) filter.Plugin {
	return variant.MisreadPods(func(p *v1.Pod) {
		p.Spec.Volumes = slices.Clone(p.Spec.Volumes)
		for i := range p.Spec.Volumes {
			change(&p.Spec.Volumes[i])
		}
	})(p)
}

// readOnlyDisksUnshared: GCE disks are not even shared by pods that only read them.
func readOnlyDisksUnshared(p filter.Plugin) filter.Plugin {
	return misreadVolumes(p, func(v *v1.Volume) {
		if v.GCEPersistentDisk != nil {
			v.GCEPersistentDisk = v.GCEPersistentDisk.DeepCopy()
			v.GCEPersistentDisk.ReadOnly = false
		}
	})
}

// awsVolumesIgnored: pods may share AWS volumes.
func awsVolumesIgnored(p filter.Plugin) filter.Plugin {
	return misreadVolumes(p, func(v *v1.Volume) { v.AWSElasticBlockStore = nil })
}

// iscsiIgnored: pods may share iSCSI targets.
func iscsiIgnored(p filter.Plugin) filter.Plugin {
	return misreadVolumes(p, func(v *v1.Volume) { v.ISCSI = nil })
}

// rbdIgnored: pods may share RBD images.
func rbdIgnored(p filter.Plugin) filter.Plugin {
	return misreadVolumes(p, func(v *v1.Volume) { v.RBD = nil })
}
