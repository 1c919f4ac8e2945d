package model

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// unmodelledStorage reports the volumes of plugins that CSI drivers have taken
// over from, where the translation matters: for the limit of such a driver, and
// for the labels that it looks for on nodes.
func unmodelledStorage(c *Cluster, add func(object, field, why string)) {
	if !MountsVolumes(c.Preemptor) {
		return
	}
	s := indexStorage(c)
	limited := func(plugin string) bool {
		driver := migratedDrivers[plugin]
		for _, n := range s.csiNodes {
			for i := range n.Spec.Drivers {
				d := &n.Spec.Drivers[i]
				if driver != "" && d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
					return true
				}
			}
		}
		return driver != "" && s.drivers[driver] != nil && s.drivers[driver].Spec.PreventPodSchedulingIfMissing != nil
	}
	const why = "a volume that counts for the limit of the CSI driver it is migrated to"
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		if p != c.Preemptor && p.Spec.NodeName == "" && !knownNominated(c, p) {
			continue
		}
		for i := range p.Spec.Volumes {
			if limited(pluginOfVolume(&p.Spec.Volumes[i])) {
				add("Pod "+Key(p), fmt.Sprintf("spec.volumes[%d].%s", i, filteredVolume(&p.Spec.Volumes[i])), why)
			}
		}
		for _, w := range s.claimsOf(p) {
			if w.claim == nil {
				continue
			}
			if pv := s.volumes[w.claim.Spec.VolumeName]; pv != nil {
				if limited(pluginOfPersistentVolume(pv)) {
					add("PersistentVolume "+pv.Name, "spec", why)
				}
			} else if class := s.classes[classOf(w.claim)]; class != nil && limited(class.Provisioner) {
				add("StorageClass "+class.Name, "provisioner", why)
			}
		}
	}
	for _, w := range s.claimsOf(c.Preemptor) {
		if w.claim == nil {
			continue
		}
		if class := s.classes[classOf(w.claim)]; class != nil && class.VolumeBindingMode == nil {
			add("StorageClass "+class.Name, "volumeBindingMode", "a class without it, which the API server would have set")
		}
		pv := s.volumes[w.claim.Spec.VolumeName]
		if pv == nil || pluginOfPersistentVolume(pv) == "" {
			continue
		}
		for _, n := range s.csiNodes {
			if slices.Contains(strings.Split(n.Annotations[v1.MigratedPluginsAnnotationKey], ","), pluginOfPersistentVolume(pv)) {
				add("PersistentVolume "+pv.Name, "spec", "a volume whose topology is translated for the CSI driver it is migrated to")
				break
			}
		}
	}
}

// undecidedStorage reports claims for which upstream draws lots among volumes,
// where the preemptor fits with one and does not with another.
func (q *question) undecidedStorage() error {
	if q.storage == nil || q.storage.undecided == "" {
		return nil
	}
	return Unmodelled{{"PersistentVolumeClaim " + q.storage.undecided, "spec", "which of several equally good volumes it takes decides where the pod fits"}}
}

// filteredVolume names the source of a volume that a filter plugin looks at, or
// is "" for one that can be mounted anywhere.
func filteredVolume(v *v1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return "persistentVolumeClaim"
	case v.Ephemeral != nil:
		return "ephemeral"
	case v.GCEPersistentDisk != nil:
		return "gcePersistentDisk"
	case v.AWSElasticBlockStore != nil:
		return "awsElasticBlockStore"
	case v.AzureDisk != nil:
		return "azureDisk"
	case v.Cinder != nil:
		return "cinder"
	case v.ISCSI != nil:
		return "iscsi"
	case v.RBD != nil:
		return "rbd"
	case v.PortworxVolume != nil:
		return "portworxVolume"
	}
	return ""
}
