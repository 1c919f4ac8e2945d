package all_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/contract"
)

// TestLooks: the second look at a case leaves out nothing, the first the contract of plugins alone but for its hints, and both nothing that is switched off.
func TestLooks(t *testing.T) {
	c, err := corpus.Embedded("cases/a-lost-volume-fits-nowhere.yaml")
	require.NoError(t, err)
	asked := func(s all.Shares, look int) (names []string) {
		for _, p := range all.Looks(s)[look](c.Cluster) {
			names = append(names, p.Name)
		}
		return names
	}
	shares := all.Shares{Relations: 2, Filters: 128, Contracts: 64, Repeating: all.RepeatingOneIn}
	first, second := asked(shares, 0), asked(shares, 1)
	require.Subset(t, second, asked(all.Shares{Relations: 100, Filters: 1, Contracts: 1, Repeating: 1}, 1))
	require.True(t, slices.ContainsFunc(second, contract.Is))
	require.Contains(t, first, properties.FiltersAlone().Name)
	hints := contract.Hints().Name
	require.ElementsMatch(t, slices.DeleteFunc(slices.Clone(second), func(p string) bool { return contract.Is(p) && p != hints }), first)
	require.Empty(t, asked(all.Shares{}, 1))
}
