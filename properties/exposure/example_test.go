package exposure_test

import (
	"context"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
)

func web(p *v1.Pod) {
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", Controller: &yes}}
	p.Labels = map[string]string{"app": "web"}
}

func ExampleOf() {
	cluster := &model.Cluster{
		Nodes: []*v1.Node{mk.Node("node-1", "4"), mk.Node("node-2", "4")},
		Pods: []*v1.Pod{
			mk.Pod("web-0", 10, mk.CPU("2"), mk.On("node-1"), web),
			mk.Pod("web-1", 10, mk.CPU("2"), mk.On("node-1"), web),
			mk.Pod("web-2", 10, mk.CPU("2"), mk.On("node-2"), web),
		},
	}
	report, err := exposure.Of(context.Background(), cluster, nil, exposure.Options{})
	if err != nil {
		panic(err)
	}
	report.WriteText(os.Stdout, exposure.View{Top: 10})
	// Output:
	// 2 nodes, 3 pods on them, 1 workload; 1 of these can be preempted.
	// One pod can take all pods at once of 0 workloads.
	// One pod can violate a budget of 0 workloads, a known finding one of 0 more.
	// Pending now: 0 pods, 0 may preempt; this may hit 0 workloads.
	// Node losses: 2 tried, of 1 kind. 3 pods come back, 0 are preempted for them, 2 stay pending; this
	// hits 1 workload.
	//
	// WORKLOAD                  PODS   PREEMPTED BY                         AT ONCE   BUDGET   PENDING NOW   NODE LOSSES
	// statefulset/default/web   3      system-cluster-critical and 1 more   2 of 3    none     -             in 2: 2 pending
}
