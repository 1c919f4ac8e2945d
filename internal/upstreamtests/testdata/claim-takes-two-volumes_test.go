package volumebinding

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
)

func TestFindPodVolumes_ClaimUnderTwoNames(t *testing.T) {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", Labels: map[string]string{nodeLabelKey: "node1"}}}
	toBind := makeTestPVC("claim", "1G", "", pvcUnbound, "", "1", &waitClass)
	toProvision := makeTestPVC("claim", "1G", "", pvcUnbound, "", "1", &waitClassWithProvisioner)
	tests := []struct {
		name       string
		claims     []*v1.PersistentVolumeClaim // of the pod's volumes
		volumes    []*v1.PersistentVolume
		reasons    ConflictReasons
		bindings   int
		provisions int
	}{
		{
			name:     "one name and one volume",
			claims:   []*v1.PersistentVolumeClaim{toBind},
			volumes:  []*v1.PersistentVolume{pvNode1a},
			bindings: 1,
		},
		{
			name:    "two names and no volume",
			claims:  []*v1.PersistentVolumeClaim{toBind, toBind},
			reasons: ConflictReasons{ErrReasonBindConflict},
		},
		{
			name:     "two names and one volume",
			claims:   []*v1.PersistentVolumeClaim{toBind, toBind},
			volumes:  []*v1.PersistentVolume{pvNode1a},
			bindings: 1,
		},
		{
			name:     "two names and two volumes",
			claims:   []*v1.PersistentVolumeClaim{toBind, toBind},
			volumes:  []*v1.PersistentVolume{pvNode1a, pvNode1b},
			bindings: 1,
		},
		{
			name:       "two names, to be provisioned",
			claims:     []*v1.PersistentVolumeClaim{toProvision, toProvision},
			provisions: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			testEnv := newTestBinder(t, ctx)
			testEnv.initVolumes(t, tt.volumes, tt.volumes)
			testEnv.initClaims(t, tt.claims[:1], tt.claims[:1])
			pod := makePod("p").withNamespace("testns").withPVCSVolume(tt.claims).Pod

			found, reasons, err := findPodVolumes(logger, testEnv.binder, pod, node)
			if err != nil {
				t.Fatal(err)
			}
			checkReasons(t, reasons, tt.reasons)
			if found == nil {
				return
			}
			if got := len(found.StaticBindings); got != tt.bindings {
				t.Errorf("volumes bound to the claim: got %d, want %d", got, tt.bindings)
			}
			if got := len(found.DynamicProvisions); got != tt.provisions {
				t.Errorf("volumes provisioned for the claim: got %d, want %d", got, tt.provisions)
			}
		})
	}
}
