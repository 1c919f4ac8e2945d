package minimize

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestGroupSteps: each step on a cluster whose preemptor is a pod group leads to one that still asks
// about a group, or is refused; and what tells causes apart can be taken from it.
func TestGroupSteps(t *testing.T) {
	s, err := corpus.Load("../../cmd/preemptcheck/app/testdata/groups/gang.yaml")
	require.NoError(t, err)
	c := s.Cases[0].Cluster
	taken, renames := 0, 0
	for _, family := range []func(*model.Cluster) []step{removals, podGroups, singleFields, merges, names, aspects} {
		for _, step := range family(c) {
			next := step.take(c)
			if next == nil {
				continue
			}
			taken++
			require.NotNil(t, next.Group(next.PreemptorGroup), step.what)
			require.NotEmpty(t, next.Preemptors(), step.what)
			if next.PreemptorGroup != c.PreemptorGroup {
				renames++
			}
		}
	}
	require.Greater(t, taken, 10)
	require.Equal(t, 3, renames, "it, or its namespace, was given another name")
	require.NotContains(t, fingerprint.Shape(c), "settings", "the gate alone is none")
	require.True(t, same(c, c.DeepCopy()))

	small := c
	for {
		next := (*model.Cluster)(nil)
		for _, step := range removals(small) {
			if n := step.take(small); next == nil && n != nil {
				next = n
			}
		}
		if next == nil {
			break
		}
		small = next
	}
	require.Len(t, small.Objects(), 2, "a group and a pod of it")
	require.Equal(t, []*v1.Pod{small.Pods[0]}, small.Preemptors())
	require.Equal(t, runtime.Object(small.Pods[0]), small.Objects()[0])
}
