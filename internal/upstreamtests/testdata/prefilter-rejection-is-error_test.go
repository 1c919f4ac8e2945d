package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestScheduleOne_UnresolvablePodLosesNomination(t *testing.T) {
	tests := []struct {
		name       string
		matchNames []string // all of which the node's name must match
	}{
		{
			name:       "no node is left by PreFilter",
			matchNames: []string{"node2"},
		},
		{
			name:       "PreFilter rejects the pod",
			matchNames: []string{"node1", "node2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			var term v1.NodeSelectorTerm
			for _, name := range tt.matchNames {
				term.MatchFields = append(term.MatchFields, v1.NodeSelectorRequirement{
					Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{name},
				})
			}
			pod := st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").SchedulerName(v1.DefaultSchedulerName).Priority(10).
				NominatedNodeName("node1").NodeAffinity(&v1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}},
			}).Obj()
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
			sched.Cache.AddNode(logger, st.MakeNode().Name("node1").Capacity(map[v1.ResourceName]string{v1.ResourcePods: "10"}).Obj())
			sched.SchedulingQueue.Add(ctx, pod)

			var got *fwk.NominatingInfo
			sched.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, info *fwk.NominatingInfo, _ time.Time) {
				t.Logf("status: %v", status)
				got = info
			}
			sched.ScheduleOne(ctx)
			want := &fwk.NominatingInfo{NominatedNodeName: "", NominatingMode: fwk.ModeOverride}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Unexpected nominatingInfo (-want, +got):\n%s", diff)
			}
		})
	}
}
