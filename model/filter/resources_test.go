package filter

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// An amount is read in whole units, rounded up, as far as 63 bits can count them.
func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		amount Quantity
		want   int64
	}{
		{Quantity{}, 0},
		{Quantity{low: 1}, 1},
		{Quantity{low: 1000}, 1},
		{Quantity{low: 1001}, 2},
		{Quantity{low: math.MaxUint64}, math.MaxUint64/1000 + 1},
		{Whole(5000), 5000},
		{Whole(math.MaxInt64), math.MaxInt64},
		{Whole(math.MaxInt64 + 1), math.MaxInt64},
		{Whole(math.MaxUint64), math.MaxInt64},
		{Quantity{high: 999}, math.MaxInt64},
		{Quantity{high: 1000}, math.MaxInt64},
	} {
		require.Equal(t, tt.want, tt.amount.Units(), "%+v", tt.amount)
	}
}
