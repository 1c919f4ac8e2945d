package defaultpreemption

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestSelectVictimsOnNode_MirrorPod(t *testing.T) {
	// The node has room for the preemptor and one of the two pods.
	tests := []struct {
		name        string
		annotations map[string]string // of the pod of lower priority
		wantVictims []string
	}{
		{
			name:        "pod",
			annotations: nil,
			wantVictims: []string{"low"},
		},
		{
			name:        "mirror pod",
			annotations: map[string]string{v1.MirrorPodAnnotationKey: "hash"},
			wantVictims: []string{"high"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			pods := []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("high").UID("high").Node("node1").Priority(midPriority).Req(mediumRes).Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("low").UID("low").Node("node1").Annotations(tt.annotations).Priority(lowPriority).Req(mediumRes).Obj(),
			}
			preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Priority(highPriority).Req(largeRes).Obj()
			snapshot := internalcache.NewSnapshot(pods, []*v1.Node{st.MakeNode().Name("node1").Capacity(veryLargeRes).Obj()})
			informerFactory := informers.NewSharedInformerFactory(clientsetfake.NewClientset(preemptor), 0)
			f, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterPluginAsExtensions(noderesources.Name, nodeResourcesFitFunc, "Filter", "PreFilter"),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				frameworkruntime.WithInformerFactory(informerFactory),
				frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, informerFactory)),
				frameworkruntime.WithSnapshotSharedLister(snapshot),
				frameworkruntime.WithMutableSnapshotLister(snapshot),
				frameworkruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := New(ctx, getDefaultDefaultPreemptionArgs(), f, feature.Features{})
			if err != nil {
				t.Fatal(err)
			}
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, preemptor); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			node, err := snapshot.NodeInfos().Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			possible, err := pl.Evaluator.GetVictimsOnNode(ctx, node)
			if err != nil {
				t.Fatal(err)
			}

			victims, _, status := pl.SelectVictimsOnNode(ctx, state, preemptor, node, possible, nil)
			if !status.IsSuccess() {
				t.Fatalf("unexpected status: %v", status)
			}
			var got []string
			for _, p := range victims {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(tt.wantVictims, got); diff != "" {
				t.Errorf("Unexpected victims (-want, +got):\n%s", diff)
			}
		})
	}
}
