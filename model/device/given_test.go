package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// What is allocated names the node to which its device is bound.
func TestNodeSelectorOfAnAllocation(t *testing.T) {
	p, n, claim, slice, class := claiming()
	named := func(nodes ...string) *v1.NodeSelector {
		return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: nodes}}}}}
	}
	c := mk.Cluster(p, n, mk.Node("m", "1"), slice, class, claim)
	for _, tt := range []struct {
		name  string
		of    *v1.NodeSelector
		wrong string
	}{
		{"its node", named("n"), ""},
		{"another node", named("m"), "its node selector says of node"},
		{"none", nil, "its node selector says of node"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := model.NewSnapshot(c)
			st, _ := device.DynamicResources{}.PreFilter(s)
			got := &resourcev1.AllocationResult{NodeSelector: tt.of}
			got.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d"}}
			wrong := st.(*device.State).Wrong(s, c.Nodes[0], map[string]*resourcev1.AllocationResult{"default/c": got})
			if tt.wrong == "" {
				require.Empty(t, wrong)
				return
			}
			require.Contains(t, wrong, tt.wrong)
		})
	}
}
