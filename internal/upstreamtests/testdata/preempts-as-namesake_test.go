package defaultpreemption

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
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

func TestPreempt_LatestVersionIsAnotherPod(t *testing.T) {
	tests := []struct {
		name    string
		uid     types.UID
		victims int
	}{
		{name: "the pod is the same", uid: "p", victims: 1},
		{name: "the pod was created again", uid: "p-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			nodes := []*v1.Node{st.MakeNode().Name("node1").Capacity(veryLargeRes).Obj()}
			pods := []*v1.Pod{st.MakePod().Namespace(v1.NamespaceDefault).Name("a").UID("a").Node("node1").Priority(lowPriority).Req(veryLargeRes).Obj()}
			popped := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(largeRes).Obj()
			latest := popped.DeepCopy()
			latest.UID = tt.uid
			client := clientsetfake.NewClientset(pods[0], latest)
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
			pl, err := New(ctx, getDefaultDefaultPreemptionArgs(), f, feature.Features{})
			if err != nil {
				t.Fatal(err)
			}
			victims := 0
			pl.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				victims++
				return false, nil
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, popped); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			m := framework.NewNodeToStatus(map[string]*fwk.Status{"node1": fwk.NewStatus(fwk.Unschedulable)}, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
			if _, status := pl.Evaluator.Preempt(ctx, state, popped, m); status.Code() == fwk.Error {
				t.Fatalf("unexpected status: %v", status)
			}
			if victims != tt.victims {
				t.Errorf("got %d victims, want %d", victims, tt.victims)
			}
		})
	}
}
