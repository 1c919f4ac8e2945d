package releasediff

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
)

// drawing is a release as its model has it, which breaks ties by chance.
func drawing(r model.Release, seed uint64) Side {
	s := modelsystem.New(r)
	s.Draw = rand.New(rand.NewPCG(seed, 0)).IntN
	return Side{r, s}
}

func waysOf(t *testing.T, c *Comparer, clusters uint64) *Ways {
	w := &Ways{}
	for n := range clusters {
		r, err := c.Compare(t.Context(), generators.FromSeed(n))
		require.NoError(t, err)
		w.Add(r, n)
	}
	return w
}

// TestNoDifference: a release does not differ from itself, whatever chance has it
// do.
func TestNoDifference(t *testing.T) {
	for _, r := range model.Releases() {
		w := waysOf(t, New(drawing(r, 1), drawing(r, 2)), 500)
		assert.Empty(t, w.List(), r)
		assert.NotZero(t, w.Verdicts[Same], r)
	}
}

func TestX(t *testing.T) {
	all := model.Releases()
	for i := 1; i < len(all); i++ {
		w := waysOf(t, New(drawing(all[i-1], 1), drawing(all[i], 2)), 5000)
		t.Log(all[i-1], all[i], w.Verdicts)
		for _, way := range w.List() {
			if way.Change == nil {
				t.Log("   UNEXPLAINED", way.Clusters)
			} else {
				t.Log("   ", way.Change.Title, way.Clusters)
			}
			for _, k := range way.Kinds {
				t.Log("        ", k.Kind, k.Clusters, len(k.Witnesses[0].Effects), k.Witnesses[0].Number)
			}
		}
	}
}
