package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestCSILimits_MigratedVolumeNeedsDriver(t *testing.T) {
	inTree := v1.Volume{VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}
	tests := []struct {
		name        string
		limitSource string
		pod         *v1.Pod
		wantFits    bool
	}{
		{
			name:        "in-tree volume, the driver is on the node",
			limitSource: "csinode",
			pod:         st.MakePod().Volume(inTree).Obj(),
			wantFits:    true,
		},
		{
			name:        "in-tree volume, the driver is missing",
			limitSource: "no-csi-driver",
			pod:         st.MakePod().Volume(inTree).Obj(),
		},
		{
			name: "CSI volume, the node has no CSINode",
			pod:  st.MakePod().PVC("csi-" + ebsCSIDriverName + "-0").Obj(),
		},
		{
			name: "in-tree volume, the node has no CSINode",
			pod:  st.MakePod().Volume(inTree).Obj(),
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
				csiDriverLister:          getFakeCSIDriverListerWithPreventPodSchedulingIfMissing(ebsCSIDriverName),
				enableVolumeLimitScaling: true,
				translator:               csitrans.New(),
			}
			if got := p.Filter(ctx, nil, tt.pod, node).IsSuccess(); got != tt.wantFits {
				t.Errorf("the pod fits: got %v, want %v", got, tt.wantFits)
			}
		})
	}
}
