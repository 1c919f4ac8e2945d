package scheduler

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestFindNodesThatFitPod_ExtenderRejectsTheFirstNodes(t *testing.T) {
	tests := []struct {
		name  string
		nodes int
	}{
		{name: "as many nodes as are enough", nodes: minFeasibleNodesToFind},
		{name: "one node more", nodes: minFeasibleNodesToFind + 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			var names []string
			for i := range tt.nodes {
				names = append(names, fmt.Sprintf("node%d", i+1))
			}
			last := names[len(names)-1]
			scheduler := makeScheduler(ctx, makeNodeList(names))
			onlyLast := func(_ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
				if node.Node().Name != last {
					return fwk.NewStatus(fwk.Unschedulable)
				}
				return nil
			}
			scheduler.Extenders = []fwk.Extender{&tf.FakeExtender{Predicates: []tf.FitPredicate{onlyLast}}}
			schedFramework, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterFilterPlugin("TrueFilter", tf.NewTrueFilterPlugin),
					tf.RegisterScorePlugin("EqualPrioritizerPlugin", tf.NewEqualPrioritizerPlugin(), 1),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				frameworkruntime.WithPodNominator(internalqueue.NewTestQueue(ctx, nil)),
				frameworkruntime.WithSnapshotSharedLister(scheduler.nodeInfoSnapshot),
				frameworkruntime.WithParallelism(1),
			)
			if err != nil {
				t.Fatal(err)
			}
			podInfo := queuedPodInfoForPod(st.MakePod().Name("p").UID("p").Obj())
			nodes, _, _, err := scheduler.findNodesThatFitPod(ctx, schedFramework, framework.NewCycleState(), podInfo)
			if err != nil {
				t.Fatal(err)
			}
			if len(nodes) != 1 || nodes[0].Node().Name != last {
				t.Errorf("got %d feasible nodes, want %s", len(nodes), last)
			}
		})
	}
}
