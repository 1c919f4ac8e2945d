package defaultpreemption

import (
	"context"
	"slices"
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

// reversingExtender returns the victims of a node in the opposite order.
type reversingExtender struct {
	fwk.Extender
	node string
}

func (reversingExtender) Name() string              { return "reversingExtender" }
func (reversingExtender) IsInterested(*v1.Pod) bool { return true }
func (reversingExtender) IsIgnorable() bool         { return false }
func (reversingExtender) SupportsPreemption() bool  { return true }

func (e reversingExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	if victims := candidates[e.node]; victims != nil {
		slices.Reverse(victims.Pods)
	}
	return candidates, nil
}

func TestPreempt_ExtenderReordersVictims(t *testing.T) {
	tests := []struct {
		name     string
		reverses string
	}{
		{name: "in order of importance"},
		{name: "in the opposite order", reverses: "node1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			var nodes []*v1.Node
			for _, name := range []string{"node1", "node2"} {
				nodes = append(nodes, st.MakeNode().Name(name).Capacity(veryLargeRes).Obj())
			}
			pods := []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("a").UID("a").Node("node1").Priority(highPriority - 1).Req(mediumRes).Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("b").UID("b").Node("node1").Priority(lowPriority).Req(mediumRes).Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("c").UID("c").Node("node2").Priority(midPriority).Req(largeRes).Obj(),
			}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(veryLargeRes).Obj()
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
				frameworkruntime.WithExtenders([]fwk.Extender{reversingExtender{node: tt.reverses}}),
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
			if !status.IsSuccess() {
				t.Fatalf("unexpected status: %v", status)
			}
			if result.NominatedNodeName != "node2" {
				t.Errorf("got nominated node %q, want node2, where the highest-priority victim is lower", result.NominatedNodeName)
			}
		})
	}
}
