package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
)

func TestCSILimitsQHint_VolumeDetached(t *testing.T) {
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "p-data", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p", Controller: ptr.To(true)}}},
		Spec: v1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("class")},
	}
	class := storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}, Provisioner: ebsCSIDriverName}
	attached := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "attachment"},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: ebsCSIDriverName, NodeName: "node1",
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("volume")}},
	}
	volume := v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "volume"},
		Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: v1.PersistentVolumeSource{
			CSI: &v1.CSIPersistentVolumeSource{Driver: ebsCSIDriverName, VolumeHandle: "handle"}}},
	}
	for _, tt := range []struct {
		name   string
		source v1.VolumeSource
	}{
		{"a claim", v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "p-data"}}},
		{"an ephemeral volume", v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			informer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().VolumeAttachments().Informer()
			if err := informer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			p := &CSILimits{
				pvLister:  tf.PersistentVolumeLister{volume},
				pvcLister: tf.PersistentVolumeClaimLister{*claim},
				scLister:  tf.StorageClassLister{class},
				csiManager: NewCSIManager(getFakeCSINodeLister(&storagev1.CSINode{
					ObjectMeta: metav1.ObjectMeta{Name: "node1"},
					Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
						{Name: ebsCSIDriverName, NodeID: "node1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(int32(1))}}}},
				})),
				vaIndexer:  informer.GetIndexer(),
				translator: csitrans.New(),
			}
			pod := st.MakePod().Name("p").UID("p").Obj()
			pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: tt.source}}
			fits := func() bool {
				node := framework.NewNodeInfo()
				node.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}})
				return p.Filter(ctx, nil, pod, node).IsSuccess()
			}
			if err := informer.GetIndexer().Add(attached); err != nil {
				t.Fatal(err)
			}
			if fits() {
				t.Fatal("there is room for two volumes on node1")
			}
			if err := informer.GetIndexer().Delete(attached); err != nil {
				t.Fatal(err)
			}
			if !fits() {
				t.Fatal("once the volume is detached there is no room on node1")
			}
			got, err := p.isSchedulableAfterVolumeAttachmentDeleted(logger, pod, attached, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
