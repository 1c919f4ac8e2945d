package release

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// A node whose amount of a resource wraps around to 0 has none of it, and has it all the same: only where it is not told at all do the
// filters of devices miss it (`preemptcheck fuzz --seed 2809632623`, cluster 105338).
func TestNothingOfHuge(t *testing.T) {
	const gpu = "example.com/gpu"
	s := model.NewSnapshot(&model.Cluster{
		Preemptor: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}},
		Nodes: []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			gpu: resource.MustParse("18E"), "example.com/other": resource.MustParse("1"),
		}}}},
	})
	nothingOfHuge(s)
	left := s.Nodes[0].Status.Allocatable
	amount, has := left[gpu]
	require.True(t, has)
	require.True(t, amount.IsZero())
	require.Equal(t, "1", left.Name("example.com/other", resource.DecimalSI).String())
}
