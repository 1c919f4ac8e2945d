package answers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestChoicesOfRanked: they are those of mayPick.
func TestChoicesOfRanked(t *testing.T) {
	random, none, some := rand.New(rand.NewPCG(1, 1)), int32(0), 0
	for range 500 {
		want := int32(1 + random.IntN(4))
		c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Budget("b", 0, mk.ForApp("guarded")),
			model.Settings{MinCandidateNodesAbsolute: &want, MinCandidateNodesPercentage: &none})
		guarded := random.IntN(4)
		for i := range 1 + random.IntN(6) {
			node := fmt.Sprint("n", i)
			victim := mk.Pod(fmt.Sprint("v", i), int32(random.IntN(3)), mk.CPU("1"), mk.On(node), mk.Started(random.IntN(2)))
			if random.IntN(3) < guarded {
				mk.App("guarded")(victim)
			}
			c.Nodes, c.Pods = append(c.Nodes, mk.Node(node, "1")), append(c.Pods, victim)
		}
		s, err := Decide(c, Documented())
		require.NoError(t, err)
		candidates := s.candidatesIn(s.worlds[0])
		require.True(t, s.oneWayEach(candidates))
		var slow []Choice
		for _, c := range candidates {
			if by, ok := s.mayPick(c, c.ways[0], candidates); ok {
				slow = append(slow, Choice{c.node, c.ways[0].after, by})
			}
		}
		require.Equal(t, slow, s.choicesOfRanked(candidates))
		if len(slow) < len(candidates) {
			some++
		}
	}
	require.Greater(t, some, 100)
}
