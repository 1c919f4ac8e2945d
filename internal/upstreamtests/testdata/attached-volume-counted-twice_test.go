package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestCSILimits_VolumeAttachedAlready(t *testing.T) {
	// The first volume is attached to the node, which takes one.
	attached, another := "csi-"+ebsCSIDriverName+"-0", "csi-"+ebsCSIDriverName+"-1"
	tests := []struct {
		name         string
		claim        string // of the new pod
		existingPods []*v1.Pod
		wantCode     fwk.Code
	}{
		{
			name:     "another volume is attached",
			claim:    another,
			wantCode: fwk.Unschedulable,
		},
		{
			name:         "another volume is attached, and a pod mounts it",
			claim:        another,
			existingPods: []*v1.Pod{st.MakePod().PVC(attached).Obj()},
			wantCode:     fwk.Unschedulable,
		},
		{
			name:         "the volume is attached, and a pod mounts it",
			claim:        attached,
			existingPods: []*v1.Pod{st.MakePod().PVC(attached).Obj()},
			wantCode:     fwk.Success,
		},
		{
			name:     "the volume is attached",
			claim:    attached,
			wantCode: fwk.Success,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			node, csiNode := getNodeWithPodAndVolumeLimits("csinode", tt.existingPods, 1, ebsCSIDriverName)
			informerFactory := informers.NewSharedInformerFactory(buildFakeClientWithVALister(1, ebsCSIDriverName), 0)
			vaInformer := informerFactory.Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			p := &CSILimits{
				csiManager: NewCSIManager(getFakeCSINodeLister(csiNode)),
				pvLister:   getFakeCSIPVLister("csi", ebsCSIDriverName),
				pvcLister:  getFakeCSIPVCLister("csi", scName, ebsCSIDriverName),
				scLister:   getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				vaIndexer:  vaInformer.GetIndexer(),
				translator: csitrans.New(),
			}
			pod := st.MakePod().PVC(tt.claim).Obj()
			if _, s := p.PreFilter(ctx, nil, pod, nil); !s.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", s)
			}
			if got := p.Filter(ctx, nil, pod, node); got.Code() != tt.wantCode {
				t.Errorf("Filter: got %v, want %v", got, tt.wantCode)
			}
		})
	}
}
