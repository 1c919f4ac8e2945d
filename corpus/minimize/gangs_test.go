package minimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestGangsGetSmall: drawn clusters in which a group preempts, with a known finding, come down to few objects, and keep it.
func TestGangsGetSmall(t *testing.T) {
	checker := checktest.Checker(t)
	checker.Properties = nil
	// How many objects there are at most: nodes, pods, and the group. Drawn are up to thirty.
	most := map[string]int{"group-keeps-lower-nominations": 8, "members-stay-nominated": 3}
	small := map[string]bool{}
	for seed := uint64(0); len(small) < len(most); seed++ {
		require.Less(t, seed, uint64(3000), "%v", small)
		c := generators.OfAnyPreemptor(seed, map[string]bool{model.GateWorkload: true})
		if c.PreemptorGroup == "" {
			continue
		}
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		if len(r.Findings) != 1 || len(r.Findings[0].Known) != 1 {
			continue
		}
		id, want := r.Findings[0].Known[0], fingerprint.OfFinding(&r.Findings[0])
		if most[id] == 0 || small[id] {
			continue
		}
		m, err := Minimise(t.Context(), checker, c, want, Options{Workers: 2, Certify: 50})
		if err != nil {
			continue // it depends on chance
		}
		small[id] = true
		t.Logf("seed %d, %s: from %s to %s in %d checks", seed, id, SizeOf(c), SizeOf(m.Cluster), m.Checks)
		require.True(t, m.Minimal, id)
		require.LessOrEqual(t, len(m.Cluster.Objects()), most[id], "%s: %v", id, m.Cluster.Objects())
		require.Equal(t, []string{id}, m.Finding.Known)
		require.True(t, m.Smallest == nil && len(m.Cluster.Pods) > 3 || m.Smallest.OfGroups, "with more pods there are too many smaller clusters")
		require.Equal(t, "g", m.Cluster.Group(m.Cluster.PreemptorGroup).GetName())
	}
}
