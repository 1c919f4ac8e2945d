package life_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func TestFirst(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines")
	require.NoError(t, err)
	for _, c := range s.Cases {
		trace, err := life.Run(t.Context(), c.Timeline)
		require.NoError(t, err)
		fmt.Println(c.Name)
		fmt.Println(trace, trace.Unmet, trace.Endless, trace.Crash)
		if trace.Crash != nil {
			fmt.Println(trace.Crash.Stack)
		}
		if trace.Quiet != nil {
			fmt.Println(trace.Quiet.Outcome(), trace.Flushed.Outcome())
		}
	}
}
