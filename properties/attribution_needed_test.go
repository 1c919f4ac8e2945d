package properties

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of 20, some are needed: whichever, just they are left, and that takes fewer
// questions than one for each if it is one.
func TestNeeded(t *testing.T) {
	all := make([]int, 20)
	for i := range all {
		all[i] = i
	}
	for _, want := range [][]int{{}, {0}, {7}, {19}, {0, 19}, {3, 4, 12}, all} {
		asked := 0
		got, err := needed(all, func(some []int) (bool, error) {
			asked++
			return !slices.ContainsFunc(want, func(i int) bool { return !slices.Contains(some, i) }), nil
		})
		require.NoError(t, err)
		require.Equal(t, want, got)
		if len(want) == 1 {
			require.Less(t, asked, 12, "%v", want)
		}
	}
}
