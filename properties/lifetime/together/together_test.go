package together_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// TestBoundTogether: pods of a group are bound in a cycle only if they are enough, with those that are assumed for an earlier one.
// One that is found to fit again, before the failure of its binding is told, is assumed still.
func TestBoundTogether(t *testing.T) {
	known := []timeline.Entry{
		{What: timeline.Handled, Object: "PodGroup default/g", Text: "added", Is: gangOf(2)},
		handled("Pod default/a", "added", podOf("a")), handled("Pod default/b", "added", podOf("b")),
	}
	placed := podOf("a")
	placed.Spec.NodeName = "node-1"
	for _, tt := range []struct {
		name    string
		entries [][]timeline.Entry
		broken  bool
	}{
		{"both at once", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b")}}, false},
		{"the second later", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b"), over("b", "error")}, tries("b"), {fits("b")}}, false},
		{"the first is bound", [][]timeline.Entry{{handled("Pod default/a", "updated", placed)}, tries("b"), {fits("b")}}, false},
		{"fits anew before its failure is told", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b")}, tries("a"), {fits("a"), over("a", "error"), over("b", "error")}, tries("b"), {fits("b")}}, false},

		{"one alone", [][]timeline.Entry{tries("a"), {fits("a")}}, true},
		{"the first has failed", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b"), over("a", "error"), over("b", "error")}, tries("b"), {fits("b")}}, true},
		{"told twice to fit in a cycle", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("a"), fits("b"), over("a", "error"), over("b", "error")}, tries("b"), {fits("b")}}, true},
		{"both attempts have failed", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b")}, tries("a"), {fits("a"), over("a", "error"), over("a", "error"), over("b", "error")}, tries("b"), {fits("b")}}, true},
		{"deleted", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b")}, tries("a"), {fits("a"), over("a", "error"), over("b", "error"), {What: timeline.Handled, Object: "Pod default/a", Text: "deleted", Was: podOf("a")}}, tries("b"), {fits("b")}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			broken := together.BoundTogether(nil, &timeline.Trace{Entries: slices.Concat(known, slices.Concat(tt.entries...))})
			if !tt.broken {
				require.Empty(t, broken)
				return
			}
			require.Len(t, broken, 1)
			require.Equal(t, group, broken[0].Pod)
		})
	}
}

// gangOf is a group that needs so many pods.
func gangOf(pods int32) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{}
	g.Namespace, g.Name = "default", "g"
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: pods}
	return g
}
