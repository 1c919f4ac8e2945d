package podtopologyspread

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestRemovePod_Terminating(t *testing.T) {
	tests := []struct {
		name    string
		removed *v1.Pod
		want    bool // whether the preemptor fits once the pod is removed
	}{
		{
			name:    "running pod, which counts",
			removed: st.MakePod().Name("removed").UID("removed").Label("app", "a").Node("node1").Obj(),
			want:    true,
		},
		{
			name:    "terminating pod of another app, which does not count",
			removed: st.MakePod().Name("removed").UID("removed").Label("app", "b").Node("node1").Terminating().Obj(),
			want:    false,
		},
		{
			name:    "terminating pod",
			removed: st.MakePod().Name("removed").UID("removed").Label("app", "a").Node("node1").Terminating().Obj(),
			want:    false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			nodes := []*v1.Node{
				st.MakeNode().Name("node1").Label("zone", "zone1").Obj(),
				st.MakeNode().Name("node2").Label("zone", "zone2").Obj(),
			}
			// One pod of zone1 counts, and none of zone2.
			pods := []*v1.Pod{tt.removed}
			if !tt.want {
				pods = append(pods, st.MakePod().Name("stays").UID("stays").Label("app", "a").Node("node1").Obj())
			}
			preemptor := st.MakePod().Name("p").Label("app", "a").
				SpreadConstraint(1, "zone", v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "a").Obj(), nil, nil, nil, nil).Obj()
			snapshot := cache.NewSnapshot(pods, nodes)
			p := plugintesting.SetupPlugin(ctx, t, topologySpreadFunc, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}, snapshot).(*PodTopologySpread)
			nodeInfos, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			cs := framework.NewCycleState()
			if _, s := p.PreFilter(ctx, cs, preemptor, nodeInfos); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			nodeInfo, err := snapshot.Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			if s := p.Filter(ctx, cs, preemptor, nodeInfo); s.IsSuccess() {
				t.Error("the preemptor fits before the pod is removed")
			}
			if s := p.RemovePod(ctx, cs, preemptor, mustNewPodInfo(t, tt.removed), nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := p.Filter(ctx, cs, preemptor, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the preemptor fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
