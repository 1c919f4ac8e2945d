package interpodaffinity

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestRequiredAffinity_FirstOfGroup(t *testing.T) {
	tests := []struct {
		name     string
		nodes    map[string]string // labels of the node on which the group's first pod runs
		fastPath bool
	}{
		{
			name:  "the first pod runs on another node",
			nodes: map[string]string{v1.LabelHostname: "node1"},
		},
		{
			name: "the first pod runs on a node without the label",
		},
		{
			name:     "the first pod runs on a node without the label, fast path",
			fastPath: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			first := st.MakePod().Name("first").Node("node1").Label("app", "a").Obj()
			pod := st.MakePod().Name("p").Label("app", "a").PodAffinityExists("app", v1.LabelHostname, st.PodAffinityWithRequiredReq).Obj()
			node1 := st.MakeNode().Name("node1").Obj()
			node1.Labels = tt.nodes
			snapshot := cache.NewSnapshot([]*v1.Pod{first}, []*v1.Node{node1, st.MakeNode().Name("node2").Label(v1.LabelHostname, "node2").Obj()})
			nodes, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			pl := plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(feature.Features{EnableInterPodAffinityHostnameFastPath: tt.fastPath}, New), &config.InterPodAffinityArgs{}, snapshot, nil)
			state := framework.NewCycleState()
			if _, status := pl.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			node2, err := snapshot.NodeInfos().Get("node2")
			if err != nil {
				t.Fatal(err)
			}
			if status := pl.(fwk.FilterPlugin).Filter(ctx, state, pod, node2); status.IsSuccess() {
				t.Error("the pod is taken for the first of its group")
			}
		})
	}
}
