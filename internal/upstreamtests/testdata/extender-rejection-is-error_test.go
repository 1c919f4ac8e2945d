package defaultpreemption

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
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

// rejectingExtender lists every node as failed when it filters, which Preempt is told by the status of the node.
type rejectingExtender struct {
	fwk.Extender
}

func (rejectingExtender) Name() string              { return "rejectingExtender" }
func (rejectingExtender) IsInterested(*v1.Pod) bool { return true }
func (rejectingExtender) IsIgnorable() bool         { return false }
func (rejectingExtender) SupportsPreemption() bool  { return true }

func (e rejectingExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	return candidates, nil
}

func TestPreempt_NodeRejectedByExtenderOnly(t *testing.T) {
	tests := []struct {
		name      string
		capacity  map[v1.ResourceName]string
		nominates string
	}{
		{name: "the pod does not fit either", capacity: veryLargeRes, nominates: "node1"},
		{name: "the pod fits", capacity: map[v1.ResourceName]string{v1.ResourceCPU: "5000m", v1.ResourceMemory: "5000"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			nodes := []*v1.Node{st.MakeNode().Name("node1").Capacity(tt.capacity).Obj()}
			pods := []*v1.Pod{st.MakePod().Namespace(v1.NamespaceDefault).Name("a").UID("a").Node("node1").Priority(lowPriority).Req(largeRes).Obj()}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(largeRes).NominatedNodeName("node1").Obj()
			m := framework.NewNodeToStatus(map[string]*fwk.Status{"node1": fwk.NewStatus(fwk.Unschedulable)}, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
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
				frameworkruntime.WithExtenders([]fwk.Extender{rejectingExtender{}}),
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
			if tt.nominates != "" {
				if !status.IsSuccess() || result.NominatedNodeName != tt.nominates {
					t.Errorf("got %v, %v, want nominated node %q", result, status, tt.nominates)
				}
				return
			}
			if status.Code() != fwk.Unschedulable {
				t.Fatalf("got status %v, want Unschedulable", status)
			}
			if result == nil || result.Mode() != fwk.ModeOverride || result.NominatedNodeName != "" {
				t.Errorf("got result %v, want one that clears the nomination", result)
			}
		})
	}
}
