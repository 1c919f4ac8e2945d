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

func TestFilter_TaintAfterAllocation(t *testing.T) {
	tests := []struct {
		name      string
		effect    resourceapi.DeviceTaintEffect
		tolerates []resourceapi.DeviceToleration
		want      bool // whether the pod fits on the node
	}{
		{
			name:   "None",
			effect: resourceapi.DeviceTaintEffectNone,
			want:   true,
		},
		{
			name:   "NoSchedule",
			effect: resourceapi.DeviceTaintEffectNoSchedule,
			want:   false,
		},
		{
			name:   "NoExecute",
			effect: resourceapi.DeviceTaintEffectNoExecute,
			want:   false,
		},
		{
			name:      "NoExecute, tolerated",
			effect:    resourceapi.DeviceTaintEffectNoExecute,
			tolerates: []resourceapi.DeviceToleration{{Operator: resourceapi.DeviceTolerationOpExists}},
			want:      true,
		},
		{
			name:      "NoExecute, another effect tolerated",
			effect:    resourceapi.DeviceTaintEffectNoExecute,
			tolerates: []resourceapi.DeviceToleration{{Operator: resourceapi.DeviceTolerationOpExists, Effect: resourceapi.DeviceTaintEffectNoSchedule}},
			want:      false,
		},
	}
	feats := feature.Features{
		EnableDRADeviceBindingConditions:   true,
		EnableDRADeviceTaints:              true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			shared := st.MakeResourceClaim().Name(claimName).Namespace(namespace).Request(className).ReservedForPod("other", "other").Obj()
			shared.Spec.Devices.Requests[0].Exactly.Tolerations = tt.tolerates
			shared.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
				Results: []resourceapi.DeviceRequestAllocationResult{{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1", Tolerations: tt.tolerates}}}}
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()
			slice.Spec.Devices[0].Taints = []resourceapi.DeviceTaint{{Key: "broken", Effect: tt.effect}}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{shared}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			_, s := testCtx.p.PreFilter(tCtx, testCtx.state, podWithClaimName, []fwk.NodeInfo{nodeInfo})
			if s.IsSuccess() {
				s = testCtx.p.Filter(tCtx, testCtx.state, podWithClaimName, nodeInfo)
			}
			if got := s.IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
