package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// storageMutants break the rules of volumes.
func storageMutants(breaks func(name string, change func(r *Rules)), misreads func(name string, distort func(p *v1.Pod))) {
	breaks("claims: users on other nodes ignored", func(r *Rules) { r.once.everywhere = false })
	breaks("limits: a shared volume counts for each pod", func(r *Rules) { r.limits.shared = false })
	breaks("limits: attached volumes do not count", func(r *Rules) { r.limits.attached = false })
	breaks("limits: volumes to be provisioned do not count", func(r *Rules) { r.limits.unbound = false })
	breaks("limits: a missing driver does not matter", func(r *Rules) { r.limits.mustBeHere = false })
	breaks("binding: lost claims are good", func(r *Rules) { r.binding.lost = false })
	breaks("binding: claims being deleted are good", func(r *Rules) { r.binding.deleting = false })
	breaks("binding: ephemeral claims of others are good", func(r *Rules) { r.binding.owner = false })
	breaks("binding: immediate claims need not be bound", func(r *Rules) { r.binding.immediate = false })
	breaks("binding: node affinity of volumes ignored", func(r *Rules) { r.binding.affinity = false })
	breaks("binding: the selected node ignored", func(r *Rules) { r.binding.selectedNode = false })
	breaks("binding: selectors of claims ignored", func(r *Rules) { r.binding.selector = false })
	breaks("binding: access modes ignored", func(r *Rules) { r.binding.modes = false })
	breaks("binding: volumes in use are taken", func(r *Rules) { r.binding.phase = false })
	breaks("binding: volume mode ignored", func(r *Rules) { r.binding.volumeMode = false })
	breaks("binding: capacity of volumes ignored", func(r *Rules) { r.binding.size = false })
	breaks("binding: one volume for two claims", func(r *Rules) { r.binding.chosen = false })
	breaks("binding: allowed topologies ignored", func(r *Rules) { r.binding.topology = false })
	breaks("binding: storage capacity ignored", func(r *Rules) { r.binding.capacity = false })
	breaks("zones: old labels are not renamed", func(r *Rules) { r.zoneLabelsRenamed = false })
	disks := func(name string, distort func(v *v1.Volume)) {
		misreads("disks: "+name, func(p *v1.Pod) {
			p.Spec.Volumes = slices.Clone(p.Spec.Volumes)
			for i := range p.Spec.Volumes {
				distort(&p.Spec.Volumes[i])
			}
		})
	}
	disks("read-only GCE disks are not shared", func(v *v1.Volume) {
		if v.GCEPersistentDisk != nil {
			v.GCEPersistentDisk = v.GCEPersistentDisk.DeepCopy()
			v.GCEPersistentDisk.ReadOnly = false
		}
	})
	disks("AWS volumes ignored", func(v *v1.Volume) { v.AWSElasticBlockStore = nil })
	disks("iSCSI ignored", func(v *v1.Volume) { v.ISCSI = nil })
	disks("RBD ignored", func(v *v1.Volume) { v.RBD = nil })
}
