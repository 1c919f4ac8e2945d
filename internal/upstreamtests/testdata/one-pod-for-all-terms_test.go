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

func TestRequiredAffinity_TermsMetByDifferentPods(t *testing.T) {
	tests := []struct {
		name string
		pods []*v1.Pod
	}{
		{
			name: "one pod meets both terms",
			pods: []*v1.Pod{st.MakePod().Name("ab").Node("node1").Labels(map[string]string{"a": "1", "b": "1"}).Obj()},
		},
		{
			name: "each term is met by another pod",
			pods: []*v1.Pod{
				st.MakePod().Name("a").Node("node1").Label("a", "1").Obj(),
				st.MakePod().Name("b").Node("node1").Label("b", "1").Obj(),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			pod := st.MakePod().Name("p").
				PodAffinityExists("a", v1.LabelHostname, st.PodAffinityWithRequiredReq).
				PodAffinityExists("b", v1.LabelHostname, st.PodAffinityWithRequiredReq).Obj()
			snapshot := cache.NewSnapshot(tt.pods, []*v1.Node{st.MakeNode().Name("node1").Label(v1.LabelHostname, "node1").Obj()})
			nodes, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			pl := plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(feature.Features{}, New), &config.InterPodAffinityArgs{}, snapshot, nil)
			state := framework.NewCycleState()
			if _, status := pl.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			if status := pl.(fwk.FilterPlugin).Filter(ctx, state, pod, nodes[0]); !status.IsSuccess() {
				t.Errorf("the node is rejected: %v", status.Message())
			}
		})
	}
}
