package findingsdoc

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// storageLines writes a line for each object that volumes are made of, and leaves
// out what its name says or never matters.
func storageLines(c *model.Cluster, line func(kind, name string, details ...string)) {
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			details := []string{accessModes(o.Spec.AccessModes), bound(o), ofClass(o.Spec.StorageClassName)}
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				details = append(details, "of "+owner.Kind+" "+owner.Name)
			}
			line("claim", model.Key(o), details...)
		case *v1.PersistentVolume:
			details := []string{accessModes(o.Spec.AccessModes), resources(o.Spec.Capacity), ofClass(&o.Spec.StorageClassName)}
			if csi := o.Spec.CSI; csi != nil {
				details = append(details, fmt.Sprintf("%s of %s", csi.VolumeHandle, csi.Driver))
			}
			if a := o.Spec.NodeAffinity; a != nil && a.Required != nil {
				details = append(details, requirements(a.Required.NodeSelectorTerms)...)
			}
			line("volume", o.Name, append(details, labels(o.Labels))...)
		case *storagev1.StorageClass:
			mode := storagev1.VolumeBindingImmediate
			if o.VolumeBindingMode != nil {
				mode = *o.VolumeBindingMode
			}
			line("class", o.Name, o.Provisioner, string(mode))
		case *storagev1.CSINode:
			line("CSI node", o.Name, csiDrivers(o)...)
		case *storagev1.CSIDriver:
			line("CSI driver", o.Name, when(isTrue(o.Spec.PreventPodSchedulingIfMissing), "no pod where it is missing"), when(isTrue(o.Spec.StorageCapacity), "tells its capacity"))
		case *storagev1.CSIStorageCapacity:
			line("capacity", model.Key(o), ofClass(&o.StorageClassName), o.Capacity.String(), metav1.FormatLabelSelector(o.NodeTopology))
		case *storagev1.VolumeAttachment:
			if name := o.Spec.Source.PersistentVolumeName; name != nil {
				line("attachment", o.Name, *name+" to "+o.Spec.NodeName)
			}
		}
	}
}

// volumes names what a pod mounts that filters look at.
func volumes(p *v1.Pod) []string {
	var details []string
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			details = append(details, "claim "+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			details = append(details, "ephemeral volume "+v.Name)
		case v.GCEPersistentDisk != nil:
			details = append(details, "disk "+v.GCEPersistentDisk.PDName)
		case v.AWSElasticBlockStore != nil:
			details = append(details, "disk "+v.AWSElasticBlockStore.VolumeID)
		}
	}
	return details
}

func bound(claim *v1.PersistentVolumeClaim) string {
	if claim.Spec.VolumeName == "" {
		return "not bound"
	}
	return "bound to " + claim.Spec.VolumeName
}

func csiDrivers(n *storagev1.CSINode) []string {
	if len(n.Spec.Drivers) == 0 {
		return []string{"no driver"}
	}
	var details []string
	for _, d := range n.Spec.Drivers {
		text := d.Name
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			text += fmt.Sprintf(", limit %d", *d.Allocatable.Count)
		}
		details = append(details, text)
	}
	return details
}

func accessModes(modes []v1.PersistentVolumeAccessMode) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(modes), " ", ", "), "[]")
}

func ofClass(name *string) string {
	if name == nil || *name == "" {
		return ""
	}
	return "class " + *name
}

func isTrue(b *bool) bool { return b != nil && *b }
