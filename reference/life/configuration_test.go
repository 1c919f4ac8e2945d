package life

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// A timeline goes by the configuration: who may not preempt does not, and waits as long as the backoff says.
func TestConfiguredTimeline(t *testing.T) {
	const head = `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"`
	for text, decided := range map[string]bool{
		head + `}`: true,
		head + `, "profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]}`: false,
	} {
		cluster := mk.Cluster(nil, model.Settings{Configuration: []byte(text)}, mk.Node("n", "1"), mk.Pod("a", 1, mk.CPU("1"), mk.On("n")))
		trace, err := Run(t.Context(), &timeline.Timeline{Cluster: cluster, Steps: []timeline.Step{{Create: mk.Pod("p", 9, mk.CPU("1"))}, {Wait: time.Second}}})
		require.NoError(t, err)
		require.Nil(t, trace.Crash)
		preempts := false
		for _, e := range trace.Entries {
			preempts = preempts || e.What == timeline.Decided && len(e.Victims) > 0
		}
		assert.Equal(t, decided, preempts, text)
	}
}
