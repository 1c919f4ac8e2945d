package inprocess

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Each call fails as it is told to, also when it is tried again; and the next cycle
// knows nothing of it.
func TestFaults(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 10, mk.CPU("2")), mk.Node("node-1", "2"),
		mk.Pod("mid", 2, mk.CPU("1"), mk.On("node-1"), mk.Started(2)), mk.Pod("low", 1, mk.CPU("1"), mk.On("node-1"), mk.Started(1)))
	s := New()
	defer s.Close()
	usual := observe(t, s, c)
	require.Len(t, usual.Aftermath.Calls, 5) // the condition, and two for each victim
	failures := func(fault reference.Fault) (failed []string) {
		o, err := s.ObserveUnder(t.Context(), c, reference.Circumstances{Fault: &fault})
		require.NoError(t, err)
		for _, call := range o.Aftermath.Calls {
			if call.Failed != "" {
				require.Equal(t, usual.Aftermath.Calls[fault.Call].Object, call.Object)
				failed = append(failed, call.Failed)
			}
		}
		return failed
	}
	for n, call := range usual.Aftermath.Calls {
		again := 1
		if call.Verb == "patch" {
			again = 4
		}
		assert.Equal(t, []string{`pods "` + call.Object[len("default/"):] + `" not found`}, failures(reference.Fault{Call: n, Error: reference.NotFound}))
		assert.Equal(t, []string{"Timeout: the server did not answer in time"}, failures(reference.Fault{Call: n, Error: reference.Timeout}))
		assert.Len(t, failures(reference.Fault{Call: n, Error: reference.Conflict}), again)
		assert.Len(t, failures(reference.Fault{Call: n, Error: reference.InternalError}), again)
		assert.Len(t, failures(reference.Fault{Call: n, Error: reference.InternalError, Passing: true}), 1)
		assert.Equal(t, usual, observe(t, s, c))
	}
	o, err := s.ObserveUnder(t.Context(), c, reference.Circumstances{Fault: &reference.Fault{Call: 1, Error: reference.Timeout}})
	require.NoError(t, err)
	assert.Equal(t, model.QueueActive, o.Aftermath.Queue)
}
