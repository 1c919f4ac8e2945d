package device_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// claiming is a pod whose claim asks for one device, and node n that has one.
func claiming() (p *v1.Pod, n *v1.Node, claim *resourcev1.ResourceClaim, slice *resourcev1.ResourceSlice, class *resourcev1.DeviceClass) {
	const driver = "gpu.example.com"
	slice = &resourcev1.ResourceSlice{}
	slice.Name, slice.Spec.Driver, slice.Spec.NodeName, slice.Spec.Pool = "n", driver, new("n"), resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1}
	slice.Spec.Devices = []resourcev1.Device{{Name: "d"}}
	class = &resourcev1.DeviceClass{}
	class.Name = driver
	claim = &resourcev1.ResourceClaim{}
	claim.Namespace, claim.Name, claim.UID = "default", "c", "c"
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: driver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
	p = mk.Pod("p", 1)
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
	return p, mk.Node("n", "1"), claim, slice, class
}

// Whether a node has enough devices is known where all that is asked for is modelled.
func TestEnough(t *testing.T) {
	for _, tt := range []struct {
		name          string
		change        func(claim *resourcev1.ResourceClaim, slice *resourcev1.ResourceSlice)
		enough, known bool
	}{
		{"one of one", func(*resourcev1.ResourceClaim, *resourcev1.ResourceSlice) {}, true, true},
		{"two of one", func(c *resourcev1.ResourceClaim, _ *resourcev1.ResourceSlice) {
			c.Spec.Devices.Requests[0].Exactly.Count = 2
		}, false, true},
		{"given already", func(c *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) {
			s.Spec.Devices, c.Status.Allocation = nil, &resourcev1.AllocationResult{}
		}, true, true},
		{"much to administer", func(c *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) {
			for i := range 30 {
				s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprint(i)})
			}
			c.Spec.Devices.Requests[0].Exactly.AdminAccess, c.Spec.Devices.Requests[0].Exactly.Count = new(true), 10
		}, true, true},
		{"the claim is missing", func(c *resourcev1.ResourceClaim, _ *resourcev1.ResourceSlice) { c.Name = "another" }, false, false},
		{"all there are", func(c *resourcev1.ResourceClaim, _ *resourcev1.ResourceSlice) {
			c.Spec.Devices.Requests[0].Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
		}, false, false},
		{"a device that is not modelled", func(_ *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) {
			s.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CompatibilityGroups: []string{"a"}}}
		}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			tt.change(claim, slice)
			c := mk.Cluster(p, n, claim, slice, class)
			enough, known := device.Enough(c.Extra, nil, n, func(*device.Reading) {}, p)
			require.Equal(t, tt.known, known)
			require.Equal(t, tt.enough, enough)
		})
	}
}

// What a claim asks for counts, also behind a claim that is given already.
func TestEnoughBehindGiven(t *testing.T) {
	for count := range int64(3) {
		p, n, claim, slice, class := claiming()
		second := claim.DeepCopy()
		second.Name, second.UID, second.Spec.Devices.Requests[0].Exactly.Count = "d", "d", count
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
		claim.Status.Allocation = &resourcev1.AllocationResult{}
		enough, known := device.Enough(mk.Cluster(p, n, claim, second, slice, class).Extra, nil, n, func(*device.Reading) {}, p)
		require.True(t, known)
		require.Equal(t, count < 2, enough, count)
	}
}

// A device for which operations are left out is given with the gate, on a node that declares that it knows of this. Without the gate it is
// given where it is read so that nobody sees what is left out.
func TestSkipsOperations(t *testing.T) {
	for _, tt := range []struct{ gate, declared, unseen, enough bool }{
		{false, false, false, false}, {false, false, true, true}, {false, true, false, false}, {false, true, true, true},
		{true, false, false, false}, {true, false, true, false}, {true, true, false, true},
	} {
		p, n, claim, slice, class := claiming()
		slice.Spec.SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
		if tt.declared {
			n.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
		}
		gates := map[string]bool{device.GateOptionalOperations: tt.gate}
		enough, known := device.Enough(mk.Cluster(p, n, claim, slice, class).Extra, gates, n, func(r *device.Reading) { r.SkipsAreUnseen = tt.unseen }, p)
		require.True(t, known)
		require.Equal(t, tt.enough, enough, "%+v", tt)
	}
}

// Devices of one name make a pool invalid, whichever slices they are in.
func TestInvalidPoolIsNotModelled(t *testing.T) {
	for _, second := range []string{"d", "e"} {
		p, n, claim, slice, class := claiming()
		slice.Spec.Pool.ResourceSliceCount = 2
		other := slice.DeepCopy()
		other.Name, other.Spec.Devices[0].Name = "other", second
		enough, known := device.Enough(mk.Cluster(p, n, claim, slice, other, class).Extra, nil, n, func(*device.Reading) {}, p)
		require.Equal(t, second == "e", known)
		require.Equal(t, second == "e", enough)
	}
}

// A device that is given has a copy of the operations that are left out for it.
func TestGivenSkipsOperations(t *testing.T) {
	skips := []resourcev1.SkipNodeOperation{"Prepare"}
	p, n, claim, slice, class := claiming()
	slice.Spec.SkipNodeOperations = skips
	n.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
	c := mk.Cluster(p, n, claim, slice, class)
	c.Settings.FeatureGates = map[string]bool{device.GateOptionalOperations: true}
	s := model.NewSnapshot(c)
	st, _ := device.DynamicResources{}.PreFilter(s)
	for _, copied := range [][]resourcev1.SkipNodeOperation{skips, nil} {
		got := &resourcev1.AllocationResult{NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{
			Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"n"}}}}}}}
		got.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d", SkipNodeOperations: copied}}
		wrong := st.(*device.State).Wrong(s, c.Nodes[0], map[string]*resourcev1.AllocationResult{"default/c": got})
		if copied != nil {
			require.Empty(t, wrong)
		} else {
			require.Contains(t, wrong, "operations that are left out")
		}
	}
}
