package volumes

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// plugin is one of Kubernetes itself that a CSI driver has taken over from.
type plugin struct {
	name, driver string
	// handle is what the driver calls a volume of a name.
	handle func(volume string) string
	// volume and inline are the volume, as a PersistentVolume and as a pod names it.
	volume func(volume string) v1.PersistentVolumeSource
	inline func(volume string) v1.VolumeSource
}

var plugins = []plugin{
	{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", func(volume string) string { return volume },
		func(volume string) v1.PersistentVolumeSource {
			return v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: volume}}
		},
		func(volume string) v1.VolumeSource {
			return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: volume}}
		}},
	{"kubernetes.io/cinder", "cinder.csi.openstack.org", func(volume string) string { return volume },
		func(volume string) v1.PersistentVolumeSource {
			return v1.PersistentVolumeSource{Cinder: &v1.CinderPersistentVolumeSource{VolumeID: volume}}
		},
		func(volume string) v1.VolumeSource {
			return v1.VolumeSource{Cinder: &v1.CinderVolumeSource{VolumeID: volume}}
		}},
	{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", func(volume string) string { return "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/" + volume },
		func(volume string) v1.PersistentVolumeSource {
			return v1.PersistentVolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: volume}}
		},
		func(volume string) v1.VolumeSource {
			return v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: volume}}
		}},
}

// Migrate makes the first CSI driver one that has taken over from a plugin of Kubernetes itself, and most of its volumes those of
// the plugin, some of which pods name without a claim. They count for the limits of the driver as before. It is for clusters that
// are rendered.
func Migrate(s draw.Source, c *model.Cluster) {
	from := draw.Pick(s, plugins...)
	inTree := map[string]string{} // the volume of each claim, by namespace and name
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolume:
			if o.Spec.CSI == nil || o.Spec.CSI.Driver != drivers[0] {
				continue
			}
			volume := o.Spec.CSI.VolumeHandle
			o.Spec.CSI.Driver, o.Spec.CSI.VolumeHandle = from.driver, from.handle(volume)
			if s.Chance(60) {
				o.Spec.PersistentVolumeSource = from.volume(volume)
				if r := o.Spec.ClaimRef; r != nil {
					inTree[r.Namespace+"/"+r.Name] = volume
				}
			}
		case *storagev1.StorageClass:
			if o.Provisioner == drivers[0] {
				o.Provisioner = draw.Pick(s, from.name, from.name, from.driver)
			}
		case *storagev1.CSIDriver:
			if o.Name == drivers[0] {
				o.Name = from.driver
			}
		case *storagev1.CSINode:
			for i := range o.Spec.Drivers {
				if d := &o.Spec.Drivers[i]; d.Name == drivers[0] {
					d.Name = from.driver
				}
			}
		case *storagev1.VolumeAttachment:
			if o.Spec.Attacher == drivers[0] {
				o.Spec.Attacher = from.driver
			}
		}
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		for i := range p.Spec.Volumes {
			v := &p.Spec.Volumes[i]
			if v.PersistentVolumeClaim == nil {
				continue
			}
			if volume := inTree[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]; volume != "" && s.Chance(20) {
				v.VolumeSource = from.inline(volume)
			}
		}
	}
}
