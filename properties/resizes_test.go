package properties_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

// Where the scheduler may make room for a resize, nothing is asked that is promised to pods which need a node.
func TestResizesAreNotAsked(t *testing.T) {
	deferred := func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonDeferred}}
	}
	for _, on := range []bool{true, false} {
		c := mk.Cluster(checktest.Pod("p", 10, "2", deferred), mk.Node("node-1", "1"), model.Settings{FeatureGates: map[string]bool{filter.GateResizePreemption: on}})
		r, err := (&properties.Checker{System: checktest.System(t), Properties: all.Cheap()}).Check(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, on, r.Unmodelled != nil)
		require.Equal(t, on, r.Observation == nil)
		require.Empty(t, r.Unexplained())
	}
}
