package generators_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
)

// Clusters of more than 100 nodes have everything that the search for nodes can meet.
func TestEveryKindOfCrowdOccurs(t *testing.T) {
	anyFilter := func(is func(f *model.ExtenderFilter) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			return slices.ContainsFunc(c.Settings.Extenders, func(e model.Extender) bool { return e.Filter != nil && is(e.Filter) })
		}
	}
	kinds := map[string]func(*model.Cluster) bool{
		"rejects":  anyFilter(func(f *model.ExtenderFilter) bool { return len(f.Rejects) > 100 }),
		"excludes": anyFilter(func(f *model.ExtenderFilter) bool { return len(f.Excludes) > 10 }),
		"omits":    anyFilter(func(f *model.ExtenderFilter) bool { return len(f.Omits) > 10 }),
		"fails":    anyFilter(func(f *model.ExtenderFilter) bool { return f.Fails }),
		"cordoned": func(c *model.Cluster) bool {
			n := 0
			for _, node := range c.Nodes {
				if node.Spec.Unschedulable {
					n++
				}
			}
			return n > 3
		},
		"one that passes": anyFilter(func(f *model.ExtenderFilter) bool {
			return len(f.Rejects) > 80 && len(f.Omits) < 10 && len(f.Rejects) < 100
		}),
		"the full come first": func(c *model.Cluster) bool { return c.Nodes[0].Name == generators.NodeName(0) },
		"the full come last":  func(c *model.Cluster) bool { return c.Nodes[0].Name != generators.NodeName(0) },
		"nothing is told":     func(c *model.Cluster) bool { return c.Settings.PercentageOfNodesToScore == nil },
		"all":                 func(c *model.Cluster) bool { p := c.Settings.PercentageOfNodesToScore; return p != nil && *p == 100 },
		"some":                func(c *model.Cluster) bool { p := c.Settings.PercentageOfNodesToScore; return p != nil && *p < 100 },
		"zones": func(c *model.Cluster) bool {
			return slices.ContainsFunc(c.Nodes, func(n *v1.Node) bool {
				return n.Labels[v1.LabelTopologyZone] != c.Nodes[0].Labels[v1.LabelTopologyZone]
			})
		},
	}
	const crowds = 60
	count := map[string]int{}
	for seed, left := uint64(0), crowds; left > 0; seed++ {
		c := generators.FromSeed(seed)
		if len(c.Nodes) <= 100 {
			continue
		}
		left--
		for name, has := range kinds {
			if has(c) {
				count[name]++
			}
		}
	}
	t.Log(count)
	for name := range kinds {
		require.Greaterf(t, count[name], 2, "crowds with %s", name)
	}
}
