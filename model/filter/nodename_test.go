package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// A pod that names its node fits on that one only.
func TestNodeName(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.On("n")), mk.Node("m", "9"), mk.Node("n", "9")))
	st, answer := filter.NodeName{}.PreFilter(s)
	require.Zero(t, answer)
	require.Equal(t, filter.Unresolvable("node(s) didn't match the requested node name"), st.Fits(s.Nodes[0], s.Nodes[0].View()))
	require.Nil(t, st.Fits(s.Nodes[1], s.Nodes[1].View()))

	st, _ = filter.NodeName{}.PreFilter(model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("m", "9"))))
	require.Nil(t, st)
	require.Equal(t, "NodeName (unresolvable)", verdictOnN(mk.Pod("p", 9, mk.On("m")), mk.Node("m", "9"), mk.Node("n", "9")))
}
