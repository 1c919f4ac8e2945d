package nodevolumelimits

import (
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestCSILimits_MissingDriverIsUnresolvable(t *testing.T) {
	tests := []struct {
		name        string
		limitSource string
		drivers     fakeCSIDriverLister
		wantCode    fwk.Code
	}{
		{
			name:        "the driver is on the node",
			limitSource: "csinode",
			drivers:     getFakeCSIDriverListerWithPreventPodSchedulingIfMissing(ebsCSIDriverName),
			wantCode:    fwk.Success,
		},
		{
			name:        "the driver is missing, and does not mind",
			limitSource: "no-csi-driver",
			drivers:     getFakeCSIDriverLister(ebsCSIDriverName),
			wantCode:    fwk.Success,
		},
		{
			name:        "the driver is missing",
			limitSource: "no-csi-driver",
			drivers:     getFakeCSIDriverListerWithPreventPodSchedulingIfMissing(ebsCSIDriverName),
			wantCode:    fwk.UnschedulableAndUnresolvable,
		},
		{
			name:     "the node has no CSINode",
			drivers:  getFakeCSIDriverListerWithPreventPodSchedulingIfMissing(ebsCSIDriverName),
			wantCode: fwk.UnschedulableAndUnresolvable,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			node, csiNode := getNodeWithPodAndVolumeLimits(tt.limitSource, nil, 1, ebsCSIDriverName)
			vaInformer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			p := &CSILimits{
				csiManager:               NewCSIManager(getFakeCSINodeLister(csiNode)),
				pvLister:                 getFakeCSIPVLister("csi", ebsCSIDriverName),
				pvcLister:                getFakeCSIPVCLister("csi", scName, ebsCSIDriverName),
				scLister:                 getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				vaIndexer:                vaInformer.GetIndexer(),
				csiDriverLister:          tt.drivers,
				enableVolumeLimitScaling: true,
				translator:               csitrans.New(),
			}
			pod := st.MakePod().PVC("csi-" + ebsCSIDriverName + "-0").Obj()
			if got := p.Filter(ctx, nil, pod, node); got.Code() != tt.wantCode {
				t.Errorf("Filter: got %v, want %v", got.Code(), tt.wantCode)
			}
		})
	}
}
