package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// Before takes back what Without took away, and leaves pods without a node where they are.
func TestBefore(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("m", "1"), mk.Node("n", "1"), mk.Pod("a", 0, mk.On("n")), mk.Pod("b", 0, mk.On("n")), mk.Pod("lost", 0, mk.On("gone"))))
	require.Len(t, s.Homeless, 1)
	same, none := s.Before()
	require.Same(t, s, same)
	require.Empty(t, none)

	all := s.Nodes[1].Pods
	require.Len(t, all, 2)
	without := s.Without(all[:1])
	require.Len(t, without.Nodes[1].Pods, 1)
	before, gone := without.Before()
	require.Equal(t, all[:1], gone)
	require.ElementsMatch(t, all, before.Nodes[1].Pods)
	require.Equal(t, s.Homeless, before.Homeless)
	require.Len(t, without.Nodes[1].Pods, 1, "a snapshot does not change")
}
