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

func Test_isSchedulableAfterAssignedPodChange_OneOfTwoAntiAffinityTerms(t *testing.T) {
	// Both nodes are of one region. The other pod, which runs on node1, loses the label a. The pod is for node2.
	tests := []struct {
		name   string
		pod    *v1.Pod
		labels map[string]string // of the other pod, that it keeps
	}{
		{
			name: "one term, for the region",
			pod:  st.MakePod().Name("p").UID("p").PodAntiAffinityExists("a", "region", st.PodAntiAffinityWithRequiredReq).Obj(),
		},
		{
			name: "a second term, for the host, that the pod leaves too",
			pod: st.MakePod().Name("p").UID("p").PodAntiAffinityExists("a", "region", st.PodAntiAffinityWithRequiredReq).
				PodAntiAffinityExists("a", v1.LabelHostname, st.PodAntiAffinityWithRequiredReq).Obj(),
		},
		{
			name: "a second term, for the host, in which the pod stays",
			pod: st.MakePod().Name("p").UID("p").PodAntiAffinityExists("a", "region", st.PodAntiAffinityWithRequiredReq).
				PodAntiAffinityExists("b", v1.LabelHostname, st.PodAntiAffinityWithRequiredReq).Obj(),
			labels: map[string]string{"b": "1"},
		},
		{
			name: "a second term, for zones that the nodes do not have, in which the pod stays",
			pod: st.MakePod().Name("p").UID("p").PodAntiAffinityExists("a", "region", st.PodAntiAffinityWithRequiredReq).
				PodAntiAffinityExists("b", "zone", st.PodAntiAffinityWithRequiredReq).Obj(),
			labels: map[string]string{"b": "1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			newPod := st.MakePod().Name("other").UID("other").Node("node1").Labels(tt.labels).Obj()
			oldPod := st.MakePod().Name("other").UID("other").Node("node1").Labels(tt.labels).Label("a", "1").Obj()
			var p *InterPodAffinity
			fits := func(other *v1.Pod) bool {
				snapshot := cache.NewSnapshot([]*v1.Pod{other}, []*v1.Node{
					st.MakeNode().Name("node1").Label("region", "r").Label(v1.LabelHostname, "node1").Obj(),
					st.MakeNode().Name("node2").Label("region", "r").Label(v1.LabelHostname, "node2").Obj(),
				})
				nodes, err := snapshot.NodeInfos().List()
				if err != nil {
					t.Fatal(err)
				}
				node2, err := snapshot.Get("node2")
				if err != nil {
					t.Fatal(err)
				}
				p = plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(feature.Features{}, New), &config.InterPodAffinityArgs{}, snapshot, nil).(*InterPodAffinity)
				cs := framework.NewCycleState()
				if _, s := p.PreFilter(ctx, cs, tt.pod, nodes); !s.IsSuccess() {
					t.Fatalf("unexpected PreFilter status: %v", s)
				}
				return p.Filter(ctx, cs, tt.pod, node2).IsSuccess()
			}
			if fits(oldPod) || !fits(newPod) {
				t.Fatal("the change does not make the pod fit on node2")
			}
			got, err := p.isSchedulableAfterAssignedPodChange(logger, tt.pod, oldPod, newPod)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
