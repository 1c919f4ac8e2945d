package defaultpreemption

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
	"k8s.io/utils/ptr"
)

func TestSelectVictimsOnNode_SharedVolumes(t *testing.T) {
	const driver = "csi.example.com"
	// The node has three volumes attached, two of which the preemptor mounts, too.
	// For room, only the pod called large has to go.
	tests := []struct {
		name    string
		limit   int32
		sharing int32 // the priority of the pod that shares volumes with the preemptor
	}{
		{
			name:    "the node takes three volumes",
			limit:   3,
			sharing: lowPriority,
		},
		{
			name:    "the node takes two, the pod that shares volumes is tried first",
			limit:   2,
			sharing: midPriority + 1,
		},
		{
			name:    "the node takes two, the pod that shares volumes is tried last",
			limit:   2,
			sharing: lowPriority,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			pod := func(name string, priority int32) *st.PodWrapper {
				return st.MakePod().Namespace(v1.NamespaceDefault).Name(name).UID(name).Priority(priority)
			}
			pods := []*v1.Pod{
				pod("large", lowPriority).Node("node1").Req(veryLargeRes).Obj(),
				pod("alone", midPriority).Node("node1").PVC("alone").Obj(),
				pod("sharing", tt.sharing).Node("node1").PVC("shared1").PVC("shared2").Obj(),
			}
			preemptor := pod("p", highPriority).Req(veryLargeRes).PVC("shared1").PVC("shared2").Obj()
			objects := []runtime.Object{preemptor, st.MakeCSINode().Name("node1").Driver(storagev1.CSINodeDriver{
				Name: driver, NodeID: "node1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(tt.limit)},
			}).Obj()}
			for _, name := range []string{"alone", "shared1", "shared2"} {
				source := &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
				objects = append(objects,
					st.MakePersistentVolume().Name(name).PersistentVolumeSource(v1.PersistentVolumeSource{CSI: source}).Obj(),
					st.MakePersistentVolumeClaim().Namespace(v1.NamespaceDefault).Name(name).VolumeName(name).Obj())
			}
			snapshot := internalcache.NewSnapshot(pods, []*v1.Node{st.MakeNode().Name("node1").Capacity(veryLargeRes).Obj()})
			informerFactory := informers.NewSharedInformerFactory(clientsetfake.NewClientset(objects...), 0)
			f, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterPluginAsExtensions(noderesources.Name, nodeResourcesFitFunc, "Filter", "PreFilter"),
					tf.RegisterPluginAsExtensions(nodevolumelimits.CSIName,
						frameworkruntime.FactoryAdapter(feature.Features{}, nodevolumelimits.NewCSI), "Filter", "PreFilter"),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				frameworkruntime.WithInformerFactory(informerFactory),
				frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, informerFactory)),
				frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(informerFactory.Storage().V1().CSINodes().Lister())),
				frameworkruntime.WithSnapshotSharedLister(snapshot),
				frameworkruntime.WithMutableSnapshotLister(snapshot),
				frameworkruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
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
			if diff := cmp.Diff([]string{"large"}, got); diff != "" {
				t.Errorf("Unexpected victims (-want, +got):\n%s", diff)
			}
		})
	}
}
