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

// nominatedTo knows of one nominated pod.
type nominatedTo struct {
	fwk.PodNominator
	pod fwk.PodInfo
}

func (n nominatedTo) NominatedPodsForNode(string) []fwk.PodInfo { return []fwk.PodInfo{n.pod} }

func TestPreempt_PriorityOfPodGroupKeepsRoom(t *testing.T) {
	tests := []struct {
		name     string
		priority int32 // of the nominated pod itself; that of its group is high
	}{
		{name: "the pod has the priority of its group", priority: highPriority},
		{name: "the pod has a lower priority than its group", priority: lowPriority},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			nodes := []*v1.Node{st.MakeNode().Name("node1").Capacity(mediumRes).Obj()}
			group := st.MakePodGroup().Namespace(v1.NamespaceDefault).Name("pg").UID("pg").DisruptionModeSingle().Priority(highPriority).Obj()
			pods := []*v1.Pod{st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").Node("node1").Priority(lowPriority).Req(mediumRes).Obj()}
			member := st.MakePod().Namespace(v1.NamespaceDefault).Name("member").UID("member").NominatedNodeName("node1").PodGroupName("pg").Priority(tt.priority).Req(mediumRes).Obj()
			nominated, err := framework.NewPodInfo(member)
			if err != nil {
				t.Fatal(err)
			}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(midPriority).Req(mediumRes).Obj()
			m := framework.NewNodeToStatus(map[string]*fwk.Status{"node1": fwk.NewStatus(fwk.Unschedulable)}, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
			objs := []runtime.Object{preemptor, member, group}
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
				frameworkruntime.WithPodNominator(nominatedTo{internalqueue.NewSchedulingQueue(nil, informerFactory), nominated}),
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
			if status.Code() != fwk.Unschedulable {
				t.Errorf("got %v, %v, want Unschedulable, as the room is kept for the pod of the group", result, status)
			}
		})
	}
}
