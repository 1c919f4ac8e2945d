package findingsdoc

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// storageLines writes a line for each object that volumes are made of, and leaves
// out what its name says or never matters.
func storageLines(c *model.Cluster, line func(kind, name string, details ...string)) {
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			d := details{accessModes(o.Spec.AccessModes), bound(o), ofClass(ptr.Deref(o.Spec.StorageClassName, ""))}
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				d.add(true, "of %s %s", owner.Kind, owner.Name)
			}
			line("claim", model.Key(o), d...)
		case *v1.PersistentVolume:
			d := details{accessModes(o.Spec.AccessModes), words.Resources(o.Spec.Capacity), ofClass(o.Spec.StorageClassName)}
			if csi := o.Spec.CSI; csi != nil {
				d.add(true, "%s of %s", csi.VolumeHandle, csi.Driver)
			}
			d.requirements(ptr.Deref(o.Spec.NodeAffinity, v1.VolumeNodeAffinity{}).Required)
			line("volume", o.Name, append(d, labels(o.Labels))...)
		case *storagev1.StorageClass:
			line("class", o.Name, o.Provisioner, string(ptr.Deref(o.VolumeBindingMode, storagev1.VolumeBindingImmediate)))
		case *storagev1.CSINode:
			line("CSI node", o.Name, csiDrivers(o)...)
		case *storagev1.CSIDriver:
			line("CSI driver", o.Name, when(ptr.Deref(o.Spec.PreventPodSchedulingIfMissing, false), "no pod where it is missing"),
				when(ptr.Deref(o.Spec.StorageCapacity, false), "tells its capacity"))
		case *storagev1.CSIStorageCapacity:
			line("capacity", model.Key(o), ofClass(o.StorageClassName), o.Capacity.String(), metav1.FormatLabelSelector(o.NodeTopology))
		case *storagev1.VolumeAttachment:
			if name := o.Spec.Source.PersistentVolumeName; name != nil {
				line("attachment", o.Name, *name+" to "+o.Spec.NodeName)
			}
		}
	}
}

// volumes names what a pod mounts that filters look at.
func (d *details) volumes(p *v1.Pod) {
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			d.add(true, "claim %s", v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			d.add(true, "ephemeral volume %s", v.Name)
		case v.GCEPersistentDisk != nil:
			d.add(true, "disk %s", v.GCEPersistentDisk.PDName)
		case v.AWSElasticBlockStore != nil:
			d.add(true, "disk %s", v.AWSElasticBlockStore.VolumeID)
		}
	}
}

func bound(claim *v1.PersistentVolumeClaim) string {
	if claim.Spec.VolumeName == "" {
		return "not bound"
	}
	return "bound to " + claim.Spec.VolumeName
}

func csiDrivers(n *storagev1.CSINode) (d details) {
	d.add(len(n.Spec.Drivers) == 0, "no driver")
	for _, driver := range n.Spec.Drivers {
		text := driver.Name
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			text += fmt.Sprintf(", limit %d", *driver.Allocatable.Count)
		}
		d = append(d, text)
	}
	return d
}

func accessModes(modes []v1.PersistentVolumeAccessMode) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(modes), " ", ", "), "[]")
}

func ofClass(name string) string { return when(name != "", "class "+name) }
