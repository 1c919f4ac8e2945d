package queue

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// A pod group's cycle nominates a pod again when it takes back that it has placed it.
func TestAddNominatedPod_RemovedPod(t *testing.T) {
	pod := func(uid string) *v1.Pod { return st.MakePod().Namespace("ns1").Name("p").UID(uid).Obj() }
	for _, tt := range []struct {
		name   string
		stored []runtime.Object
		want   int
	}{
		{"the pod is there", []runtime.Object{pod("p")}, 1},
		{"the pod was removed", nil, 0},
		{"the pod was removed, and another one of its name is there", []runtime.Object{pod("p-2")}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			q := NewTestQueueWithObjects(ctx, newDefaultQueueSort(), tt.stored)
			p, err := framework.NewPodInfo(pod("p"))
			if err != nil {
				t.Fatal(err)
			}
			q.AddNominatedPod(logger, p, &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: "node1"})
			if got := len(q.NominatedPodsForNode("node1")); got != tt.want {
				t.Errorf("got %d pods nominated to node1, want %d", got, tt.want)
			}
		})
	}
}
