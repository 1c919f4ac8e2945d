package interpodaffinity

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestEventsToRegister_NodeOfShunnedPodDeleted(t *testing.T) {
	// Both nodes are of one zone. The other pod runs on node1. The pod is for node2.
	node1, node2 := st.MakeNode().Name("node1").Label("zone", "zone1").Obj(), st.MakeNode().Name("node2").Label("zone", "zone1").Obj()
	shuns := st.MakePod().Name("p").UID("p").Label("app", "p").PodAntiAffinityExists("app", "zone", st.PodAntiAffinityWithRequiredReq).Obj()
	shunned := st.MakePod().Name("p").UID("p").Label("app", "p").Obj()
	tests := []struct {
		name  string
		pod   *v1.Pod
		other *v1.Pod
		event fwk.ClusterEvent
	}{
		{
			name:  "the pod shuns the other one, which is deleted",
			pod:   shuns,
			other: st.MakePod().Name("other").UID("other").Node("node1").Label("app", "other").Obj(),
			event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
		},
		{
			name:  "the other pod shuns the pod, and is deleted",
			pod:   shunned,
			other: st.MakePod().Name("other").UID("other").Node("node1").PodAntiAffinityExists("app", "zone", st.PodAntiAffinityWithRequiredReq).Obj(),
			event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
		},
		{
			name:  "the pod shuns the other one, whose node is deleted",
			pod:   shuns,
			other: st.MakePod().Name("other").UID("other").Node("node1").Label("app", "other").Obj(),
			event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Delete},
		},
		{
			name:  "the other pod shuns the pod, and its node is deleted",
			pod:   shunned,
			other: st.MakePod().Name("other").UID("other").Node("node1").PodAntiAffinityExists("app", "zone", st.PodAntiAffinityWithRequiredReq).Obj(),
			event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Delete},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			var p *InterPodAffinity
			fits := func(snapshot *cache.Snapshot) bool {
				nodes, err := snapshot.NodeInfos().List()
				if err != nil {
					t.Fatal(err)
				}
				nodeInfo, err := snapshot.Get("node2")
				if err != nil {
					t.Fatal(err)
				}
				p = plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(feature.Features{}, New), &config.InterPodAffinityArgs{}, snapshot, nil).(*InterPodAffinity)
				cs := framework.NewCycleState()
				if _, s := p.PreFilter(ctx, cs, tt.pod, nodes); s.IsSkip() {
					return true
				} else if !s.IsSuccess() {
					t.Fatalf("unexpected PreFilter status: %v", s)
				}
				return p.Filter(ctx, cs, tt.pod, nodeInfo).IsSuccess()
			}
			before, after := cache.NewSnapshot([]*v1.Pod{tt.other}, []*v1.Node{node1, node2}), cache.NewSnapshot(nil, []*v1.Node{node1, node2})
			var deleted interface{} = tt.other
			if tt.event.Resource == fwk.Node {
				// The scheduler does not look at pods of nodes that are not there.
				after, deleted = cache.NewSnapshot(nil, []*v1.Node{node2}), node1
			}
			if fits(before) || !fits(after) {
				t.Fatal("the deletion does not make the pod fit on node2")
			}
			events, err := p.EventsToRegister(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Event.Resource != tt.event.Resource || e.Event.ActionType&tt.event.ActionType == 0 {
					continue
				}
				hint, err := e.QueueingHintFn(logger, tt.pod, deleted, nil)
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
