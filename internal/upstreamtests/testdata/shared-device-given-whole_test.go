package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_DeviceThatWasShared(t *testing.T) {
	half := map[resourceapi.QualifiedName]resource.Quantity{"memory": resource.MustParse("4Gi")}
	whole := map[resourceapi.QualifiedName]resource.Quantity{"memory": resource.MustParse("8Gi")}
	tests := []struct {
		name              string
		shared            bool // whether the device may be shared
		has, used, wanted map[resourceapi.QualifiedName]resource.Quantity
		want              bool // whether the pod fits on the node
	}{
		{name: "shared, and half of it is left", shared: true, has: whole, used: half, wanted: half, want: true},
		{name: "no longer shared, nothing requested", has: whole, used: half, want: false},
		{name: "no longer shared, a half requested", has: whole, used: half, wanted: half, want: false},
		{name: "no longer shared, without a capacity", want: false},
	}
	feats := feature.Features{
		EnableDRAConsumableCapacity:        true,
		EnableDRADeviceBindingConditions:   true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()
			slice.Spec.Devices[0].AllowMultipleAllocations = &tt.shared
			for name, value := range tt.has {
				slice.Spec.Devices[0].Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{name: {Value: value}}
			}
			used := st.MakeResourceClaim().Name("used").Namespace(namespace).Request(className).Obj()
			used.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{{
				Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1",
				ShareID: new(types.UID("0dbe5d5a-6b1d-4f7e-9b43-4f4a1d6c2a10")), ConsumedCapacity: tt.used}}}}
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			if tt.wanted != nil {
				claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourceapi.CapacityRequirements{Requests: tt.wanted}
			}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{used, claim}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).
				PodResourceClaims(v1.PodResourceClaim{Name: "claim", ResourceClaimName: &claim.Name}).Obj()
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, pod, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
