package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_NameOfRequestedCapacity(t *testing.T) {
	qualified := resourceapi.QualifiedName(driver + "/memory")
	tests := []struct {
		name                 string
		published, requested resourceapi.QualifiedName
		want                 bool // whether the pod fits on the node
	}{
		{name: "without a domain", published: "memory", requested: "memory", want: true},
		{name: "with the driver's domain", published: qualified, requested: qualified, want: true},
		{name: "requested with the driver's domain", published: "memory", requested: qualified, want: true},
		{name: "published with the driver's domain", published: qualified, requested: "memory", want: true},
		{name: "requested with another domain", published: "memory", requested: "example.com/memory", want: false},
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
			slice.Spec.Devices[0].AllowMultipleAllocations = new(true)
			slice.Spec.Devices[0].Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{tt.published: {Value: resource.MustParse("8Gi")}}
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourceapi.CapacityRequirements{
				Requests: map[resourceapi.QualifiedName]resource.Quantity{tt.requested: resource.MustParse("1Gi")}}
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
