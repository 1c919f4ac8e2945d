package exposure_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
)

// fleet is a mk.Fleet, and the questions of its pending pods.
func fleet(size mk.Size) (c *model.Cluster, pending []*model.Cluster) {
	var objects []any
	mk.Fleet(size, func(o runtime.Object) { objects = append(objects, o) })
	c = mk.Cluster(nil, objects...)
	return c, questions(c)
}

// questions are those of the pods of a cluster that wait.
func questions(c *model.Cluster) (pending []*model.Cluster) {
	for i, p := range c.Pods {
		if p.Spec.NodeName == "" {
			q := *c
			q.Preemptor = p
			q.Pods = append(append([]*v1.Pod(nil), c.Pods[:i]...), c.Pods[i+1:]...)
			pending = append(pending, &q)
		}
	}
	return pending
}

// BenchmarkExposure looks at a cluster of 1,500 nodes and 10,000 pods, 40 of which wait.
func BenchmarkExposure(b *testing.B) {
	c, pending := fleet(mk.Size{Nodes: 1_500, Bound: 10_000, Pending: 40})
	for b.Loop() {
		r, err := exposure.Of(b.Context(), c, pending, exposure.Options{})
		require.NoError(b, err)
		require.NotEmpty(b, r.Workloads)
	}
}
