package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_FailedShareOfDevice(t *testing.T) {
	const first, second = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	allocated := func(share types.UID) resourceapi.DeviceRequestAllocationResult {
		return resourceapi.DeviceRequestAllocationResult{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1", ShareID: &share,
			BindingConditions: []string{"attached"}, BindingFailureConditions: []string{"failed"}}
	}
	is := func(share, condition string) resourceapi.AllocatedDeviceStatus {
		return resourceapi.AllocatedDeviceStatus{Driver: driver, Pool: nodeName, Device: "instance-1", ShareID: &share,
			Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Reason: "Told"}}}
	}
	tests := []struct {
		name   string
		status []resourceapi.AllocatedDeviceStatus
		want   bool // whether the pod fits on the node
	}{
		{name: "both are ready", status: []resourceapi.AllocatedDeviceStatus{is(first, "attached"), is(second, "attached")}, want: true},
		{name: "none is ready yet", want: true},
		{name: "both failed", status: []resourceapi.AllocatedDeviceStatus{is(first, "failed"), is(second, "failed")}},
		{name: "the first one failed, the second one is ready", status: []resourceapi.AllocatedDeviceStatus{is(first, "failed"), is(second, "attached")}},
		{name: "the first one is ready, the second one failed", status: []resourceapi.AllocatedDeviceStatus{is(first, "attached"), is(second, "failed")}},
		{name: "the second one failed, of the first one nothing is said", status: []resourceapi.AllocatedDeviceStatus{is(second, "failed")}},
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
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
				Results: []resourceapi.DeviceRequestAllocationResult{allocated(first), allocated(second)}}}
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
