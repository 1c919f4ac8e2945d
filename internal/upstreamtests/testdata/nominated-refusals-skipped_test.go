package interpodaffinity

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestFilter_AntiAffinityOfNominatedPod(t *testing.T) {
	shunning := func(name, node string) *st.PodWrapper {
		return st.MakePod().Namespace(v1.NamespaceDefault).Name(name).UID(name).Node(node).Priority(100).
			PodAntiAffinityExists("app", v1.LabelHostname, st.PodAntiAffinityWithRequiredReq)
	}
	tests := []struct {
		name string
		pods []*v1.Pod
	}{
		{
			name: "a pod on another node shuns the pod, too",
			pods: []*v1.Pod{shunning("running", "node2").Obj()},
		},
		{
			name: "only the nominated pod shuns the pod",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			nominated := shunning("nominated", "").NominatedNodeName("node1").Obj()
			pod := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Label("app", "a").Priority(10).Obj()
			informerFactory := informers.NewSharedInformerFactory(clientsetfake.NewClientset(nominated, pod), 0)
			queue := internalqueue.NewSchedulingQueue(nil, informerFactory)
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			snapshot := cache.NewSnapshot(tt.pods, []*v1.Node{
				st.MakeNode().Name("node1").Label(v1.LabelHostname, "node1").Obj(),
				st.MakeNode().Name("node2").Label(v1.LabelHostname, "node2").Obj(),
			})
			f, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterPluginAsExtensions(Name, schedruntime.FactoryAdapter(feature.Features{}, New), "Filter", "PreFilter"),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				schedruntime.WithInformerFactory(informerFactory),
				schedruntime.WithPodNominator(queue),
				schedruntime.WithSnapshotSharedLister(snapshot),
				schedruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			queue.Add(ctx, nominated)
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, pod); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			node1, err := snapshot.NodeInfos().Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			if status := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, node1); status.IsSuccess() {
				t.Error("the pod fits beside a nominated pod that shuns it")
			}
		})
	}
}
