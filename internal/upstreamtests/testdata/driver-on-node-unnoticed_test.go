package nodevolumelimits

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
)

func TestCSILimitsQHint_DriverRegistered(t *testing.T) {
	driver := func(allocatable *storagev1.VolumeNodeResources) []storagev1.CSINodeDriver {
		return []storagev1.CSINodeDriver{{Name: ebsCSIDriverName, NodeID: "node", Allocatable: allocatable}}
	}
	tests := []struct {
		name    string
		drivers []storagev1.CSINodeDriver // of the node, once the pod's driver is registered
	}{
		{
			name:    "with a limit",
			drivers: driver(&storagev1.VolumeNodeResources{Count: ptr.To[int32](1)}),
		},
		{
			name:    "without a limit",
			drivers: driver(nil),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			pod := st.MakePod().PVC("csi-" + ebsCSIDriverName + "-0").Obj()
			vaInformer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			node, oldCSINode := getNodeWithPodAndVolumeLimits("no-csi-driver", nil, 0)
			newCSINode := oldCSINode.DeepCopy()
			newCSINode.Spec.Drivers = tt.drivers
			p := &CSILimits{
				pvLister:                 getFakeCSIPVLister("csi", ebsCSIDriverName),
				pvcLister:                getFakeCSIPVCLister("csi", scName, ebsCSIDriverName),
				scLister:                 getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				vaIndexer:                vaInformer.GetIndexer(),
				csiDriverLister:          getFakeCSIDriverListerWithPreventPodSchedulingIfMissing(ebsCSIDriverName),
				enableVolumeLimitScaling: true,
				translator:               csitrans.New(),
			}
			p.csiManager = NewCSIManager(getFakeCSINodeLister(oldCSINode))
			if s := p.Filter(ctx, nil, pod, node); !s.IsRejected() {
				t.Fatalf("Filter before the driver is registered: got %v, want a rejection", s)
			}
			p.csiManager = NewCSIManager(getFakeCSINodeLister(newCSINode))
			if s := p.Filter(ctx, nil, pod, node); !s.IsSuccess() {
				t.Fatalf("Filter after the driver is registered: got %v, want success", s)
			}
			got, err := p.isSchedulableAfterCSINodeUpdated(logger, pod, oldCSINode, newCSINode)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
