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

func TestFilter_ClaimUnderTwoNames(t *testing.T) {
	entry := func(name string) v1.PodResourceClaim {
		return v1.PodResourceClaim{Name: name, ResourceClaimName: &claimName}
	}
	tests := []struct {
		name  string
		pod   *v1.Pod
		slice *resourceapi.ResourceSlice
		want  bool // whether the pod fits on the node
	}{
		{
			name:  "one name and one device",
			pod:   st.MakePod().Name(podName).Namespace(namespace).UID(podUID).PodResourceClaims(entry("a")).Obj(),
			slice: st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj(),
			want:  true,
		},
		{
			name:  "two names and two devices",
			pod:   st.MakePod().Name(podName).Namespace(namespace).UID(podUID).PodResourceClaims(entry("a"), entry("b")).Obj(),
			slice: st.MakeResourceSlice(nodeName, driver).Device("instance-1").Device("instance-2").Obj(),
			want:  true,
		},
		{
			name:  "two names and one device",
			pod:   st.MakePod().Name(podName).Namespace(namespace).UID(podUID).PodResourceClaims(entry("a"), entry("b")).Obj(),
			slice: st.MakeResourceSlice(nodeName, driver).Device("instance-1").Obj(),
			want:  true,
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
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{tt.slice}, feats, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, tt.pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, tt.pod, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
