package volumebinding

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
)

func TestFindPodVolumes_SizeBeyondInt64(t *testing.T) {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", Labels: map[string]string{nodeLabelKey: "node1"}}}
	tests := []struct {
		name              string
		claim             string
		capacity          string
		maximumVolumeSize string
		reasons           ConflictReasons
	}{
		{
			name:     "within 64 bits, enough is left",
			claim:    "8E",
			capacity: "9E",
		},
		{
			name:     "within 64 bits, too little is left",
			claim:    "9E",
			capacity: "8E",
			reasons:  ConflictReasons{ErrReasonNotEnoughSpace},
		},
		{
			name:     "claim beyond 64 bits",
			claim:    "10E",
			capacity: "1Gi",
			reasons:  ConflictReasons{ErrReasonNotEnoughSpace},
		},
		{
			name:     "claim beyond 64 bits, in 20 digits",
			claim:    "10000000000000000001",
			capacity: "1Gi",
			reasons:  ConflictReasons{ErrReasonNotEnoughSpace},
		},
		{
			name:     "capacity beyond 64 bits",
			claim:    "1Gi",
			capacity: "10E",
		},
		{
			name:              "largest volume beyond 64 bits",
			claim:             "1Gi",
			capacity:          "9E",
			maximumVolumeSize: "10E",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			testEnv := newTestBinder(t, ctx)
			testEnv.addCSIDriver(makeCSIDriver(provisioner, true))
			testEnv.addCSIStorageCapacities([]*storagev1.CSIStorageCapacity{
				makeCapacity("capacity", waitClassWithProvisioner, node, tt.capacity, tt.maximumVolumeSize)})
			pvc := makeTestPVC("claim", tt.claim, "", pvcUnbound, "", "1", &waitClassWithProvisioner)
			testEnv.initClaims(t, []*v1.PersistentVolumeClaim{pvc}, []*v1.PersistentVolumeClaim{pvc})
			pod := makePod("p").withNamespace("testns").withPVCSVolume([]*v1.PersistentVolumeClaim{pvc}).Pod

			_, reasons, err := findPodVolumes(logger, testEnv.binder, pod, node)
			if err != nil {
				t.Fatal(err)
			}
			checkReasons(t, reasons, tt.reasons)
		})
	}
}
