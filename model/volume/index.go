// Package volume specifies the filter plugins that look at volumes:
// VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone.
package volume

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Index holds the storage objects of a cluster by name.
type Index struct {
	Claims      map[string]*v1.PersistentVolumeClaim // by namespace/name
	Volumes     map[string]*v1.PersistentVolume
	Classes     map[string]*storagev1.StorageClass
	CSINodes    map[string]*storagev1.CSINode
	Drivers     map[string]*storagev1.CSIDriver
	Capacities  []*storagev1.CSIStorageCapacity
	Attachments map[string][]*storagev1.VolumeAttachment // by node
}

// NewIndex finds the storage objects among all.
func NewIndex(objects []runtime.Object) *Index {
	x := &Index{
		Claims:      map[string]*v1.PersistentVolumeClaim{},
		Volumes:     map[string]*v1.PersistentVolume{},
		Classes:     map[string]*storagev1.StorageClass{},
		CSINodes:    map[string]*storagev1.CSINode{},
		Drivers:     map[string]*storagev1.CSIDriver{},
		Attachments: map[string][]*storagev1.VolumeAttachment{},
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			x.Claims[filter.Key(o)] = o
		case *v1.PersistentVolume:
			x.Volumes[o.Name] = o
		case *storagev1.StorageClass:
			x.Classes[o.Name] = o
		case *storagev1.CSINode:
			x.CSINodes[o.Name] = o
		case *storagev1.CSIDriver:
			x.Drivers[o.Name] = o
		case *storagev1.CSIStorageCapacity:
			x.Capacities = append(x.Capacities, o)
		case *storagev1.VolumeAttachment:
			x.Attachments[o.Spec.NodeName] = append(x.Attachments[o.Spec.NodeName], o)
		}
	}
	return x
}

// Mounts tells whether a pod has volumes that the plugins look at. All others can
// be mounted anywhere.
func Mounts(p *v1.Pod) bool {
	for i := range p.Spec.Volumes {
		if sourceOf(&p.Spec.Volumes[i]) != "" {
			return true
		}
	}
	return false
}

// sourceOf names the source of a volume that a plugin looks at; "" for one that
// can be mounted anywhere.
func sourceOf(v *v1.Volume) string {
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
