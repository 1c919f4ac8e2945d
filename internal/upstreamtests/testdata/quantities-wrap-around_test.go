package noderesources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestFits_QuantityBeyondInt64(t *testing.T) {
	tests := []struct {
		name    string
		running string // memory
		request map[v1.ResourceName]string
	}{
		{
			name:    "memory within 64 bits",
			request: map[v1.ResourceName]string{v1.ResourceMemory: "9E"},
		},
		{
			name:    "memory beyond 64 bits",
			request: map[v1.ResourceName]string{v1.ResourceMemory: "10E"},
		},
		{
			name:    "memory beyond 64 bits, in 19 digits",
			request: map[v1.ResourceName]string{v1.ResourceMemory: "9300000000000000001"},
		},
		{
			name:    "milliCPU beyond 64 bits",
			request: map[v1.ResourceName]string{v1.ResourceCPU: "10P"},
		},
		{
			name:    "a pod on the node is beyond 64 bits",
			running: "9300000000000000001",
			request: map[v1.ResourceName]string{v1.ResourceMemory: "4Gi"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			node := st.MakeNode().Name("node1").Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "4", v1.ResourceMemory: "4Gi"}).Obj()
			nodeInfo := framework.NewNodeInfo()
			if tt.running != "" {
				nodeInfo = framework.NewNodeInfo(st.MakePod().Name("running").UID("running").Node("node1").Req(map[v1.ResourceName]string{v1.ResourceMemory: tt.running}).Obj())
			}
			nodeInfo.SetNode(node)
			pod := st.MakePod().Name("p").UID("p").Req(tt.request).Obj()
			if len(Fits(pod, nodeInfo, nil, ResourceRequestsOptions{})) == 0 {
				t.Errorf("the pod fits a node with 4 CPUs and 4Gi: want insufficient resources")
			}
		})
	}
}
