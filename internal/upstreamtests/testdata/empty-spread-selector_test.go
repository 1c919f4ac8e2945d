package podtopologyspread

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestFilter_EmptySelector(t *testing.T) {
	tests := []struct {
		name     string
		selector *metav1.LabelSelector
		want     bool // whether the pod fits where one more pod is than elsewhere
	}{
		{
			name:     "no selector matches no pod",
			selector: nil,
			want:     true,
		},
		{
			name:     "selector of the pod's label",
			selector: st.MakeLabelSelector().Label("app", "a").Obj(),
			want:     false,
		},
		{
			name:     "empty selector",
			selector: &metav1.LabelSelector{},
			want:     false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			nodes := []*v1.Node{
				st.MakeNode().Name("node1").Label("zone", "zone1").Obj(),
				st.MakeNode().Name("node2").Label("zone", "zone2").Obj(),
			}
			pods := []*v1.Pod{st.MakePod().Name("there").UID("there").Label("app", "a").Node("node1").Obj()}
			pod := st.MakePod().Name("p").Label("app", "a").SpreadConstraint(1, "zone", v1.DoNotSchedule, tt.selector, nil, nil, nil, nil).Obj()
			snapshot := cache.NewSnapshot(pods, nodes)
			p := plugintesting.SetupPlugin(ctx, t, topologySpreadFunc, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}, snapshot).(*PodTopologySpread)
			nodeInfos, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			cs := framework.NewCycleState()
			if _, s := p.PreFilter(ctx, cs, pod, nodeInfos); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			nodeInfo, err := snapshot.Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Filter(ctx, cs, pod, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the preemptor fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
