package volume

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

// migratedDrivers are the CSI drivers that have taken over from plugins of
// Kubernetes itself (docs: concepts/storage/volumes, "CSIMigration").
var migratedDrivers = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
}

// TakenOver tells whether a CSI driver has taken over from a plugin of that name.
func TakenOver(plugin string) bool { return migratedDrivers[plugin] != "" }

// translatesOn tells whether a node's kubelet has a CSI driver take care of a volume of the plugin that the driver has taken over from
// (core/v1/annotation_key_constants.go@v0.37.1, MigratedPluginsAnnotationKey).
func (x *Index) translatesOn(node string, pv *v1.PersistentVolume) bool {
	plugin, _ := pluginOf(&pv.Spec.PersistentVolumeSource)
	n := x.CSINodes[node]
	return plugin != "" && n != nil && slices.Contains(strings.Split(n.Annotations[v1.MigratedPluginsAnnotationKey], ","), plugin)
}

// Translates tells whether some node has a CSI driver take care of a volume that was made for a plugin of Kubernetes itself.
func (x *Index) Translates(pv *v1.PersistentVolume) bool {
	for node := range x.CSINodes {
		if x.translatesOn(node, pv) {
			return true
		}
	}
	return false
}

// on is a bound volume as it is for a node: where a CSI driver takes care of it, that driver's labels say in which zones it is ("converts existing zone
// labels or in-tree topology to CSI topology": csi-translation-lib/plugins/in_tree_volume.go:170@v0.37.1). What cannot be translated is
// not modelled.
func (x *Index) on(n *v1.Node, pv *v1.PersistentVolume) *v1.PersistentVolume {
	if !x.translatesOn(n.Name, pv) {
		return pv
	}
	translated, err := csitranslation.New().TranslateInTreePVToCSI(klog.Background(), pv)
	if err != nil {
		return pv
	}
	return translated
}

// migrated is what a CSI driver has in place of a volume of the plugin that it has
// taken over from, if it has (nodevolumelimits/csi.go:507@v1.37.1,
// getCSIDriverInfo; csi-translation-lib). labels are those of the volume.
func migrated(s *v1.PersistentVolumeSource, labels map[string]string) CSIVolume {
	plugin, id := pluginOf(s)
	if s.GCEPersistentDisk != nil {
		if place, ok := placeOfDisk(labels); ok {
			id = place + id
		} else {
			id = ""
		}
	}
	return CSIVolume{Driver: migratedDrivers[plugin], Handle: id}
}

// placeOfDisk is the part of a GCE disk's handle that says where the disk is: in
// a zone, in a region if it is in several zones, which has to be the same for all,
// or anywhere (docs of the driver, "projects/PROJECT/zones/ZONE/disks/NAME").
func placeOfDisk(labels map[string]string) (place string, ok bool) {
	label := labels[v1.LabelFailureDomainBetaZone]
	if label == "" {
		label = labels[v1.LabelTopologyZone]
	}
	zones := strings.Split(label, "__")
	if len(zones) == 1 {
		return "projects/UNSPECIFIED/zones/" + cmp.Or(label, "UNSPECIFIED") + "/disks/", true
	}
	var regions []string
	for _, zone := range zones {
		parts := strings.Split(zone, "-")
		if len(parts) != 3 {
			return "", false
		}
		regions = append(regions, parts[0]+"-"+parts[1])
	}
	return "projects/UNSPECIFIED/regions/" + regions[0] + "/disks/", len(slices.Compact(regions)) == 1
}

// pluginOf names the plugin that a volume was made for, if a CSI driver has taken
// over from it, and the volume's name there.
func pluginOf(s *v1.PersistentVolumeSource) (plugin, id string) {
	switch {
	case s.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs", s.AWSElasticBlockStore.VolumeID
	case s.AzureDisk != nil:
		return "kubernetes.io/azure-disk", s.AzureDisk.DataDiskURI
	case s.Cinder != nil:
		return "kubernetes.io/cinder", s.Cinder.VolumeID
	case s.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd", s.GCEPersistentDisk.PDName
	case s.PortworxVolume != nil:
		return "kubernetes.io/portworx-volume", s.PortworxVolume.VolumeID
	}
	return "", ""
}

// PluginOf names the plugin of Kubernetes itself that a volume was made for, if a CSI driver has taken over from it; "" if none has.
func PluginOf(s *v1.PersistentVolumeSource) string {
	plugin, _ := pluginOf(s)
	return plugin
}

// InlinePluginOf is PluginOf of a volume that a pod names itself.
func InlinePluginOf(v *v1.Volume) string { return PluginOf(inline(v)) }

// inline is the source of a volume that a pod names itself, as far as pluginOf is
// concerned.
func inline(v *v1.Volume) *v1.PersistentVolumeSource {
	s := &v1.PersistentVolumeSource{AWSElasticBlockStore: v.AWSElasticBlockStore, AzureDisk: v.AzureDisk,
		GCEPersistentDisk: v.GCEPersistentDisk, PortworxVolume: v.PortworxVolume}
	if v.Cinder != nil {
		s.Cinder = &v1.CinderPersistentVolumeSource{VolumeID: v.Cinder.VolumeID}
	}
	return s
}
