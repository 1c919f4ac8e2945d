package volumes

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// plugin is one of Kubernetes itself that a CSI driver has taken over from.
type plugin struct {
	name, driver string
	zone         string // the driver's label for the zones of nodes
	// handle is what the driver calls a volume of a name.
	handle func(volume string) string
	// volume and inline are the volume, as a PersistentVolume and as a pod names it.
	volume func(volume string) v1.PersistentVolumeSource
	inline func(volume string) v1.VolumeSource
}

var plugins = []plugin{
	{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", func(volume string) string { return volume },
		func(volume string) v1.PersistentVolumeSource {
			return v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: volume}}
		},
		func(volume string) v1.VolumeSource {
			return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: volume}}
		}},
	{"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone", func(volume string) string { return volume },
		func(volume string) v1.PersistentVolumeSource {
			return v1.PersistentVolumeSource{Cinder: &v1.CinderPersistentVolumeSource{VolumeID: volume}}
		},
		func(volume string) v1.VolumeSource {
			return v1.VolumeSource{Cinder: &v1.CinderVolumeSource{VolumeID: volume}}
		}},
	{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", func(volume string) string { return "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/" + volume },
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
	if s.Chance(40) {
		from.translate(s, c)
	}
}

// translate has some nodes say that the driver takes care of volumes of the plugin, so that those are looked for in the zones of the
// driver's own label, which most nodes have.
func (p *plugin) translate(s draw.Source, c *model.Cluster) {
	zone := func() string { return draw.Pick(s, "a", "b") }
	for _, n := range c.Nodes {
		if s.Chance(80) {
			metav1.SetMetaDataLabel(&n.ObjectMeta, p.zone, zone())
		}
	}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *storagev1.CSINode:
			if s.Chance(65) {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1.MigratedPluginsAnnotationKey, draw.Pick(s, p.name, "kubernetes.io/vsphere-volume,"+p.name, "kubernetes.io/vsphere-volume"))
			}
		case *v1.PersistentVolume:
			if o.Spec.CSI != nil {
				break
			}
			switch key := draw.Pick(s, v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone); draw.Weighted(s, 50, 25, 25) {
			case 0:
				in := v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{zone()}}
				o.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{in}}}}}
			case 1:
				metav1.SetMetaDataLabel(&o.ObjectMeta, key, zone())
			}
		}
	}
}
