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

func TestFilter_ClaimOfNominatedPod(t *testing.T) {
	nominated := st.MakePod().Name("nominated").Namespace(namespace).UID("nominated").NominatedNodeName(nodeName)
	claimOfNominated := pendingClaim.DeepCopy()
	claimOfNominated.Name, claimOfNominated.UID, claimOfNominated.OwnerReferences = claimName2, "", nil
	tests := []struct {
		name      string
		nominated *v1.Pod
		want      bool // whether the pod fits on the node
	}{
		{
			name:      "the nominated pod claims nothing",
			nominated: nominated.Obj().DeepCopy(),
			want:      true,
		},
		{
			name:      "the nominated pod claims the only device",
			nominated: nominated.PodResourceClaims(v1.PodResourceClaim{Name: resourceName, ResourceClaimName: &claimName2}).Obj(),
			want:      false,
		},
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
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj()
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{pendingClaim, claimOfNominated}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, podWithClaimName, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			// As RunFilterPluginsWithNominatedPods does.
			pod, err := framework.NewPodInfo(tt.nominated)
			if err != nil {
				t.Fatal(err)
			}
			nodeInfo.AddPodInfo(pod)
			if e := testCtx.p.PreFilterExtensions(); e != nil {
				if s := e.AddPod(tCtx, testCtx.state, podWithClaimName, pod, nodeInfo); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, podWithClaimName, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
