package podtopologyspread

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

func Test_isSchedulableAfterNodeChange_NodeAffinityPolicy(t *testing.T) {
	// A pod of the app runs on node1, of zone1. The pod is for node1, too.
	node2 := func(labels map[string]string) *v1.Node {
		node := st.MakeNode().Name("node2").Obj()
		node.Labels = labels
		return node
	}
	selector := st.MakeLabelSelector().Label("app", "a").Obj()
	spread := func(minDomains *int32) *st.PodWrapper {
		return st.MakePod().Name("p").UID("p").Label("app", "a").SpreadConstraint(1, "zone", v1.DoNotSchedule, selector, minDomains, nil, nil, nil)
	}
	fast := map[string]string{"disk": "fast"}
	tests := []struct {
		name             string
		pod              *v1.Pod
		others           []*v1.Pod // that run on node2
		oldNode, newNode *v1.Node
	}{
		{
			name:    "it leaves its zone",
			pod:     spread(nil).NodeSelector(fast).Obj(),
			oldNode: node2(map[string]string{"disk": "fast", "zone": "zone2"}),
			newNode: node2(map[string]string{"disk": "fast"}),
		},
		{
			name:    "the node selector does not match any more",
			pod:     spread(nil).NodeSelector(fast).Obj(),
			oldNode: node2(map[string]string{"disk": "fast", "zone": "zone2"}),
			newNode: node2(map[string]string{"disk": "slow", "zone": "zone2"}),
		},
		{
			name:    "the node affinity does not match any more",
			pod:     spread(nil).NodeAffinityIn("disk", []string{"fast"}, st.NodeSelectorTypeMatchExpressions).Obj(),
			oldNode: node2(map[string]string{"disk": "fast", "zone": "zone2"}),
			newNode: node2(map[string]string{"zone": "zone2"}),
		},
		{
			name:    "it comes to a zone that was missing",
			pod:     spread(ptr.To[int32](2)).NodeSelector(fast).Obj(),
			others:  []*v1.Pod{st.MakePod().Name("other2").UID("other2").Label("app", "a").Node("node2").Obj()},
			oldNode: node2(map[string]string{"disk": "fast"}),
			newNode: node2(map[string]string{"disk": "fast", "zone": "zone2"}),
		},
		{
			name:    "the node selector matches now, and a zone was missing",
			pod:     spread(ptr.To[int32](2)).NodeSelector(fast).Obj(),
			others:  []*v1.Pod{st.MakePod().Name("other2").UID("other2").Label("app", "a").Node("node2").Obj()},
			oldNode: node2(map[string]string{"disk": "slow", "zone": "zone2"}),
			newNode: node2(map[string]string{"disk": "fast", "zone": "zone2"}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			var p *PodTopologySpread
			fits := func(node2 *v1.Node) bool {
				node1 := st.MakeNode().Name("node1").Label("disk", "fast").Label("zone", "zone1").Obj()
				pods := append([]*v1.Pod{st.MakePod().Name("other1").UID("other1").Label("app", "a").Node("node1").Obj()}, tt.others...)
				snapshot := cache.NewSnapshot(pods, []*v1.Node{node1, node2})
				nodes, err := snapshot.NodeInfos().List()
				if err != nil {
					t.Fatal(err)
				}
				nodeInfo, err := snapshot.Get("node1")
				if err != nil {
					t.Fatal(err)
				}
				p = plugintesting.SetupPlugin(ctx, t, topologySpreadFunc, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}, snapshot).(*PodTopologySpread)
				cs := framework.NewCycleState()
				if _, s := p.PreFilter(ctx, cs, tt.pod, nodes); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				return p.Filter(ctx, cs, tt.pod, nodeInfo).IsSuccess()
			}
			if fits(tt.oldNode) || !fits(tt.newNode) {
				t.Fatal("the change does not make the pod fit on node1")
			}
			got, err := p.isSchedulableAfterNodeChange(logger, tt.pod, tt.oldNode, tt.newNode)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
