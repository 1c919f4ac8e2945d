package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_FailedDeviceOfTwo(t *testing.T) {
	allocated := func(device string) resourceapi.DeviceRequestAllocationResult {
		return resourceapi.DeviceRequestAllocationResult{Request: "req-1", Driver: driver, Pool: nodeName, Device: device,
			BindingConditions: []string{"attached"}, BindingFailureConditions: []string{"failed"}}
	}
	is := func(device, condition string) resourceapi.AllocatedDeviceStatus {
		return resourceapi.AllocatedDeviceStatus{Driver: driver, Pool: nodeName, Device: device,
			Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Reason: "Told"}}}
	}
	tests := []struct {
		name   string
		status []resourceapi.AllocatedDeviceStatus
		want   bool // whether the pod fits on the node
	}{
		{name: "both are ready", status: []resourceapi.AllocatedDeviceStatus{is("instance-1", "attached"), is("instance-2", "attached")}, want: true},
		{name: "none is ready yet", want: true},
		{name: "the first one failed, the second one is not ready", status: []resourceapi.AllocatedDeviceStatus{is("instance-1", "failed")}},
		{name: "the first one is ready, the second one failed", status: []resourceapi.AllocatedDeviceStatus{is("instance-1", "attached"), is("instance-2", "failed")}},
		{name: "the first one is not ready, the second one failed", status: []resourceapi.AllocatedDeviceStatus{is("instance-2", "failed")}},
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
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Device("instance-2").Obj()
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
				Results: []resourceapi.DeviceRequestAllocationResult{allocated("instance-1"), allocated("instance-2")}}}
			claim.Status.Devices = tt.status
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClass}, nil,
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
