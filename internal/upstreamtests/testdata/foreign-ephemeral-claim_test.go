package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
)

func TestCSILimits_ExistingPodWithForeignEphemeralClaim(t *testing.T) {
	existing := st.MakePod().Name("existing").Namespace("test").UID("existing").
		Volume(v1.Volume{Name: "scratch", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}}).Obj()
	claim := func(owners ...metav1.OwnerReference) []v1.PersistentVolumeClaim {
		c := st.MakePersistentVolumeClaim().Name("existing-scratch").Namespace("test").StorageClassName(&scName).Obj()
		c.OwnerReferences = owners
		return []v1.PersistentVolumeClaim{*c}
	}
	tests := []struct {
		name   string
		claims []v1.PersistentVolumeClaim // for the volume of the existing pod
	}{
		{
			name: "no claim yet",
		},
		{
			name:   "claim of the pod",
			claims: claim(metav1.OwnerReference{Kind: "Pod", Name: existing.Name, UID: existing.UID, Controller: ptr.To(true)}),
		},
		{
			name:   "claim of nobody",
			claims: claim(),
		},
		{
			name:   "claim of an earlier pod of that name",
			claims: claim(metav1.OwnerReference{Kind: "Pod", Name: existing.Name, UID: "earlier", Controller: ptr.To(true)}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			node, csiNode := getNodeWithPodAndVolumeLimits("csinode", []*v1.Pod{existing}, 10, ebsCSIDriverName)
			vaInformer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			p := &CSILimits{
				csiManager: NewCSIManager(getFakeCSINodeLister(csiNode)),
				pvLister:   getFakeCSIPVLister("csi", ebsCSIDriverName),
				pvcLister:  append(getFakeCSIPVCLister("csi", scName, ebsCSIDriverName), tt.claims...),
				scLister:   getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				vaIndexer:  vaInformer.GetIndexer(),
				translator: csitrans.New(),
			}
			// Of another namespace, and the node takes ten volumes.
			pod := st.MakePod().PVC("csi-" + ebsCSIDriverName + "-0").Obj()
			if _, s := p.PreFilter(ctx, nil, pod, nil); !s.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", s)
			}
			if got := p.Filter(ctx, nil, pod, node); !got.IsSuccess() {
				t.Errorf("Filter: got %v, want success", got)
			}
		})
	}
}
