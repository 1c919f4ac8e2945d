package lanes

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Moments of one instant are apart and in order, those of others further, by the logarithm of the time between them.
func TestAxis(t *testing.T) {
	a := newAxis([]float64{0, 0, 0.001, 1.001, 1.001, 301.001, 3301.001})
	between := func(i int) int { return a.x[i] - a.x[i-1] }
	require.Equal(t, left, a.x[0])
	require.Equal(t, slot, between(1))
	require.Equal(t, slot, between(4))
	require.Equal(t, slot+11, between(2))
	require.Equal(t, slot+108, between(3))
	require.Equal(t, slot+197, between(5))
	require.InDelta(t, 36, between(6)-between(5), 2, "ten times as long")

	require.Equal(t, []tick{{14, "0 s"}, {77, "0.001 s"}, {211, "1.001 s"}, {460, "301.001 s"}, {a.x[6], "3301.001 s"}}, a.Ticks)
	var texts []string
	for i, g := range a.Gaps {
		texts = append(texts, g.Text)
		require.Equal(t, a.Instants[i].End(), g.X)
		require.Equal(t, a.Instants[i+1].X, g.End())
	}
	require.Equal(t, []string{"1 ms", "1 s", "5 min", "50 min"}, texts)
	require.Len(t, a.Instants, 5)
}

// What is between two moments is where the clock says, and never past the next one.
func TestPlace(t *testing.T) {
	a := newAxis([]float64{0, 30, 30})
	require.Equal(t, a.x[0], a.place(0, 0))
	require.Equal(t, a.x[1], a.place(0, 30))
	require.Equal(t, a.x[1], a.place(0, 40))
	require.Equal(t, a.x[0]+slot+108, a.place(0, 1))
	require.Equal(t, a.x[2]+slot+108, a.place(2, 31), "after the last one")
	require.Equal(t, left, a.place(-1, 3))
	require.Equal(t, left, newAxis(nil).place(0, 3))
}

// A tick without room for its text has a line.
func TestTicks(t *testing.T) {
	a := newAxis([]float64{0, 0.001, 0.002, 0.003})
	require.Equal(t, []tick{{14, "0 s"}, {51, "0.001 s"}, {88, ""}, {125, "0.003 s"}}, a.Ticks)
}

func TestLength(t *testing.T) {
	for seconds, want := range map[float64]string{0.001: "1 ms", 0.0104: "10 ms", 0.9996: "1 s", 1: "1 s", 30.098: "30.1 s", 99.9: "99.9 s", 100: "1 min 40 s", 299.999: "5 min", 330: "5 min 30 s"} {
		require.Equal(t, want, length(seconds))
	}
	for seconds, want := range map[float64]string{0: "0 s", 30.1: "30.1 s", 360.002: "360.002 s", 20: "20 s"} {
		require.Equal(t, want, clock(seconds))
	}
}
