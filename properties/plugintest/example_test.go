package plugintest_test

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/plugintest"
)

// quiet keeps nodes with the label quiet free of all but one pod.
type quiet struct{ says fwk.Code }

const quietLabel = "quiet"

func newQuiet(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return &quiet{fwk.Unschedulable}, nil
}

// Name implements fwk.Plugin.
func (*quiet) Name() string { return "Quiet" }

// Filter implements fwk.FilterPlugin.
func (q *quiet) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if _, is := node.Node().Labels[quietLabel]; is && len(node.GetPods()) > 0 {
		return fwk.NewStatus(q.says, "the node is quiet")
	}
	return nil
}

// EventsToRegister implements fwk.EnqueueExtensions.
func (*quiet) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}},
	}, nil
}

// quieten gives some nodes the label that the plugin reads.
func quieten(t *rapid.T, c *model.Cluster) {
	for _, n := range c.Nodes {
		if rapid.Bool().Draw(t, quietLabel) {
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[quietLabel] = ""
		}
	}
}

// The one call in a plugin's own tests.
func ExampleTest() {
	var t *testing.T // that of func TestPreemption(t *testing.T)
	plugintest.Test(t, plugintest.Plugin{Name: "Quiet", New: newQuiet}, plugintest.Prepare(quieten))
}

// A plugin that means to break a promise says so.
func ExampleExcept() {
	var t *testing.T
	plugintest.Test(t, plugintest.Plugin{Name: "Quiet", New: newQuiet}, plugintest.Except("contract-hints"))
}
