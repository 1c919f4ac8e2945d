package outside_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/generators/outside"
	"github.com/preemptcheck/preemptcheck/model"
	modelled "github.com/preemptcheck/preemptcheck/model/outside"
)

// What a cluster gets for a plugin is the same for the same seed, can be written as a case and read again, and comes in most clusters.
func TestAdorn(t *testing.T) {
	scheme.Scheme.AddKnownTypeWithName(schema.FromAPIVersionAndKind("scheduling.x-k8s.io/v1alpha1", "ElasticQuota"), &unstructured.Unstructured{})
	for plugin, has := range map[string]func(*model.Cluster) bool{
		modelled.PreemptionToleration: func(c *model.Cluster) bool { return len(c.PriorityClasses) > 0 },
		modelled.CapacityScheduling: func(c *model.Cluster) bool {
			_, is := c.Extra[max(len(c.Extra)-1, 0):][0].(*unstructured.Unstructured)
			return is
		},
	} {
		adorned := 0
		for n := range uint64(50) {
			seed := rand.NewPCG(5, n).Uint64()
			text := func() []byte {
				c := generators.FromSeed(seed)
				outside.Adorn(plugin, c, seed)
				if len(c.Extra)+len(c.PriorityClasses) > 0 && (plugin == modelled.PreemptionToleration || len(c.Extra) > 0) && has(c) {
					adorned++
				}
				out := &bytes.Buffer{}
				require.NoError(t, (&corpus.Case{Name: "generated", Cluster: c}).Write(out), "%s, cluster %d", plugin, n)
				return out.Bytes()
			}
			require.Equal(t, text(), text(), "%s, cluster %d", plugin, n)
		}
		require.Greater(t, adorned, 60, plugin) // each was made twice
	}
	c, plain := generators.FromSeed(1), generators.FromSeed(1)
	outside.Adorn("Mine", c, 1)
	require.Equal(t, plain, c)
}
