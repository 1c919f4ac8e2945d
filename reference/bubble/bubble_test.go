package bubble

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
)

// TestEndless: what goes on for ever while the clock stands still is found; many cycles at one
// moment are not taken for that.
func TestEndless(t *testing.T) {
	steps := func(b *Bubble, n int) (crash *model.Crash) {
		require.Nil(t, b.Do(Patience, 0, func() {
			crash = b.Settle(func() {
				for range n {
					b.Progress()
				}
			}, func() bool { return true })
		}))
		return crash
	}
	b := New()
	defer b.Close(func() {})
	for range 5 {
		require.Nil(t, steps(b, mostSteps))
	}
	crash := steps(New(), mostSteps+1)
	require.NotNil(t, crash)
	require.Equal(t, model.Hang, crash.Kind)
	require.Contains(t, crash.Message, "it goes on for ever: more than 10000 steps")
}
