package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
)

func TestCSILimits_VolumeOfRemovedPodIsDetached(t *testing.T) {
	metrics.Register()
	const driver = "csi.example.com"
	victim := st.MakePod().Namespace(v1.NamespaceDefault).Name("victim").UID("victim").PVC("victim").Node("node1").Obj()
	sharing := st.MakePod().Namespace(v1.NamespaceDefault).Name("sharing").UID("sharing").PVC("victim").Node("node1").Obj()
	preemptor := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").PVC("p").Obj()
	tests := []struct {
		name     string
		pods     []*v1.Pod
		attached []string // to the node, which takes one volume
		want     bool     // whether the preemptor fits once the victim is removed
	}{
		{
			name: "nothing is attached yet",
			pods: []*v1.Pod{victim},
			want: true,
		},
		{
			name:     "a volume that no pod mounts is attached",
			pods:     []*v1.Pod{victim},
			attached: []string{"stray"},
			want:     false,
		},
		{
			name:     "the victim's volume is attached, and another pod mounts it",
			pods:     []*v1.Pod{victim, sharing},
			attached: []string{"victim"},
			want:     false,
		},
		{
			name:     "the victim's volume is attached",
			pods:     []*v1.Pod{victim},
			attached: []string{"victim"},
			want:     true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			var objects []runtime.Object
			for _, name := range []string{"victim", "stray", "p"} {
				source := &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
				objects = append(objects,
					st.MakePersistentVolume().Name(name).PersistentVolumeSource(v1.PersistentVolumeSource{CSI: source}).Obj(),
					st.MakePersistentVolumeClaim().Namespace(v1.NamespaceDefault).Name(name).VolumeName(name).Obj())
			}
			for _, name := range tt.attached {
				objects = append(objects, st.MakeVolumeAttachment().Name(name).NodeName("node1").Attacher(driver).
					Source(storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To(name)}).Attached(true).Obj())
			}
			informerFactory := informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
			csiNode := st.MakeCSINode().Name("node1").Driver(storagev1.CSINodeDriver{
				Name: driver, NodeID: "node1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](1)},
			}).Obj()
			snapshot := cache.NewSnapshot(tt.pods, []*v1.Node{st.MakeNode().Name("node1").Obj()})
			f, err := tf.NewFramework(ctx,
				[]tf.RegisterPluginFunc{
					tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
					tf.RegisterPluginAsExtensions(CSIName, schedruntime.FactoryAdapter(feature.Features{}, NewCSI), "Filter", "PreFilter"),
					tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
				}, "",
				schedruntime.WithInformerFactory(informerFactory),
				schedruntime.WithSharedCSIManager(NewCSIManager(getFakeCSINodeLister(csiNode))),
				schedruntime.WithSnapshotSharedLister(snapshot),
				schedruntime.WithLogger(logger),
			)
			if err != nil {
				t.Fatal(err)
			}
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, preemptor); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			node1, err := snapshot.NodeInfos().Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			if status := f.RunFilterPlugins(ctx, state, preemptor, node1); !status.IsRejected() {
				t.Errorf("unexpected Filter status before the victim is removed: %v", status)
			}
			victimInfo, err := framework.NewPodInfo(victim)
			if err != nil {
				t.Fatal(err)
			}
			if err := node1.RemovePod(logger, victim); err != nil {
				t.Fatal(err)
			}
			if status := f.RunPreFilterExtensionRemovePod(ctx, state, preemptor, victimInfo, node1); !status.IsSuccess() {
				t.Fatal(status.AsError())
			}
			if got := f.RunFilterPlugins(ctx, state, preemptor, node1).IsSuccess(); got != tt.want {
				t.Errorf("the preemptor fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
