package testsize

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTimes(t *testing.T) {
	short := flag.Lookup("test.short")
	defer short.Value.Set(short.Value.String())
	for _, test := range []struct {
		times, short string
		n, want      int
	}{
		{"", "false", 3000, 3000},
		{"10", "false", 3000, 30000},
		{"", "true", 3000, 600},
		{"10", "true", 3000, 6000},
		{"", "true", 1, 1},
	} {
		t.Setenv(Variable, test.times)
		require.NoError(t, short.Value.Set(test.short))
		require.Equal(t, test.want, Times(test.n), test)
	}
	for _, bad := range []string{"0", "-1", "1.5", "many"} {
		t.Setenv(Variable, bad)
		require.PanicsWithValue(t, `PREEMPTCHECK_TIMES="`+bad+`": it takes a positive whole number`, func() { Times(1) })
	}
}
