package defaultpreemption

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestPreempt_PercentageOfClusterSize(t *testing.T) {
	tests := []struct {
		name       string
		percentage int32
	}{
		{
			name:       "all nodes",
			percentage: 100,
		},
		{
			name:       "two of five nodes",
			percentage: 40,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			var nodes []*v1.Node
			for _, name := range []string{"node1", "node2", "node3", "node4", "node5"} {
				nodes = append(nodes, st.MakeNode().Name(name).Capacity(veryLargeRes).Obj())
			}
			pods := []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("dear").UID("dear").Node("node1").Priority(midPriority).Req(largeRes).Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("cheap").UID("cheap").Node("node2").Priority(lowPriority).Req(largeRes).Obj(),
			}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(largeRes).Obj()
			// Preemption helps on two of the five nodes.
			m := framework.NewNodeToStatus(map[string]*fwk.Status{
				"node1": fwk.NewStatus(fwk.Unschedulable),
				"node2": fwk.NewStatus(fwk.Unschedulable),
			}, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))

			var objs []runtime.Object
			for _, p := range append(pods, preemptor) {
				objs = append(objs, p)
			}
			client := clientsetfake.NewClientset(objs...)
			informerFactory := informers.NewSharedInformerFactory(client, 0)
			snapshot := internalcache.NewSnapshot(pods, nodes)
			f, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterPluginAsExtensions(noderesources.Name, nodeResourcesFitFunc, "Filter", "PreFilter"),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				frameworkruntime.WithClientSet(client),
				frameworkruntime.WithInformerFactory(informerFactory),
				frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, informerFactory)),
				frameworkruntime.WithSnapshotSharedLister(snapshot),
				frameworkruntime.WithMutableSnapshotLister(snapshot),
				frameworkruntime.WithParallelism(1),
				frameworkruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := New(ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: tt.percentage, MinCandidateNodesAbsolute: 1}, f, feature.Features{})
			if err != nil {
				t.Fatal(err)
			}
			pl.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				return false, nil
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, preemptor); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			// The nodes are tried in random order, from a random one on.
			for range 64 {
				result, status := pl.Evaluator.Preempt(ctx, state, preemptor, m)
				if !status.IsSuccess() {
					t.Fatalf("unexpected status: %v", status)
				}
				if result.NominatedNodeName != "node2" {
					t.Fatalf("got nominated node %q, want node2, where the victim has a lower priority", result.NominatedNodeName)
				}
			}
		})
	}
}
