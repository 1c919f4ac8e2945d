package cache

import (
	"context"
	"testing"
	"time"

	"k8s.io/klog/v2/ktesting"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestUpdateSnapshot_ClaimOfPodWhoseNodeIsGone(t *testing.T) {
	tests := []struct {
		name  string
		leave bool // the node of the first pod is removed before the pod
	}{
		{
			name: "the node stays",
		},
		{
			name:  "the node goes first",
			leave: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			cache := newCache(ctx, time.Second, nil, false, false)
			snapshot := NewEmptySnapshot()
			update := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				if err := cache.UpdateSnapshot(logger, snapshot); err != nil {
					t.Fatal(err)
				}
			}
			node1, node2 := st.MakeNode().Name("node1").Obj(), st.MakeNode().Name("node2").Obj()
			first := st.MakePod().Namespace("test").Name("first").UID("first").Node("node1").PVC("claim").Obj()
			second := st.MakePod().Namespace("test").Name("second").UID("second").Node("node2").PVC("claim").Obj()

			cache.AddNode(logger, node1)
			cache.AddNode(logger, node2)
			update(cache.AddPod(logger, first))
			if tt.leave {
				update(cache.RemoveNode(logger, node1))
			}
			update(cache.AddPod(logger, second))
			update(cache.RemovePod(logger, first))
			if !snapshot.IsPVCUsedByPods("test/claim") {
				t.Errorf("the claim of a pod on node2 is in use: got false, want true")
			}
		})
	}
}
