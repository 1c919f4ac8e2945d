package scheduler

import (
	"context"
	"errors"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestScheduleOne_ReasonOfNodesExcludedByPreFilter(t *testing.T) {
	tests := []struct {
		name          string
		nominatedNode string
	}{
		{
			name: "not nominated",
		},
		{
			name:          "nominated",
			nominatedNode: "node1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			// The pod has to run on node1, which is too small for it.
			pod := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").SchedulerName(v1.DefaultSchedulerName).
				NodeAffinityIn(metav1.ObjectNameField, []string{"node1"}, st.NodeSelectorTypeMatchFields).
				Req(map[v1.ResourceName]string{v1.ResourceCPU: "2"}).NominatedNodeName(tt.nominatedNode).Obj()
			client := clientsetfake.NewClientset(pod)
			informerFactory := informers.NewSharedInformerFactory(client, 0)
			broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
			sched, err := New(ctx, client, informerFactory, nil, profile.NewRecorderFactory(broadcaster))
			if err != nil {
				t.Fatal(err)
			}
			if err := informerFactory.Core().V1().Pods().Informer().GetStore().Add(pod); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"node1", "node2"} {
				sched.Cache.AddNode(logger, st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "1", v1.ResourcePods: "10"}).Obj())
			}
			sched.SchedulingQueue.Add(ctx, pod)

			var got string
			sched.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
				var fitError *framework.FitError
				if errors.As(status.AsError(), &fitError) {
					got = fitError.Diagnosis.NodeToStatus.Get("node2").Message()
				}
			}
			sched.ScheduleOne(ctx)
			if want := "node(s) didn't satisfy plugin(s) [NodeAffinity]"; got != want {
				t.Errorf("got reason %q for node2, want %q", got, want)
			}
		})
	}
}
