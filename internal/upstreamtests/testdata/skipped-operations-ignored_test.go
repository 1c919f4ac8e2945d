package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/draoptionalnodeoperations"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestFilter_DeviceThatSkipsNodeOperations(t *testing.T) {
	tests := []struct {
		name           string
		gate, declared bool
		want           bool // whether the pod fits on the node
	}{
		{name: "the gate is on, and the node declares it", gate: true, declared: true, want: true},
		{name: "the gate is on, and the node does not declare it", gate: true, want: false},
		{name: "the gate is off", want: false},
		{name: "the gate is off, and the node still declares it", declared: true, want: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			feats := feature.Features{
				EnableDRADeviceBindingConditions:   true,
				EnableDRAOptionalNodeOperations:    tt.gate,
				EnableDRAResourceClaimDeviceStatus: true,
				EnableDRASchedulerFilterTimeout:    true,
				EnableDynamicResourceAllocation:    true,
			}
			node := workerNode.DeepCopy()
			if tt.declared {
				node.Status.DeclaredFeatures = []string{draoptionalnodeoperations.DRAOptionalNodeOperationsFeatureGate}
			}
			slice := st.MakeResourceSlice(nodeName, driver).Device("instance-1").SkipNodeOperations(resourceapi.SkipNodeOperationAll).Obj()
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			testCtx := setup(tCtx, nil, []*v1.Node{node}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClass}, nil,
				[]apiruntime.Object{slice}, feats, false, nil)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).
				PodResourceClaims(v1.PodResourceClaim{Name: "claim", ResourceClaimName: &claim.Name}).Obj()
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(node)
			if _, s := testCtx.p.PreFilter(tCtx, testCtx.state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := testCtx.p.Filter(tCtx, testCtx.state, pod, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
