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
	"k8s.io/utils/ptr"
)

func TestFilter_UnmetConstraint(t *testing.T) {
	// The device of the node has no socket.
	slices := []apiruntime.Object{st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()}
	feats := feature.Features{
		EnableDRADeviceBindingConditions:   true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for name, mode := range map[string]resourceapi.DeviceAllocationMode{
		"one device":  resourceapi.DeviceAllocationModeExactCount,
		"all devices": resourceapi.DeviceAllocationModeAll,
	} {
		t.Run(name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			c := st.MakeResourceClaim().Name(claimName).Namespace(namespace).Request(className).Obj()
			c.Spec.Devices.Requests[0].Exactly.AllocationMode = mode
			c.Spec.Devices.Constraints = []resourceapi.DeviceConstraint{{MatchAttribute: ptr.To(resourceapi.FullyQualifiedName("example.com/socket"))}}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{c}, []*resourceapi.DeviceClass{deviceClass}, nil, slices, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, podWithClaimName, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, testCtx.state, podWithClaimName, nodeInfo); s.Code() != fwk.UnschedulableAndUnresolvable {
				t.Errorf("Filter: got %v, want UnschedulableAndUnresolvable: %s", s.Code(), s.Message())
			}
		})
	}
}
