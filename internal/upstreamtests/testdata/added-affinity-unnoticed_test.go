package nodeaffinity

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func Test_isSchedulableAfterNodeChange_AddedAffinity(t *testing.T) {
	// The profile has pods go to nodes of the team shop only.
	args := &config.NodeAffinityArgs{AddedAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "team", Operator: v1.NodeSelectorOpIn, Values: []string{"shop"}}}}},
	}}}
	fast := map[string]string{"disk": "fast"}
	tests := []struct {
		name             string
		pod              *v1.Pod
		oldNode, newNode *v1.Node
	}{
		{
			name:    "the node comes to have all that the pod and its profile ask for",
			pod:     st.MakePod().Name("p").NodeSelector(fast).Obj(),
			oldNode: st.MakeNode().Name("node").Obj(),
			newNode: st.MakeNode().Name("node").Label("team", "shop").Label("disk", "fast").Obj(),
		},
		{
			name:    "the pod asks for nothing",
			pod:     st.MakePod().Name("p").Obj(),
			oldNode: st.MakeNode().Name("node").Obj(),
			newNode: st.MakeNode().Name("node").Label("team", "shop").Obj(),
		},
		{
			name:    "the pod asks for a label that the node has",
			pod:     st.MakePod().Name("p").NodeSelector(fast).Obj(),
			oldNode: st.MakeNode().Name("node").Label("disk", "fast").Obj(),
			newNode: st.MakeNode().Name("node").Label("disk", "fast").Label("team", "shop").Obj(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			plugin, err := New(ctx, args, nil, feature.Features{})
			if err != nil {
				t.Fatal(err)
			}
			p := plugin.(*NodeAffinity)
			fits := func(node *v1.Node) bool {
				cs, nodeInfo := framework.NewCycleState(), framework.NewNodeInfo()
				nodeInfo.SetNode(node)
				if _, s := p.PreFilter(ctx, cs, tt.pod, nil); !s.IsSuccess() && !s.IsSkip() {
					t.Fatal(s.AsError())
				}
				return p.Filter(ctx, cs, tt.pod, nodeInfo).IsSuccess()
			}
			if fits(tt.oldNode) || !fits(tt.newNode) {
				t.Fatal("the change does not make the pod fit")
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
