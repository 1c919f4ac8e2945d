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
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestCSILimits_MigratedVolumeIsAttached(t *testing.T) {
	// One volume is attached to the node, which takes one, and no pod mounts it.
	volume := func(source v1.PersistentVolumeSource) *v1.PersistentVolume {
		return &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: source}}
	}
	tests := []struct {
		name     string
		attached *v1.PersistentVolume
	}{
		{
			name:     "CSI volume",
			attached: volume(v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: ebsCSIDriverName, VolumeHandle: "vol-1"}}),
		},
		{
			name:     "in-tree volume",
			attached: volume(v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			node, csiNode := getNodeWithPodAndVolumeLimits("csinode", nil, 1, ebsCSIDriverName)
			attachment := &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: "attachment"},
				Spec: storagev1.VolumeAttachmentSpec{
					Attacher: ebsCSIDriverName,
					NodeName: node.Node().Name,
					Source:   storagev1.VolumeAttachmentSource{PersistentVolumeName: &tt.attached.Name},
				},
			}
			informerFactory := informers.NewSharedInformerFactory(fake.NewClientset(tt.attached, attachment), 0)
			vaInformer := informerFactory.Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			pvLister := informerFactory.Core().V1().PersistentVolumes().Lister()
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			p := &CSILimits{
				csiManager:      NewCSIManager(getFakeCSINodeLister(csiNode)),
				pvLister:        pvLister,
				pvcLister:       getFakeCSIPVCLister("csi", scName, ebsCSIDriverName),
				scLister:        getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				csiDriverLister: getFakeCSIDriverLister(ebsCSIDriverName),
				vaIndexer:       vaInformer.GetIndexer(),
				translator:      csitrans.New(),
			}
			pod := st.MakePod().Volume(v1.Volume{VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-2"}}}).Obj()
			if got := p.Filter(ctx, nil, pod, node).IsSuccess(); got {
				t.Errorf("the pod fits: got %v, want false", got)
			}
		})
	}
}
