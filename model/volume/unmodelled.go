package volume

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unmodelled implements filter.Partial, for all plugins of the package. It reports
// the volumes of plugins that CSI drivers have taken over from, where the
// translation matters: what the driver calls them, and the labels that it
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
	x.unmodelledDisks(append([]*v1.Pod{s.Preemptor.Pod}, s.Known...), report)
	for _, node := range slices.Sorted(maps.Keys(x.Attachments)) {
		for _, a := range x.Attachments[node] {
			if a.Spec.Source.InlineVolumeSpec != nil && x.limited(a.Spec.Attacher) {
				report("VolumeAttachment "+a.Name, "spec.source.inlineVolumeSpec", "a volume on "+node+" that a pod named itself")
			}
		}
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
		if x.untranslatable(c.PV) {
			report("PersistentVolume "+c.PV.Name, "spec", "a volume that cannot be translated for the CSI driver it is migrated to")
		}
	}
}

// untranslatable tells whether it says of a volume where it is in words that the CSI driver that has taken over from its plugin does not have.
func (x *Index) untranslatable(pv *v1.PersistentVolume) bool {
	_, err := csitranslation.New().TranslateInTreePVToCSI(klog.Background(), pv)
	return err != nil && x.Translates(pv)
}

// MountsUntranslatable tells whether a pod claims such a volume, of which all else could be translated.
func MountsUntranslatable(p *v1.Pod, objects []runtime.Object) bool {
	x := NewIndex(objects)
	return slices.ContainsFunc(x.ClaimsOf(p), func(c Claim) bool {
		if c.PV == nil || !x.untranslatable(c.PV) {
			return false
		}
		anywhere := c.PV.DeepCopy()
		anywhere.Labels, anywhere.Spec.NodeAffinity = nil, nil
		return !x.untranslatable(anywhere)
	})
}

// unmodelledVolumes reports those volumes of a pod that count for the limits of CSI drivers, where it is not plain which
// volume of the driver they are.
func (x *Index) unmodelledVolumes(p *v1.Pod, report filter.Report) {
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if why := translated(inline(v)); why != "" {
			report("Pod "+filter.Key(p), fmt.Sprintf("spec.volumes[%d].%s", i, sourceOf(v)), why)
		}
	}
	for _, c := range x.ClaimsOf(p) {
		if c.PV != nil {
			if why := translated(&c.PV.Spec.PersistentVolumeSource); why != "" {
				report("PersistentVolume "+c.PV.Name, "spec", why)
			}
		}
	}
}

// unmodelledDisks reports disks of GCE that count for a limit, of one name, of which it is told in different ways where they are: a
// disk's name is its own in one zone only, so that it is open whether they are one.
func (x *Index) unmodelledDisks(pods []*v1.Pod, report filter.Report) {
	driver := migratedDrivers["kubernetes.io/gce-pd"]
	if !x.limited(driver) {
		return
	}
	var volumes []CSIVolume
	for _, p := range pods {
		volumes = append(volumes, CSIVolumes(p, x.ClaimsOf(p))...)
	}
	for _, node := range slices.Sorted(maps.Keys(x.Attachments)) {
		volumes = append(volumes, x.AttachedTo(node)...)
	}
	known := map[string]string{} // the handle of each disk
	for _, v := range volumes {
		disk := v.Handle[strings.LastIndex(v.Handle, "/")+1:]
		if v.Driver != driver || v.Pending {
			continue
		}
		if known[disk] != "" && known[disk] != v.Handle {
			report("GCE disk "+disk, "zone", "a disk of which it is told in different ways where it is")
			return
		}
		known[disk] = v.Handle
	}
}

// limited tells whether a CSI driver limits how many volumes a node takes.
func (x *Index) limited(driver string) bool {
	for _, n := range x.CSINodes {
		if slices.ContainsFunc(limitsOf(n), func(l Limit) bool { return l.Driver == driver }) {
			return true
		}
	}
	return false
}

// translated says why it is not plain which volume a CSI driver has in place of one of the plugin that it has taken over from; "" if
// it is.
func translated(s *v1.PersistentVolumeSource) string {
	switch {
	case s.AWSElasticBlockStore != nil && strings.HasPrefix(s.AWSElasticBlockStore.VolumeID, "aws://"):
		return "a volume whose name is translated for the CSI driver it is migrated to"
	case s.AzureDisk != nil && s.AzureDisk.Kind != nil && *s.AzureDisk.Kind != v1.AzureManagedDisk:
		return "a disk that the CSI driver it is migrated to does not have"
	}
	return ""
}

// Undecided implements filter.Undecided.
func (st *BindingState) Undecided(report filter.Report) {
	if st.Drawn != "" {
		report("PersistentVolumeClaim "+st.Drawn, "spec", "which of several equally good volumes it takes decides where the pod fits")
	}
}

// DrawsLots tells whether pods that are scheduled together may fit or not as lots are drawn: of the claims that wait, one may take either
// of two volumes. Where they are, and whether a pod may come there, is not asked.
func DrawsLots(pods []*v1.Pod, objects []runtime.Object) bool {
	x := NewIndex(objects)
	var waiting []Claim
	for _, p := range pods {
		waiting = append(waiting, slices.DeleteFunc(x.ClaimsOf(p), func(c Claim) bool { return !c.Waits() })...)
	}
	return slices.ContainsFunc(waiting, func(c Claim) bool {
		reserved, sizes := 0, map[int64]int{}
		for _, pv := range x.Volumes {
			switch {
			case !suits(pv, c.PVC):
			case reservedFor(pv, c.PVC):
				reserved++
			case pv.Spec.ClaimRef == nil:
				size := pv.Spec.Capacity[v1.ResourceStorage]
				sizes[size.Value()]++
			}
		}
		// A claim that is alone is as well off with the one volume as with the other, unless both are its own: these may be out of reach.
		return reserved > 1 || len(waiting) > 1 && slices.ContainsFunc(slices.Collect(maps.Values(sizes)), func(n int) bool { return n > 1 })
	})
}
