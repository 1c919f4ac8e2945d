package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// TestExhaust: the scheduler gets through all orders, and one that is seen to have a pod in two
// queues does not.
func TestExhaust(t *testing.T) {
	var text bytes.Buffer
	found, err := exhaust(t.Context(), &text, 3, run)
	require.NoError(t, err)
	require.Zero(t, found, text.String())
	require.Contains(t, text.String(), "the victim goes: 12 orders of up to 3 choices")

	found, err = exhaust(t.Context(), &text, 1, func(ctx context.Context, tl *timeline.Timeline) (*timeline.Trace, error) {
		trace, err := run(ctx, tl)
		if err == nil && len(trace.Quiet.Pods) > 0 {
			trace.Quiet.Pods[0].Queues = []model.Queue{model.QueueActive, model.QueueBackoff}
		}
		return trace, err
	})
	require.NoError(t, err)
	require.Positive(t, found)
	require.Contains(t, text.String(), "one-queue")
	require.Contains(t, text.String(), "kind: Timeline")
}
