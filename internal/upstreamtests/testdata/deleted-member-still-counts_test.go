package scheduler

import (
	"context"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// A pod of a group is deleted on its way to a node. When its binding cycle has failed, the group has no pod left.
func TestDeletePod_OfGroupOnItsWay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		waits bool // for permission
	}{
		{"it has permission", false},
		{"it waits for permission", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			profileFramework, err := tf.NewFramework(ctx, []tf.RegisterPluginFunc{
				tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
				tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
			}, "supported-scheduler", frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()))
			if err != nil {
				t.Fatal(err)
			}
			sched := &Scheduler{
				Cache:           internalcache.New(ctx, nil, true, false),
				SchedulingQueue: internalqueue.NewTestQueue(ctx, nil),
				Profiles:        profile.Map{"supported-scheduler": profileFramework},
				logger:          logger,
				FailureHandler: func(context.Context, framework.Framework, *framework.QueuedPodInfo, *fwk.Status, *fwk.NominatingInfo, time.Time) {
				},
			}
			sched.Cache.AddPodGroup(st.MakePodGroup().Namespace("ns1").Name("pg1").MinCount(1).Obj())
			pod := st.MakePod().Name("m1").Namespace("ns1").UID("m1").SchedulerName("supported-scheduler").PodGroupName("pg1").Obj()
			assumed := pod.DeepCopy()
			assumed.Spec.NodeName = "node1"
			sched.Cache.AddPodGroupMember(pod)
			if err := sched.Cache.AssumePod(logger, assumed); err != nil {
				t.Fatal(err)
			}
			if tt.waits {
				profileFramework.AddWaitingPod(assumed, nil)
			}
			ended := make(chan *fwk.Status)
			if tt.waits {
				go func() { ended <- profileFramework.WaitOnPermit(ctx, assumed) }()
			}

			sched.deletePod(pod)

			status := fwk.NewStatus(fwk.Error, "pod not found")
			if tt.waits {
				status = <-ended
			}
			info, err := framework.NewPodInfo(assumed)
			if err != nil {
				t.Fatal(err)
			}
			sched.handleBindingCycleError(ctx, framework.NewCycleState(), profileFramework, &framework.QueuedPodInfo{PodInfo: info}, time.Now(), ScheduleResult{SuggestedHost: "node1"}, status)
			state, err := sched.Cache.PodGroupStates().Get("ns1", "pg1")
			if err != nil {
				t.Fatal(err)
			}
			if n := state.AllPodsCount(); n != 0 {
				t.Errorf("the group counts %d pods, and there is none", n)
			}
		})
	}
}
