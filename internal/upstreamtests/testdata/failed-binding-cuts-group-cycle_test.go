package queue

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestAddAttemptedPodGroupIfNeeded_PodComesBackMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other *v1.Pod // whose binding fails while the group is in its cycle
	}{
		{"none", nil},
		{"a pod without a group", st.MakePod().Namespace("ns1").Name("other").UID("other").Obj()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			q := NewTestQueue(ctx, newDefaultQueueSort())
			pop := func() framework.QueuedEntityInfo {
				entity, err := q.Pop(logger)
				if err != nil {
					t.Fatalf("Pop: %v", err)
				}
				return entity
			}
			putBack := func(p *framework.QueuedPodInfo) {
				if err := q.AddUnschedulablePodIfNotPresent(logger, p, q.SchedulingCycle()); err != nil {
					t.Fatalf("AddUnschedulablePodIfNotPresent: %v", err)
				}
			}

			var other *framework.QueuedPodInfo
			if tt.other != nil {
				q.Add(ctx, tt.other)
				other = pop().(*framework.QueuedPodInfo)
			}
			q.AddPodGroup(logger, st.MakePodGroup().Namespace("ns1").Name("pg1").Obj())
			for _, name := range []string{"m1", "m2"} {
				q.Add(ctx, st.MakePod().Namespace("ns1").Name(name).UID(name).PodGroupName("pg1").Obj())
			}
			group := pop().(*framework.QueuedPodGroupInfo)
			var members []*framework.QueuedPodInfo
			group.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
				members = append(members, p)
				return true
			})

			// The cycle ends in an error.
			putBack(members[0])
			if other != nil {
				putBack(other)
			}
			putBack(members[1])
			if err := q.AddAttemptedPodGroupIfNeeded(logger, group, q.SchedulingCycle(), fwk.AsStatus(errors.New("a failure"))); err != nil {
				t.Errorf("AddAttemptedPodGroupIfNeeded: %v", err)
			}
			if q.activeQ.has(group) {
				t.Error("the group does not back off")
			}
			if n := q.pendingPodGroupPods.len(); n != 0 {
				t.Errorf("%d pods wait for the end of the cycle", n)
			}
		})
	}
}
