package generators_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
)

// failing lets a check fail without failing the test.
type failing struct{ testing.TB }

func (failing) Errorf(string, ...any) {}
func (failing) Fatalf(string, ...any) {}
func (failing) Logf(string, ...any)   {}
func (failing) FailNow()              {}
func (failing) Fail()                 {}

// shrunk returns the smallest cluster found that has the property: the last one
// that rapid looks at.
func shrunk(t *testing.T, has func(*model.Cluster) bool) (last *model.Cluster) {
	rapid.Check(failing{t}, func(t *rapid.T) {
		if c := generators.Cluster().Draw(t, "cluster"); has(c) {
			last = c
			t.Fatalf("found")
		}
	})
	return last
}

func TestClustersShrinkToTheSimplest(t *testing.T) {
	for name, value := range map[string]string{"rapid.shrinktime": "20s", "rapid.nofailfile": "true"} {
		old := flag.Lookup(name).Value.String()
		require.NoError(t, flag.Set(name, value))
		t.Cleanup(func() { require.NoError(t, flag.Set(name, old)) })
	}
	c := shrunk(t, func(c *model.Cluster) bool { return len(c.Nodes) >= 2 })
	require.Len(t, c.Nodes, 2)
	require.Empty(t, c.PodDisruptionBudgets)
	require.Empty(t, c.Settings)
	require.Empty(t, c.Nodes[0].Spec)

	c = shrunk(t, func(c *model.Cluster) bool { return len(c.PodDisruptionBudgets) > 0 && len(c.Pods) > 1 })
	require.Len(t, c.PodDisruptionBudgets, 1)
	require.LessOrEqual(t, len(c.Pods), 3)
	require.LessOrEqual(t, len(c.Nodes), 2)
}
