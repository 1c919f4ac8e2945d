package defaultpreemption

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
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

func TestPreempt_PodGroupMemberOnDeletedNode(t *testing.T) {
	tests := []struct {
		name string
		node string // that of a pod of the group that goes with the one on node1
	}{
		{name: "the node exists", node: "node2"},
		{name: "the node has been deleted", node: "deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			var nodes []*v1.Node
			for _, name := range []string{"node1", "node2"} {
				nodes = append(nodes, st.MakeNode().Name(name).Capacity(mediumRes).Obj())
			}
			group := st.MakePodGroup().Namespace(v1.NamespaceDefault).Name("pg").UID("pg").DisruptionModeAll().Priority(lowPriority).Obj()
			pods := []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("near").UID("near").Node("node1").PodGroupName("pg").Priority(lowPriority).Req(mediumRes).Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("far").UID("far").Node(tt.node).PodGroupName("pg").Priority(lowPriority).Req(mediumRes).Obj(),
			}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(mediumRes).Obj()
			m := framework.NewNodeToStatus(map[string]*fwk.Status{
				"node1": fwk.NewStatus(fwk.Unschedulable),
			}, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
			objs := []runtime.Object{preemptor, group}
			for _, p := range pods {
				objs = append(objs, p)
			}
			client := clientsetfake.NewClientset(objs...)
			informerFactory := informers.NewSharedInformerFactory(client, 0)
			snapshot := internalcache.NewTestSnapshotWithPodGroups(pods, nodes, []*schedulingv1beta1.PodGroup{group})
			cache := internalcache.New(ctx, nil, true, false)
			cache.AddPodGroup(group)
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
				frameworkruntime.WithPodGroupManager(cache),
				frameworkruntime.WithParallelism(1),
				frameworkruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := New(ctx, getDefaultDefaultPreemptionArgs(), f, feature.Features{EnableGenericWorkload: true})
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
			result, status := pl.Evaluator.Preempt(ctx, state, preemptor, m)
			if !status.IsSuccess() || result.NominatedNodeName != "node1" {
				t.Errorf("got %v, %v, want nominated node node1", result, status)
			}
		})
	}
}
