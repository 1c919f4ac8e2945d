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

func TestFilter_AdministeredDevice(t *testing.T) {
	monitored := adminAccess(st.MakeResourceClaim().Name("monitored").Namespace(namespace).Request(className).Obj())
	used := st.MakeResourceClaim().Name("used").Namespace(namespace).Request(className).Obj()
	allocated := monitored.DeepCopy()
	allocated.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
		Results: []resourceapi.DeviceRequestAllocationResult{{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1", AdminAccess: new(true)}}}}
	tests := []struct {
		name      string
		monitored *resourceapi.ResourceClaim
		order     []*resourceapi.ResourceClaim
		want      bool // whether the pod fits on the node, which has one device
	}{
		{
			name:      "used first, then administered",
			monitored: monitored,
			order:     []*resourceapi.ResourceClaim{used, monitored},
			want:      true,
		},
		{
			name:      "administered first, then used",
			monitored: monitored,
			order:     []*resourceapi.ResourceClaim{monitored, used},
			want:      true,
		},
		{
			name:      "administered already, then used",
			monitored: allocated,
			order:     []*resourceapi.ResourceClaim{monitored, used},
			want:      true,
		},
	}
	feats := feature.Features{
		EnableDRAAdminAccess:               true,
		EnableDRADeviceBindingConditions:   true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{tt.monitored, used}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID)
			for _, c := range tt.order {
				pod.PodResourceClaims(v1.PodResourceClaim{Name: c.Name, ResourceClaimName: &c.Name})
			}
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, pod.Obj(), []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, pod.Obj(), nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
