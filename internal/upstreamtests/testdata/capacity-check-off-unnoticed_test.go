package volumebinding

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

func TestVolumeBinding_EventsForClaimsWithoutCapacity(t *testing.T) {
	unchecked := driverWithStorageCapacity.DeepCopy()
	unchecked.Spec.StorageCapacity = ptr.To(false)
	capacity := &storagev1.CSIStorageCapacity{
		ObjectMeta:       metav1.ObjectMeta{Name: "capacity", Namespace: "default"},
		StorageClassName: waitSCWithStorageCapacity.Name,
		NodeTopology:     &metav1.LabelSelector{},
		Capacity:         resource.NewQuantity(1, resource.BinarySI),
	}
	tests := []struct {
		name           string
		event          fwk.ClusterEvent
		oldObj, newObj apiruntime.Object
		after          []apiruntime.Object // drivers and capacities
	}{
		{
			name:   "the driver tells of capacity",
			event:  fwk.ClusterEvent{Resource: fwk.CSIStorageCapacity, ActionType: fwk.Add},
			newObj: capacity,
			after:  []apiruntime.Object{driverWithStorageCapacity, capacity},
		},
		{
			name:   "the driver does without the check",
			event:  fwk.ClusterEvent{Resource: fwk.CSIDriver, ActionType: fwk.Update},
			oldObj: driverWithStorageCapacity,
			newObj: unchecked,
			after:  []apiruntime.Object{unchecked},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			claim := makePVC("claim", waitSCWithStorageCapacity.Name).withRequestStorage(resource.MustParse("1")).PersistentVolumeClaim
			pod := makePod("p").withPVCVolume(claim.Name, "data").Pod
			node := st.MakeNode().Name("node1").Obj()
			var p *VolumeBinding
			fits := func(objects ...apiruntime.Object) bool {
				client := fake.NewClientset(append(objects, claim, waitSCWithStorageCapacity, node)...)
				informerFactory := informers.NewSharedInformerFactory(client, 0)
				fh, err := runtime.NewFramework(ctx, nil, nil, runtime.WithClientSet(client), runtime.WithInformerFactory(informerFactory))
				if err != nil {
					t.Fatal(err)
				}
				pl, err := New(ctx, &config.VolumeBindingArgs{BindTimeoutSeconds: 300}, fh, feature.Features{})
				if err != nil {
					t.Fatal(err)
				}
				p = pl.(*VolumeBinding)
				informerFactory.Start(ctx.Done())
				informerFactory.WaitForCacheSync(ctx.Done())
				cs := framework.NewCycleState()
				if _, s := p.PreFilter(ctx, cs, pod, nil); !s.IsSuccess() {
					t.Fatalf("unexpected PreFilter status: %v", s)
				}
				nodeInfo := framework.NewNodeInfo()
				nodeInfo.SetNode(node)
				return p.Filter(ctx, cs, pod, nodeInfo).IsSuccess()
			}
			if fits(driverWithStorageCapacity) || !fits(tt.after...) {
				t.Fatal("the event does not make the pod fit")
			}
			events, err := p.EventsToRegister(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Event.Resource != tt.event.Resource || e.Event.ActionType&tt.event.ActionType == 0 {
					continue
				}
				var oldObj, newObj interface{} = nil, tt.newObj
				if tt.oldObj != nil {
					oldObj = tt.oldObj
				}
				hint, err := e.QueueingHintFn(logger, pod, oldObj, newObj)
				if err != nil {
					t.Fatal(err)
				}
				if hint == fwk.Queue {
					return
				}
			}
			t.Error("the pod fits now, and no registered event queues it")
		})
	}
}
