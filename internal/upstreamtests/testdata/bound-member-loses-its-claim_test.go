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

// The calls are those for a member of a pod group: it is reserved for while the group is placed, which is taken back, and then it is bound.
func TestPreBind_ClaimReservedBefore(t *testing.T) {
	for _, tt := range []struct {
		name      string
		reserved  bool // for the pod, before
		takenBack bool
	}{
		{name: "a pod by itself", reserved: true},
		{name: "a member whose claim is not reserved for it before", takenBack: true},
		{name: "a member whose claim is reserved for it before", reserved: true, takenBack: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).PodResourceClaims(v1.PodResourceClaim{Name: "claim", ResourceClaimName: new("claim")}).Obj()
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
				Results: []resourceapi.DeviceRequestAllocationResult{{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1"}}}}
			if tt.reserved {
				claim.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: podName, UID: types.UID(podUID)}}
			}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClass}, nil, []apiruntime.Object{},
				feature.Features{EnableDRADeviceBindingConditions: true, EnableDRAResourceClaimDeviceStatus: true, EnableDRASchedulerFilterTimeout: true, EnableDynamicResourceAllocation: true}, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			state := framework.NewCycleState()
			if _, s := testCtx.p.PreFilter(tCtx, state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, state, pod, nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if tt.takenBack {
				if s := testCtx.p.Reserve(tCtx, state, pod, nodeName); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				testCtx.p.Unreserve(tCtx, state, pod, nodeName)
			}
			if s := testCtx.p.Reserve(tCtx, state, pod, nodeName); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.PreBind(tCtx, state, pod, nodeName); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			stored, err := testCtx.client.ResourceV1().ResourceClaims(namespace).Get(tCtx, "claim", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(stored.Status.ReservedFor) != 1 {
				t.Errorf("users of the claim of a pod that is bound: got %d, want 1", len(stored.Status.ReservedFor))
			}
		})
	}
}
