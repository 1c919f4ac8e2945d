package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/draoptionalnodeoperations"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestEventsToRegister_NodeForAllocatedClaim(t *testing.T) {
	tests := []struct {
		name    string
		result  resourceapi.DeviceRequestAllocationResult
		changes func(node *v1.Node)
	}{
		{
			name:    "the allocation is for a label that the node gets",
			result:  resourceapi.DeviceRequestAllocationResult{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1"},
			changes: func(node *v1.Node) { node.Labels = map[string]string{"topology": "here"} },
		},
		{
			name: "the device skips node operations, which the node comes to declare",
			result: resourceapi.DeviceRequestAllocationResult{Request: "req-1", Driver: driver, Pool: nodeName, Device: "instance-1",
				SkipNodeOperations: []resourceapi.SkipNodeOperation{resourceapi.SkipNodeOperationAll}},
			changes: func(node *v1.Node) {
				node.Labels = map[string]string{"topology": "here"} // as before
				node.Status.DeclaredFeatures = []string{draoptionalnodeoperations.DRAOptionalNodeOperationsFeatureGate}
			},
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
			claim := st.MakeResourceClaim().Name("claim").Namespace(namespace).Request(className).Obj()
			claim.Status.Allocation = &resourceapi.AllocationResult{
				Devices:      resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{tt.result}},
				NodeSelector: st.MakeNodeSelector().In("topology", []string{"here"}, st.NodeSelectorTypeMatchExpressions).Obj(),
			}
			oldNode := st.MakeNode().Name(nodeName).Obj()
			if len(tt.result.SkipNodeOperations) > 0 {
				oldNode.Labels = map[string]string{"topology": "here"}
			}
			newNode := oldNode.DeepCopy()
			tt.changes(newNode)
			testCtx := setup(tCtx, nil, []*v1.Node{oldNode}, []*resourceapi.ResourceClaim{claim}, []*resourceapi.DeviceClass{deviceClass}, nil, nil, feats, false, nil)
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).
				PodResourceClaims(v1.PodResourceClaim{Name: "claim", ResourceClaimName: &claim.Name}).Obj()
			fits := func(node *v1.Node) bool {
				nodeInfo, state := framework.NewNodeInfo(), framework.NewCycleState()
				nodeInfo.SetNode(node)
				if _, s := testCtx.p.PreFilter(tCtx, state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				return testCtx.p.Filter(tCtx, state, pod, nodeInfo).IsSuccess()
			}
			if fits(oldNode) || !fits(newNode) {
				t.Fatal("the change does not make the pod fit")
			}
			registered, err := testCtx.p.EventsToRegister(tCtx)
			if err != nil {
				t.Fatal(err)
			}
			for _, happens := range framework.NodeSchedulingPropertiesChange(newNode, oldNode) {
				for _, r := range registered {
					if framework.MatchClusterEvents(r.Event, happens) {
						return
					}
				}
			}
			t.Error("the pod fits now, and no registered event queues it")
		})
	}
}
