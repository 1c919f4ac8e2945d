package noderesources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func Test_isSchedulableAfterNodeChange_IgnoredResources(t *testing.T) {
	// A pod asks for memory and for what no node declares.
	waiting := st.MakePod().Name("p").UID("p").Req(map[v1.ResourceName]string{v1.ResourceMemory: "2", "example.com/gpu": "1"}).Obj()
	node := func(capacity map[v1.ResourceName]string) *v1.Node {
		capacity[v1.ResourcePods] = "10"
		return st.MakeNode().Name("node1").Capacity(capacity).Obj()
	}
	for _, tt := range []struct {
		name     string
		args     config.NodeResourcesFitArgs
		old, new *v1.Node
	}{
		{
			name: "the node has what is asked for",
			old:  node(map[v1.ResourceName]string{v1.ResourceMemory: "1", "example.com/gpu": "1"}),
			new:  node(map[v1.ResourceName]string{v1.ResourceMemory: "2", "example.com/gpu": "1"}),
		},
		{
			name: "the resource is ignored",
			args: config.NodeResourcesFitArgs{IgnoredResources: []string{"example.com/gpu"}},
			old:  node(map[v1.ResourceName]string{v1.ResourceMemory: "1"}),
			new:  node(map[v1.ResourceName]string{v1.ResourceMemory: "2"}),
		},
		{
			name: "its group is ignored",
			args: config.NodeResourcesFitArgs{IgnoredResourceGroups: []string{"example.com"}},
			old:  node(map[v1.ResourceName]string{v1.ResourceMemory: "1"}),
			new:  node(map[v1.ResourceName]string{v1.ResourceMemory: "2"}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			tt.args.ScoringStrategy = defaultScoringStrategy
			plugin, err := NewFit(ctx, &tt.args, nil, feature.Features{})
			if err != nil {
				t.Fatal(err)
			}
			fit := plugin.(*Fit)
			fits := func(n *v1.Node) bool {
				nodeInfo := framework.NewNodeInfo()
				nodeInfo.SetNode(n)
				cs := framework.NewCycleState()
				if _, s := fit.PreFilter(ctx, cs, waiting, nil); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				return fit.Filter(ctx, cs, waiting, nodeInfo).IsSuccess()
			}
			if fits(tt.old) || !fits(tt.new) {
				t.Fatal("the change does not make the pod fit on node1")
			}
			got, err := fit.isSchedulableAfterNodeChange(logger, waiting, tt.old, tt.new)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
