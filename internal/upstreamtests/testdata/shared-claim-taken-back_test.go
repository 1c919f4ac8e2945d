package volumebinding

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
)

func TestRevertAssumedPodVolumes_SharedClaim(t *testing.T) {
	// The volumes may be made on either node.
	node := func(name string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{nodeLabelKey: "node1"}}}
	}
	shared := makeTestPVC("shared", "1G", "", pvcUnbound, "", "1", &waitClassWithProvisioner)
	own := makeTestPVC("own", "1G", "", pvcUnbound, "", "2", &waitClassWithProvisioner)
	tests := []struct {
		name    string
		mounted *v1.PersistentVolumeClaim // by the pod that is taken back
	}{
		{name: "the claim of the pod that is taken back is another one", mounted: own},
		{name: "the pod that is taken back mounts the claim, too", mounted: shared},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			testEnv := newTestBinder(t, ctx)
			claims := []*v1.PersistentVolumeClaim{shared, own}
			testEnv.initClaims(t, claims, claims)
			assume := func(name string, claim *v1.PersistentVolumeClaim) *PodVolumes {
				pod := makePod(name).withNamespace("testns").withPVCSVolume([]*v1.PersistentVolumeClaim{claim}).Pod
				found, reasons, err := findPodVolumes(logger, testEnv.binder, pod, node("node1"))
				if err != nil || len(reasons) > 0 {
					t.Fatalf("%s on node1: %v, %v", name, reasons, err)
				}
				if _, err := testEnv.binder.AssumePodVolumes(logger, pod, "node1", found); err != nil {
					t.Fatal(err)
				}
				return found
			}
			assume("p1", shared)
			testEnv.binder.RevertAssumedPodVolumes(assume("p2", tt.mounted))

			// The volume is to be made where p1 goes.
			pod := makePod("p3").withNamespace("testns").withPVCSVolume([]*v1.PersistentVolumeClaim{shared}).Pod
			_, reasons, err := findPodVolumes(logger, testEnv.binder, pod, node("node2"))
			if err != nil {
				t.Fatal(err)
			}
			checkReasons(t, reasons, ConflictReasons{ErrReasonBindConflict})
		})
	}
}
