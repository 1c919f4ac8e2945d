package fingerprint

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// volumeAspects are those of volumes, all of which decide only about what fits on
// a node. What a claim is bound to, and by whom a claim is used, is in the names
// that objects have for each other and cannot be taken away by itself.
var volumeAspects = []aspect{
	{"claims", eachPreemptor(func(p *v1.Pod) { dropVolumes(p, isClaim) })},
	{"claims of others", eachOther(func(p *v1.Pod) {
		dropVolumes(p, isClaim)
	})},
	{"ephemeral volumes", eachOf(func(p *v1.Pod) { dropVolumes(p, func(v *v1.Volume) bool { return v.Ephemeral != nil }) })},
	{"disks", eachOf(func(p *v1.Pod) { dropVolumes(p, isDisk) })},
	{"claims for one pod", func(c *model.Cluster) {
		each(c, func(p *v1.PersistentVolumeClaim) { shareable(p.Spec.AccessModes) })
		each(c, func(v *v1.PersistentVolume) { shareable(v.Spec.AccessModes) })
	}},
	{"attach limits", eachOf(func(n *storagev1.CSINode) {
		for i := range n.Spec.Drivers {
			n.Spec.Drivers[i].Allocatable = nil
		}
	})},
	{"attached volumes", remove[*storagev1.VolumeAttachment]},
	{"required drivers", eachOf(func(d *storagev1.CSIDriver) { turnOff(d.Spec.PreventPodSchedulingIfMissing) })},
	{"node affinity of volumes", eachOf(func(v *v1.PersistentVolume) { anywhere(v) })},
	{"node fields of volumes", eachOf(func(v *v1.PersistentVolume) {
		if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
			return
		}
		terms := &v.Spec.NodeAffinity.Required.NodeSelectorTerms
		*terms = slices.DeleteFunc(*terms, func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 && len(t.MatchExpressions) == 0 })
		for i := range *terms {
			(*terms)[i].MatchFields = nil
		}
		if len(*terms) == 0 {
			anywhere(v)
		}
	})},
	{"zones of volumes", eachOf(func(v *v1.PersistentVolume) {
		for _, key := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion} {
			delete(v.Labels, key)
		}
	})},
	{"selectors of claims", eachOf(func(p *v1.PersistentVolumeClaim) { p.Spec.Selector = nil })},
	{"selected nodes", eachOf(func(p *v1.PersistentVolumeClaim) { delete(p.Annotations, selectedNode) })},
	{"allowed topologies", eachOf(func(s *storagev1.StorageClass) { s.AllowedTopologies = nil })},
	{"storage capacity", func(c *model.Cluster) {
		remove[*storagev1.CSIStorageCapacity](c)
		each(c, func(d *storagev1.CSIDriver) { turnOff(d.Spec.StorageCapacity) })
	}},
}

const (
	// claimsToBeBound is a trait: what they would be bound to cannot be made up.
	claimsToBeBound = "claims to be bound"
	// annBindCompleted and selectedNode are annotations of claims
	// (component-helpers/storage/volume/pv_helpers.go:39@v0.37.1, and line 51).
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	selectedNode     = "volume.kubernetes.io/selected-node"
)

// aboutVolumes tells whether an aspect or trait is one of volumes.
func aboutVolumes(name string) bool {
	return name == claimsToBeBound || slices.ContainsFunc(volumeAspects, func(a aspect) bool { return a.name == name })
}

// toBeBound tells whether a pod mounts a claim that is not bound.
func toBeBound(c *model.Cluster) bool {
	waiting := map[string]bool{}
	each(c, func(p *v1.PersistentVolumeClaim) { waiting[model.Key(p)] = p.Annotations[annBindCompleted] == "" })
	found := false
	each(c, func(p *v1.Pod) {
		for i := range p.Spec.Volumes {
			switch v := &p.Spec.Volumes[i]; {
			case v.PersistentVolumeClaim != nil:
				found = found || waiting[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]
			case v.Ephemeral != nil:
				found = found || waiting[p.Namespace+"/"+p.Name+"-"+v.Name]
			}
		}
	})
	return found
}

func isClaim(v *v1.Volume) bool { return v.PersistentVolumeClaim != nil }

// isDisk tells whether a volume is one that filters look at, and no claim.
func isDisk(v *v1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil ||
		v.AzureDisk != nil || v.AzureFile != nil || v.Cinder != nil || v.VsphereVolume != nil || v.PortworxVolume != nil
}

// dropVolumes takes volumes from a pod, and from its containers.
func dropVolumes(p *v1.Pod, drop func(v *v1.Volume) bool) {
	gone := map[string]bool{}
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v v1.Volume) bool {
		gone[v.Name] = drop(&v)
		return gone[v.Name]
	})
	for _, containers := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			k := &containers[i]
			k.VolumeMounts = slices.DeleteFunc(k.VolumeMounts, func(m v1.VolumeMount) bool { return gone[m.Name] })
			k.VolumeDevices = slices.DeleteFunc(k.VolumeDevices, func(d v1.VolumeDevice) bool { return gone[d.Name] })
		}
	}
}

// shareable lets any number of pods of a node use what one alone could.
func shareable(modes []v1.PersistentVolumeAccessMode) {
	for i := range modes {
		if modes[i] == v1.ReadWriteOncePod {
			modes[i] = v1.ReadWriteOnce
		}
	}
}

// anywhere lets a volume be accessed from all nodes, which a local one cannot be.
func anywhere(v *v1.PersistentVolume) {
	if local := v.Spec.Local; local != nil {
		v.Spec.Local, v.Spec.HostPath = nil, &v1.HostPathVolumeSource{Path: local.Path}
	}
	v.Spec.NodeAffinity = nil
}

// turnOff sets what is true to false, the default.
func turnOff(b *bool) {
	if b != nil {
		*b = false
	}
}
