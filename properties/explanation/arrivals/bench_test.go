package arrivals_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// BenchmarkLarge is the arrival of 50 pods, each a quarter of a node, in a cluster of 1,500 nodes and 10,000 pods.
func BenchmarkLarge(b *testing.B) {
	var objects []any
	mk.Large(mk.Size{Nodes: 1_500, Bound: 10_000}, func(o runtime.Object) { objects = append(objects, o) })
	c := mk.Cluster(nil, objects...)
	require.NoError(b, apiserver.Objects(c))
	w := &expand.Workload{Ref: workload.Ref{Kind: "Deployment", Namespace: "default", Name: "web"}}
	for i := range 50 {
		w.Pods = append(w.Pods, mk.Pod(fmt.Sprintf("web-%d", i), 200_000, mk.CPU("4")))
	}
	all := &model.Cluster{Nodes: c.Nodes, Pods: w.Pods}
	require.NoError(b, apiserver.Objects(all))
	decide := explanation.Decides(checktest.Checker(b), nil)
	for b.Loop() {
		course, err := arrival.Run(b.Context(), c, &arrival.Coming{Workloads: []*expand.Workload{w}}, decide, arrival.Bounds{Levels: 3, Cycles: 1_000})
		require.NoError(b, err)
		b.ReportMetric(float64(len(course.Steps)), "cycles")
		b.ReportMetric(float64(len(course.Victims)), "victims")
	}
}
