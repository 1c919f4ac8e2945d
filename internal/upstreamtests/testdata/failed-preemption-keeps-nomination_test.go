package preemption

import (
	"context"
	"errors"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2/ktesting"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

// KEP-4832: if the preemption goroutine fails, it reverts the nomination.
func TestPrepareCandidateAsync_FailureRevertsNomination(t *testing.T) {
	tests := []struct {
		name       string
		fails      string
		wantOnNode int
	}{
		{name: "nothing fails", wantOnNode: 1},
		{name: "the condition", fails: "patch"},
		{name: "the deletion", fails: "delete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			preemptor := st.MakePod().Name("p").UID("p").Namespace(v1.NamespaceDefault).SchedulerName("sched").Priority(100).Obj()
			victim := st.MakePod().Name("v").UID("v").Namespace(v1.NamespaceDefault).SchedulerName("sched").Node("node1").Priority(1).Obj()
			cs := clientsetfake.NewClientset(preemptor, victim)
			if tt.fails != "" {
				cs.PrependReactor(tt.fails, "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, errors.New("the API server is gone")
				})
			}
			informerFactory := informers.NewSharedInformerFactory(cs, 0)
			queue := internalqueue.NewSchedulingQueue(nil, informerFactory)
			broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: cs.EventsV1()})
			fw, err := tf.NewFramework(ctx, []tf.RegisterPluginFunc{
				tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
				tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
			}, "",
				frameworkruntime.WithClientSet(cs),
				frameworkruntime.WithLogger(logger),
				frameworkruntime.WithInformerFactory(informerFactory),
				frameworkruntime.WithPodNominator(queue),
				frameworkruntime.WithPodActivator(queue),
				frameworkruntime.WithEventRecorder(broadcaster.NewRecorder(scheme.Scheme, "sched")),
				frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
				frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
				frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot([]*v1.Pod{victim}, []*v1.Node{st.MakeNode().Name("node1").Obj()})),
			)
			if err != nil {
				t.Fatal(err)
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())

			// The scheduling cycle nominates the preemptor.
			info, err := framework.NewPodInfo(preemptor)
			if err != nil {
				t.Fatal(err)
			}
			queue.AddNominatedPod(logger, info, &fwk.NominatingInfo{NominatedNodeName: "node1", NominatingMode: fwk.ModeOverride})
			executor := NewExecutor(fw, feature.Features{EnableAsyncPreemption: true})
			executor.prepareCandidateAsync(&candidate{name: "node1", victims: &extenderv1.Victims{Pods: []*v1.Pod{victim}}},
				&podExecutorPreemptor{Pod: preemptor}, "test-plugin")

			onNode := func() int { return len(queue.NominatedPodsForNode("node1")) }
			err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 5*time.Second, false, func(context.Context) (bool, error) {
				return !executor.IsPodRunningPreemption(preemptor.UID) && onNode() == tt.wantOnNode, nil
			})
			if err != nil {
				t.Errorf("got %d pods nominated to the node, want %d", onNode(), tt.wantOnNode)
			}
		})
	}
}
