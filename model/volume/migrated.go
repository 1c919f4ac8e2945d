package volume

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
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

// migratedVolume is what a CSI driver has in place of a volume of the plugin that
// it has taken over from, if it has (nodevolumelimits/csi.go:507@v1.37.1,
// getCSIDriverInfo; csi-translation-lib).
func migratedVolume(pv *v1.PersistentVolume) CSIVolume {
	s := &pv.Spec.PersistentVolumeSource
	v := CSIVolume{Driver: migratedDrivers[pluginOfPersistentVolume(pv)]}
	switch {
	case s.AWSElasticBlockStore != nil:
		v.Handle = s.AWSElasticBlockStore.VolumeID
	case s.AzureDisk != nil:
		v.Handle = s.AzureDisk.DataDiskURI
	case s.Cinder != nil:
		v.Handle = s.Cinder.VolumeID
	case s.GCEPersistentDisk != nil:
		if place, ok := placeOfDisk(pv.Labels); ok {
			v.Handle = place + s.GCEPersistentDisk.PDName
		}
	case s.PortworxVolume != nil:
		v.Handle = s.PortworxVolume.VolumeID
	}
	return v
}

// placeOfDisk is the part of a GCE disk's handle that says where the disk is: in
// a zone, in a region if it is in several zones, which has to be the same for all,
// or anywhere.
func placeOfDisk(labels map[string]string) (place string, ok bool) {
	label := labels[v1.LabelFailureDomainBetaZone]
	if label == "" {
		label = labels[v1.LabelTopologyZone]
	}
	zones := strings.Split(label, "__")
	if len(zones) == 1 {
		return "zones/" + label + "/", true
	}
	var regions []string
	for _, zone := range zones {
		parts := strings.Split(zone, "-")
		if len(parts) != 3 {
			return "", false
		}
		regions = append(regions, parts[0]+"-"+parts[1])
	}
	return "regions/" + regions[0] + "/", len(slices.Compact(regions)) == 1
}

// migratedInline is migratedVolume of a volume that a pod names itself.
func migratedInline(v *v1.Volume) CSIVolume {
	driver := migratedDrivers[pluginOfVolume(v)]
	switch {
	case v.AWSElasticBlockStore != nil:
		return CSIVolume{Driver: driver, Handle: v.AWSElasticBlockStore.VolumeID}
	case v.AzureDisk != nil:
		return CSIVolume{Driver: driver, Handle: v.AzureDisk.DataDiskURI}
	case v.Cinder != nil:
		return CSIVolume{Driver: driver, Handle: v.Cinder.VolumeID}
	case v.GCEPersistentDisk != nil:
		return CSIVolume{Driver: driver, Handle: "zones//" + v.GCEPersistentDisk.PDName}
	case v.PortworxVolume != nil:
		return CSIVolume{Driver: driver, Handle: v.PortworxVolume.VolumeID}
	}
	return CSIVolume{}
}

// pluginOfVolume names the plugin that a volume of a pod was made for, if a CSI
// driver has taken over from it.
func pluginOfVolume(v *v1.Volume) string {
	switch {
	case v.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs"
	case v.AzureDisk != nil:
		return "kubernetes.io/azure-disk"
	case v.Cinder != nil:
		return "kubernetes.io/cinder"
	case v.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd"
	case v.PortworxVolume != nil:
		return "kubernetes.io/portworx-volume"
	}
	return ""
}

func pluginOfPersistentVolume(pv *v1.PersistentVolume) string {
	s := &pv.Spec.PersistentVolumeSource
	switch {
	case s.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs"
	case s.AzureDisk != nil:
		return "kubernetes.io/azure-disk"
	case s.Cinder != nil:
		return "kubernetes.io/cinder"
	case s.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd"
	case s.PortworxVolume != nil:
		return "kubernetes.io/portworx-volume"
	}
	return ""
}
