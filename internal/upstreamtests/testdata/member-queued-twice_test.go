package queue

import (
	"context"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestAddUnschedulablePodIfNotPresent_PodOfGroupIsThere(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changed bool // before it comes back
	}{
		{"the pod is not changed", false},
		{"the pod is changed before it comes back", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			q := NewTestQueue(ctx, newDefaultQueueSort())
			q.AddPodGroup(logger, st.MakePodGroup().Namespace("ns1").Name("pg1").Obj())
			pod := st.MakePod().Namespace("ns1").Name("m1").UID("m1").PodGroupName("pg1").Obj()
			q.Add(ctx, pod)
			entity, err := q.Pop(logger)
			if err != nil {
				t.Fatalf("Pop: %v", err)
			}
			group := entity.(*framework.QueuedPodGroupInfo)
			var member *framework.QueuedPodInfo
			group.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
				member = p
				return true
			})
			if err := q.AddAttemptedPodGroupIfNeeded(logger, group, q.SchedulingCycle(), fwk.NewStatus(fwk.Success)); err != nil {
				t.Fatalf("AddAttemptedPodGroupIfNeeded: %v", err)
			}

			// Its binding begins, and fails.
			q.Done(pod.UID)
			if tt.changed {
				labelled := pod.DeepCopy()
				labelled.Labels = map[string]string{"app": "a"}
				q.Update(ctx, pod, labelled)
			}
			if err := q.AddUnschedulablePodIfNotPresent(logger, member, q.SchedulingCycle()); err != nil {
				t.Logf("AddUnschedulablePodIfNotPresent: %v", err) // it is there already
			}
			q.Delete(logger, pod)
			if pending, _ := q.PendingPods(); len(pending) != 0 {
				t.Errorf("%d pods are in the queue that were deleted", len(pending))
			}
		})
	}
}
