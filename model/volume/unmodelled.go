package volume

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unmodelled implements filter.Partial, for all plugins of the package. It reports
// the volumes of plugins that CSI drivers have taken over from, where the
// translation matters: for the limit of such a driver, and for the labels that it
// looks for on nodes. And it reports claims of which it is open whether they are small enough.
func (VolumeBinding) Unmodelled(s *filter.Snapshot, report filter.Report) {
	if !Mounts(s.Preemptor.Pod) {
		return
	}
	x := NewIndex(s.Objects)
	x.unmodelledVolumes(s.Preemptor.Pod, report)
	for _, p := range s.Known {
		x.unmodelledVolumes(p, report)
	}
	for _, c := range x.ClaimsOf(s.Preemptor.Pod) {
		if c.Class != nil && c.Class.VolumeBindingMode == nil {
			report("StorageClass "+c.Class.Name, "volumeBindingMode", "a class without it, which the API server would have set")
		}
		if c.Waits() {
			x.unmodelledSizes(&c, report)
		}
		if c.PV == nil {
			continue
		}
		plugin, _ := pluginOf(&c.PV.Spec.PersistentVolumeSource)
		for _, n := range x.CSINodes {
			if plugin != "" && slices.Contains(strings.Split(n.Annotations[v1.MigratedPluginsAnnotationKey], ","), plugin) {
				report("PersistentVolume "+c.PV.Name, "spec", "a volume whose topology is translated for the CSI driver it is migrated to")
				break
			}
		}
	}
}

// unmodelledVolumes reports those volumes of a pod that count for the limits of
// CSI drivers.
func (x *Index) unmodelledVolumes(p *v1.Pod, report filter.Report) {
	const why = "a volume that counts for the limit of the CSI driver it is migrated to"
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if plugin, _ := pluginOf(inline(v)); x.limited(plugin) {
			report("Pod "+filter.Key(p), fmt.Sprintf("spec.volumes[%d].%s", i, sourceOf(v)), why)
		}
	}
	for _, c := range x.ClaimsOf(p) {
		switch {
		case c.PV != nil:
			if plugin, _ := pluginOf(&c.PV.Spec.PersistentVolumeSource); x.limited(plugin) {
				report("PersistentVolume "+c.PV.Name, "spec", why)
			}
		case c.Class != nil && x.limited(c.Class.Provisioner):
			report("StorageClass "+c.Class.Name, "provisioner", why)
		}
	}
}

// limited tells whether the CSI driver that has taken over from a plugin limits
// where volumes go.
func (x *Index) limited(plugin string) bool {
	driver := migratedDrivers[plugin]
	if driver == "" {
		return false
	}
	for _, n := range x.CSINodes {
		if slices.ContainsFunc(limitsOf(n), func(l Limit) bool { return l.Driver == driver }) {
			return true
		}
	}
	return x.Drivers[driver] != nil && x.Drivers[driver].Spec.PreventPodSchedulingIfMissing != nil
}

// Undecided implements filter.Undecided.
func (st *BindingState) Undecided(report filter.Report) {
	if st.Drawn != "" {
		report("PersistentVolumeClaim "+st.Drawn, "spec", "which of several equally good volumes it takes decides where the pod fits")
	}
}
