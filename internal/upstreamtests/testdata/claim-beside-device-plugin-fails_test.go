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

func TestPreBind_ClaimBesideDevicePlugin(t *testing.T) {
	gpu := map[v1.ResourceName]string{v1.ResourceName(extendedResourceName): "1"}
	pod := func() *st.PodWrapper {
		return st.MakePod().Name(podName).Namespace(namespace).UID(podUID)
	}
	entry := v1.PodResourceClaim{Name: "a", ResourceClaimName: &claimName}
	tests := []struct {
		name string
		pod  *v1.Pod
		node *v1.Node
	}{
		{
			name: "no claim, and the node has the resource",
			pod:  pod().Req(gpu).Obj(),
			node: workerNodeWithExtendedResource,
		},
		{
			name: "a claim, and no extended resource",
			pod:  pod().PodResourceClaims(entry).Obj(),
			node: workerNodeWithExtendedResource,
		},
		{
			name: "a claim, and the node has the resource",
			pod:  pod().PodResourceClaims(entry).Req(gpu).Obj(),
			node: workerNodeWithExtendedResource,
		},
	}
	feats := feature.Features{
		EnableDRADeviceBindingConditions:   true,
		EnableDRAExtendedResource:          true,
		EnableDRAResourceClaimDeviceStatus: true,
		EnableDRASchedulerFilterTimeout:    true,
		EnableDynamicResourceAllocation:    true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			setupMetrics(feats)
			testCtx := setup(tCtx, nil, []*v1.Node{tt.node}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClassWithExtendResourceName}, nil,
				[]apiruntime.Object{workerNodeSlice, tt.pod}, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(tt.node)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, tt.pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, testCtx.state, tt.pod, nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Reserve(tCtx, testCtx.state, tt.pod, tt.node.Name); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.PreBind(tCtx, testCtx.state, tt.pod, tt.node.Name); !s.IsSuccess() {
				t.Error(s.AsError())
			}
		})
	}
}
