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

func TestFilter_NodesOfOneHostName(t *testing.T) {
	labelled := func() *st.PodWrapper { return st.MakePod().Name("p").Label("app", "a") }
	shunning := func() *st.PodWrapper {
		return st.MakePod().Name("p").PodAntiAffinityExists("app", v1.LabelHostname, st.PodAntiAffinityWithRequiredReq)
	}
	tests := []struct {
		name     string
		pod      *st.PodWrapper
		existing *st.PodWrapper
		slowPath bool
		wantFits bool
	}{
		{
			name:     "a pod on the other node shuns the pod, without the fast path",
			pod:      labelled(),
			existing: shunning(),
			slowPath: true,
		},
		{
			name:     "a pod on the other node shuns the pod",
			pod:      labelled(),
			existing: shunning(),
		},
		{
			name:     "the pod shuns one on the other node",
			pod:      shunning(),
			existing: labelled(),
		},
		{
			name:     "the pod wants to be near one on the other node",
			pod:      st.MakePod().Name("p").PodAffinityExists("app", v1.LabelHostname, st.PodAffinityWithRequiredReq),
			existing: labelled(),
			wantFits: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			snapshot := cache.NewSnapshot([]*v1.Pod{tt.existing.Node("node1").Obj()}, []*v1.Node{
				st.MakeNode().Name("node1").Label(v1.LabelHostname, "host").Obj(),
				st.MakeNode().Name("node2").Label(v1.LabelHostname, "host").Obj(),
			})
			nodes, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			node2, err := snapshot.NodeInfos().Get("node2")
			if err != nil {
				t.Fatal(err)
			}
			features := feature.Features{EnableInterPodAffinityHostnameFastPath: !tt.slowPath}
			pl := plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(features, New), &config.InterPodAffinityArgs{}, snapshot, nil)
			state := framework.NewCycleState()
			_, status := pl.(fwk.PreFilterPlugin).PreFilter(ctx, state, tt.pod.Obj(), nodes)
			if status.IsSuccess() {
				status = pl.(fwk.FilterPlugin).Filter(ctx, state, tt.pod.Obj(), node2)
			}
			if fits := status.IsSuccess() || status.IsSkip(); fits != tt.wantFits {
				t.Errorf("the pod fits: got %t, want %t", fits, tt.wantFits)
			}
		})
	}
}
