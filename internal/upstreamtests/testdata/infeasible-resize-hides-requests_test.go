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

func Test_isSchedulableAfterAssignedPodScaleDown_ResizePending(t *testing.T) {
	of := func(name, node, memory string) *v1.Pod {
		return st.MakePod().Name(name).UID(name).Node(node).Req(map[v1.ResourceName]string{v1.ResourceMemory: memory}).Obj()
	}
	for _, tt := range []struct{ name, reason string }{
		{"no resize", ""},
		{"the resize is deferred", v1.PodReasonDeferred},
		{"the resize is infeasible", v1.PodReasonInfeasible},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			features := feature.Features{EnableInPlacePodVerticalScaling: true}
			plugin, err := NewFit(ctx, &config.NodeResourcesFitArgs{ScoringStrategy: defaultScoringStrategy}, nil, features)
			if err != nil {
				t.Fatal(err)
			}
			fit := plugin.(*Fit)
			waiting, before, after := of("p", "", "3"), of("a", "node1", "2"), of("a", "node1", "1")
			if tt.reason != "" {
				waiting.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: tt.reason}}
			}
			fits := func(other *v1.Pod) bool {
				node := framework.NewNodeInfo(other)
				node.SetNode(st.MakeNode().Name("node1").Capacity(map[v1.ResourceName]string{v1.ResourceMemory: "4", v1.ResourcePods: "10"}).Obj())
				cs := framework.NewCycleState()
				if _, s := fit.PreFilter(ctx, cs, waiting, nil); !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				return fit.Filter(ctx, cs, waiting, node).IsSuccess()
			}
			if fits(before) || !fits(after) {
				t.Fatal("the change does not make the pod fit on node1")
			}
			got, err := fit.isSchedulableAfterAssignedPodScaleDown(logger, waiting, before, after)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
