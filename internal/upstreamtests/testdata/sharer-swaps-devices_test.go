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

func TestReserve_ClaimSharedInPodGroup(t *testing.T) {
	tests := []struct {
		name   string
		claims [2][]string // of the pods, in their order
	}{
		{name: "no claim is shared", claims: [2][]string{{"first"}, {"own"}}},
		{name: "the own claim comes first", claims: [2][]string{{"shared"}, {"own", "shared"}}},
		{name: "the shared claim comes first", claims: [2][]string{{"shared"}, {"shared", "own"}}},
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
			var claims []*resourceapi.ResourceClaim
			for _, name := range []string{"first", "shared", "own"} {
				claims = append(claims, st.MakeResourceClaim().Name(name).Namespace(namespace).Request(className).Obj())
			}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, claims, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			group := framework.NewCycleState()
			taken := map[string]string{} // which claim has which device
			for i, names := range tt.claims {
				pod := st.MakePod().Name(podName + string(rune('a'+i))).Namespace(namespace).UID(podUID + string(rune('a'+i)))
				var entries []v1.PodResourceClaim
				for _, name := range names {
					entries = append(entries, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
				}
				pod = pod.PodResourceClaims(entries...)
				state := framework.NewCycleState()
				state.SetPodGroupSchedulingCycle(group)
				if _, s := testCtx.p.PreFilter(tCtx, state, pod.Obj(), []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				if s := testCtx.p.Filter(tCtx, state, pod.Obj(), nodeInfo); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				if s := testCtx.p.Reserve(tCtx, state, pod.Obj(), nodeName); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
			}
			for _, claim := range claims {
				stored, err := testCtx.draManager.ResourceClaims().Get(namespace, claim.Name)
				if err != nil {
					t.Fatal(err)
				}
				allocation := testCtx.draManager.ResourceClaims().GetPendingAllocation(stored.UID)
				if allocation == nil {
					continue
				}
				for _, r := range allocation.Devices.Results {
					if other, is := taken[r.Device]; is {
						t.Errorf("a device has two claims: %s and %s have %s", other, claim.Name, r.Device)
					}
					taken[r.Device] = claim.Name
				}
			}
		})
	}
}
