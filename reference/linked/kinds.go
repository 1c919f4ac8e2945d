package linked

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WatchedKinds are the kinds the scheduler has informers for, pods and nodes apart:
// what it knows of a cluster's other objects. It is blind to every other kind.
func WatchedKinds() []runtime.Object {
	return []runtime.Object{
		&v1.Namespace{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &v1.Service{}, &v1.ReplicationController{},
		&appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
		&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
		&resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{}, &resourcev1.DeviceTaintRule{},
		&schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{},
	}
}
