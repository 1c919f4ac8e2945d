package preemption

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2/ktesting"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestActuatePodPreemption_ClearsLowerNominations(t *testing.T) {
	tests := []struct {
		name   string
		victim *v1.Pod
		async  bool
	}{
		{
			name:   "sync, running victim",
			victim: st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").Node("node1").Priority(lowPriority).Obj(),
		},
		{
			name:   "sync, terminating victim",
			victim: st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").Node("node1").Priority(lowPriority).Terminating().Obj(),
		},
		{
			name:   "async, running victim",
			victim: st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").Node("node1").Priority(lowPriority).Obj(),
			async:  true,
		},
		{
			name:   "async, terminating victim",
			victim: st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").Node("node1").Priority(lowPriority).Terminating().Obj(),
			async:  true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			waiting := st.MakePod().Namespace(v1.NamespaceDefault).Name("waiting").UID("waiting").Priority(midPriority).NominatedNodeName("node1").Obj()
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Obj()
			cs := clientsetfake.NewClientset(tt.victim, waiting)
			cleared := make(chan struct{})
			cs.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if action.(clienttesting.PatchAction).GetName() == waiting.Name {
					close(cleared)
				}
				return true, nil, nil
			})
			informerFactory := informers.NewSharedInformerFactory(cs, 0)
			queue := internalqueue.NewTestQueueWithInformerFactory(ctx, nil, informerFactory)
			queue.Add(ctx, waiting)
			fh, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				frameworkruntime.WithClientSet(cs),
				frameworkruntime.WithLogger(logger),
				frameworkruntime.WithInformerFactory(informerFactory),
				frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
				frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
				frameworkruntime.WithPodNominator(queue),
				frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
			)
			if err != nil {
				t.Fatal(err)
			}

			executor := NewExecutor(fh, feature.Features{EnableAsyncPreemption: tt.async})
			c := &candidate{name: "node1", victims: &extenderv1.Victims{Pods: []*v1.Pod{tt.victim}}}
			if status := executor.actuatePodPreemption(ctx, c, preemptor, "test-plugin"); !status.IsSuccess() {
				t.Fatalf("unexpected status: %v", status)
			}
			if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 5*time.Second, true, func(context.Context) (bool, error) {
				select {
				case <-cleared:
					return true, nil
				default:
					return false, nil
				}
			}); err != nil {
				t.Errorf("the nomination of pod %q to node1 was not cleared", waiting.Name)
			}
		})
	}
}
