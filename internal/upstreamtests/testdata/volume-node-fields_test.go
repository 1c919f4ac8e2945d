package volumebinding

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
)

func TestFindPodVolumes_NodeAffinityByField(t *testing.T) {
	requirement := func(key, value string) []v1.NodeSelectorRequirement {
		return []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", Labels: map[string]string{nodeLabelKey: "node1"}}}
	tests := []struct {
		name    string
		term    v1.NodeSelectorTerm
		reasons ConflictReasons
	}{
		{
			name: "label of the node",
			term: v1.NodeSelectorTerm{MatchExpressions: requirement(nodeLabelKey, "node1")},
		},
		{
			name:    "label of another node",
			term:    v1.NodeSelectorTerm{MatchExpressions: requirement(nodeLabelKey, "node2")},
			reasons: ConflictReasons{ErrReasonNodeConflict},
		},
		{
			name: "name of the node",
			term: v1.NodeSelectorTerm{MatchFields: requirement("metadata.name", "node1")},
		},
		{
			name:    "name of another node",
			term:    v1.NodeSelectorTerm{MatchFields: requirement("metadata.name", "node2")},
			reasons: ConflictReasons{ErrReasonNodeConflict},
		},
		{
			name: "label of the node, and name of another",
			term: v1.NodeSelectorTerm{
				MatchExpressions: requirement(nodeLabelKey, "node1"), MatchFields: requirement("metadata.name", "node2"),
			},
			reasons: ConflictReasons{ErrReasonNodeConflict},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			testEnv := newTestBinder(t, ctx)
			pvc := makeTestPVC("claim", "1G", "", pvcBound, "volume", "1", &waitClass)
			pv := makeTestPV("volume", "", "1G", "1", pvc, waitClass)
			pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{tt.term}}}
			testEnv.initVolumes(t, []*v1.PersistentVolume{pv}, nil)
			testEnv.initClaims(t, []*v1.PersistentVolumeClaim{pvc}, nil)
			pod := makePod("p").withNamespace("testns").withPVCSVolume([]*v1.PersistentVolumeClaim{pvc}).Pod

			_, reasons, err := findPodVolumes(logger, testEnv.binder, pod, node)
			if err != nil {
				t.Fatal(err)
			}
			checkReasons(t, reasons, tt.reasons)
		})
	}
}
