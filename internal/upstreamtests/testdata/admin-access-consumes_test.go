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

func TestFilter_AdministrationOfDeviceInUse(t *testing.T) {
	memory := map[string]resourceapi.Counter{"memory": {Value: resource.MustParse("8Gi")}}
	capacity := map[resourceapi.QualifiedName]resource.Quantity{"memory": resource.MustParse("8Gi")}
	counters := st.MakeResourceSlice(nodeName, driver).ResourceSliceCount(2).Obj()
	counters.Name += "-counters"
	counters.Spec.SharedCounters = []resourceapi.CounterSet{{Name: "whole", Counters: memory}}
	partition := st.MakeResourceSlice(nodeName, driver).Device("instance-1").ResourceSliceCount(2).Obj()
	partition.Spec.Devices[0].ConsumesCounters = []resourceapi.DeviceCounterConsumption{{CounterSet: "whole", Counters: memory}}
	shared := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()
	shared.Spec.Devices[0].AllowMultipleAllocations = new(true)
	shared.Spec.Devices[0].Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: capacity["memory"]}}
	whole := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()

	tests := []struct {
		name   string
		slices []apiruntime.Object
		share  bool
	}{
		{name: "a device", slices: []apiruntime.Object{whole}},
		{name: "a partition that has used up the counters", slices: []apiruntime.Object{counters, partition}},
		{name: "a shared device without capacity left", slices: []apiruntime.Object{shared}, share: true},
	}
	feats := feature.Features{
		EnableDRAAdminAccess:               true,
		EnableDRAConsumableCapacity:        true,
		EnableDRADeviceBindingConditions:   true,
		EnableDRAPartitionableDevices:      true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			monitored := adminAccess(st.MakeResourceClaim().Name("monitored").Namespace(namespace).Request(className).Obj())
			used := st.MakeResourceClaim().Name("used").Namespace(namespace).Request(className).Obj()
			result := resourceapi.DeviceRequestAllocationResult{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1"}
			if tt.share {
				result.ShareID, result.ConsumedCapacity = new(types.UID("0dbe5d5a-6b1d-4f7e-9b43-4f4a1d6c2a10")), capacity
			}
			used.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{result}}}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{monitored, used}, []*resourceapi.DeviceClass{deviceClass}, nil,
				tt.slices, feats, false, nil)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).
				PodResourceClaims(v1.PodResourceClaim{Name: "monitored", ResourceClaimName: &monitored.Name}).Obj()
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, pod, nodeInfo).IsSuccess(); !got {
				t.Errorf("the pod fits: got %t, want true", got)
			}
		})
	}
}
