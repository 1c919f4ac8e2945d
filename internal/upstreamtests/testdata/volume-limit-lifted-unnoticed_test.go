package nodevolumelimits

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
)

func TestCSILimits_EventsThatLiftTheLimit(t *testing.T) {
	csiNode := func(limit int32) *storagev1.CSINode {
		allocatable := &storagev1.VolumeNodeResources{Count: ptr.To(limit)}
		return &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: "node1"},
			Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: ebsCSIDriverName, NodeID: "node1", Allocatable: allocatable}}},
		}
	}
	full, raised := csiNode(0), csiNode(1)
	unregistered := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	tests := []struct {
		name           string
		event          fwk.ClusterEvent
		oldObj, newObj interface{}
		node           string             // that the pod fits on after the event
		csiNode        *storagev1.CSINode // of node1, after the event
	}{
		{
			name:    "the limit is raised",
			event:   fwk.ClusterEvent{Resource: fwk.CSINode, ActionType: fwk.Update},
			oldObj:  full,
			newObj:  raised,
			node:    "node1",
			csiNode: raised,
		},
		{
			name:    "the driver is unregistered, and its limit is gone",
			event:   fwk.ClusterEvent{Resource: fwk.CSINode, ActionType: fwk.Update},
			oldObj:  full,
			newObj:  unregistered,
			node:    "node1",
			csiNode: unregistered,
		},
		{
			name:    "a node is added",
			event:   fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add},
			newObj:  st.MakeNode().Name("node2").Obj(),
			node:    "node2",
			csiNode: full,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			vaInformer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().VolumeAttachments().Informer()
			if err := vaInformer.AddIndexers(cache.Indexers{vaIndexKey: volumeAttachmentIndexer}); err != nil {
				t.Fatal(err)
			}
			p := &CSILimits{
				pvLister:   getFakeCSIPVLister("csi", ebsCSIDriverName),
				pvcLister:  getFakeCSIPVCLister("csi", scName, ebsCSIDriverName),
				scLister:   getFakeCSIStorageClassLister(scName, ebsCSIDriverName),
				vaIndexer:  vaInformer.GetIndexer(),
				translator: csitrans.New(),
			}
			pod := st.MakePod().PVC("csi-" + ebsCSIDriverName + "-0").Obj()
			filter := func(node string, csiNode *storagev1.CSINode) *fwk.Status {
				p.csiManager = NewCSIManager(getFakeCSINodeLister(csiNode))
				nodeInfo := framework.NewNodeInfo()
				nodeInfo.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
				return p.Filter(ctx, nil, pod, nodeInfo)
			}
			if s := filter("node1", full); !s.IsRejected() {
				t.Fatalf("Filter before the event: got %v, want a rejection", s)
			}
			if s := filter(tt.node, tt.csiNode); !s.IsSuccess() {
				t.Fatalf("Filter after the event: got %v, want success", s)
			}
			events, err := p.EventsToRegister(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Event.Resource != tt.event.Resource || e.Event.ActionType&tt.event.ActionType == 0 {
					continue
				}
				hint := fwk.Queue
				if e.QueueingHintFn != nil {
					if hint, err = e.QueueingHintFn(logger, pod, tt.oldObj, tt.newObj); err != nil {
						t.Fatal(err)
					}
				}
				if hint == fwk.Queue {
					return
				}
			}
			t.Error("the pod fits now, and no registered event queues it")
		})
	}
}
