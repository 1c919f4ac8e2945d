package volumerestrictions

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
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

func TestFilter_ClaimOfNominatedPod(t *testing.T) {
	metrics.Register()
	pod := func(name string, priority int32, claim string) *st.PodWrapper {
		return st.MakePod().Namespace(v1.NamespaceDefault).Name(name).UID(name).Priority(priority).PVC(claim)
	}
	disk := v1.Volume{VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}}}
	tests := []struct {
		name  string
		pod   *v1.Pod
		claim string // of the nominated pod
		want  bool   // whether the pod fits
	}{
		{
			name:  "the nominated pod has another claim",
			pod:   pod("p", 10, "data").Obj(),
			claim: "logs",
			want:  true,
		},
		{
			name:  "the pod is more important",
			pod:   pod("p", 1000, "data").Obj(),
			claim: "data",
			want:  true,
		},
		{
			name:  "the pod has a disk, too, that may not be shared",
			pod:   pod("p", 10, "data").Volume(disk).Obj(),
			claim: "data",
			want:  false,
		},
		{
			name:  "the nominated pod has the same claim",
			pod:   pod("p", 10, "data").Obj(),
			claim: "data",
			want:  false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			nominated := pod("nominated", 100, tt.claim).NominatedNodeName("node1").Obj()
			client := clientsetfake.NewClientset(nominated, tt.pod)
			for _, name := range []string{"data", "logs"} {
				claim := st.MakePersistentVolumeClaim().Name(name).Namespace(v1.NamespaceDefault).
					AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).Obj()
				if err := client.Tracker().Add(claim); err != nil {
					t.Fatal(err)
				}
			}
			informerFactory := informers.NewSharedInformerFactory(client, 0)
			queue := internalqueue.NewSchedulingQueue(nil, informerFactory)
			snapshot := cache.NewSnapshot(nil, []*v1.Node{st.MakeNode().Name("node1").Obj()})
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
			informerFactory.Start(ctx.Done())
			informerFactory.WaitForCacheSync(ctx.Done())
			queue.Add(ctx, nominated)
			state := framework.NewCycleState()
			if _, status, _ := f.RunPreFilterPlugins(ctx, state, tt.pod); !status.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", status)
			}
			node1, err := snapshot.NodeInfos().Get("node1")
			if err != nil {
				t.Fatal(err)
			}
			if got := f.RunFilterPluginsWithNominatedPods(ctx, state, tt.pod, node1).IsSuccess(); got != tt.want {
				t.Errorf("the pod fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
