package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestPostFilter_NothingElseIsTriedAfterDeallocation(t *testing.T) {
	tests := []struct {
		name     string
		claim    *resourceapi.ResourceClaim
		wantLast bool // PostFilter plugins that come later, such as DefaultPreemption, are not run
	}{
		{
			name:     "the claim is in use",
			claim:    st.FromResourceClaim(allocatedClaimWithWrongTopology).ReservedForPod("another", types.UID("another")).Obj(),
			wantLast: false,
		},
		{
			name:     "the claim is idle",
			claim:    allocatedClaimWithWrongTopology,
			wantLast: true,
		},
	}
	feats := feature.Features{
		EnableDRADeviceBindingConditions:   true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{tt.claim}, []*resourceapi.DeviceClass{deviceClass}, nil, nil, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, podWithClaimName, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, testCtx.state, podWithClaimName, nodeInfo); s.IsSuccess() {
				t.Fatal("the pod fits")
			}
			_, s := testCtx.p.PostFilter(tCtx, testCtx.state, podWithClaimName, nil)
			// RunPostFilterPlugins ends with the first plugin that does not answer Unschedulable.
			if last := s.Code() != fwk.Unschedulable; last != tt.wantLast {
				t.Errorf("the last PostFilter plugin to run: got %t, want %t (%v)", last, tt.wantLast, s)
			}
		})
	}
}
