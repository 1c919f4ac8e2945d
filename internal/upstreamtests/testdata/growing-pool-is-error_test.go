package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_AllDevicesOfIncompletePool(t *testing.T) {
	// The pool of the node has two slices.
	first := st.MakeResourceSlice(nodeName, driver).Device("instance-1").ResourceSliceCount(2).Obj()
	second := st.MakeResourceSlice(nodeName, driver).Device("instance-2").ResourceSliceCount(2).Obj()
	second.Name = "second"
	tests := []struct {
		name   string
		mode   resourceapi.DeviceAllocationMode
		slices []apiruntime.Object
		want   fwk.Code
	}{
		{
			name:   "one device, two of two slices",
			mode:   resourceapi.DeviceAllocationModeExactCount,
			slices: []apiruntime.Object{first, second},
			want:   fwk.Success,
		},
		{
			name:   "one device, one of two slices",
			mode:   resourceapi.DeviceAllocationModeExactCount,
			slices: []apiruntime.Object{first},
			want:   fwk.UnschedulableAndUnresolvable,
		},
		{
			name:   "all devices, two of two slices",
			mode:   resourceapi.DeviceAllocationModeAll,
			slices: []apiruntime.Object{first, second},
			want:   fwk.Success,
		},
		{
			name:   "all devices, one of two slices",
			mode:   resourceapi.DeviceAllocationModeAll,
			slices: []apiruntime.Object{first},
			want:   fwk.UnschedulableAndUnresolvable,
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
			c := st.MakeResourceClaim().Name(claimName).Namespace(namespace).Request(className).Obj()
			c.Spec.Devices.Requests[0].Exactly.AllocationMode = tt.mode
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{c}, []*resourceapi.DeviceClass{deviceClass}, nil,
				tt.slices, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, podWithClaimName, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, testCtx.state, podWithClaimName, nodeInfo); s.Code() != tt.want {
				t.Errorf("Filter: got %v, want %v: %s", s.Code(), tt.want, s.Message())
			}
		})
	}
}
