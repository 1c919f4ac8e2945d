package device_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// A node that has devices does not help another one.
func TestDevicesOfOneOfTwoNodes(t *testing.T) {
	p, n, claim, slice, class := claiming()
	m := mk.Node("m", "1")
	for _, nodes := range [][]any{{n, m}, {m, n}} {
		s := model.NewSnapshot(mk.Cluster(p, append(nodes, claim, slice, class)...))
		st, _ := device.DynamicResources{}.PreFilter(s)
		for i, of := range s.Nodes {
			require.Equal(t, of.Name == "n", st.(*device.State).Verdicts[i] == nil, of.Name)
		}
	}
}

// A resource that no devices back is for NodeResourcesFit to look at, unless the scheduler makes a claim for another resource.
func TestUnbackedBesideAClaim(t *testing.T) {
	p, n, claim, slice, class := claiming()
	p.Spec.Containers = []v1.Container{mk.Container("example.com/fpga", "1")}
	st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(mk.Cluster(p, n, claim, slice, class)))
	require.Nil(t, st.(*device.State).Verdicts[0])
}

// A claim is of use where its devices are, and where the kubelet knows of operations that are left out for one of them. Each one that is
// not may lose its allocation.
func TestAllocatedClaims(t *testing.T) {
	type change = func(*resourcev1.AllocationResult)
	nothing := func(*resourcev1.AllocationResult) {}
	elsewhere := func(a *resourcev1.AllocationResult) { a.NodeSelector = onNode("m") }
	skips := func(at int) change {
		return func(a *resourcev1.AllocationResult) {
			a.Devices.Results[at].SkipNodeOperations = []resourcev1.SkipNodeOperation{"Prepare"}
		}
	}
	features := []string{"AnotherFeature", "DRAOptionalNodeOperations"}
	for _, tt := range []struct {
		name          string
		first, second change
		declared      []string
		idle          []string
	}{
		{"both are anywhere", nothing, nothing, nil, nil},
		{"both are elsewhere", elsewhere, elsewhere, nil, []string{"default/c", "default/d"}},
		{"the second is elsewhere", nothing, elsewhere, features, []string{"default/d"}},
		{"an operation is left out", skips(0), nothing, nil, []string{"default/c"}},
		{"an operation is left out for a second device", nothing, skips(1), features[:1], []string{"default/d"}},
		{"the node knows of operations that are left out", skips(0), skips(1), features, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
			n.Status.DeclaredFeatures = tt.declared
			require.False(t, device.SkipsOperations(claim), "it has no devices")
			claim.Status.Allocation = &resourcev1.AllocationResult{}
			claim.Status.Allocation.Devices.Results = make([]resourcev1.DeviceRequestAllocationResult, 2)
			second := claim.DeepCopy()
			second.Name = "d"
			tt.first(claim.Status.Allocation)
			tt.second(second.Status.Allocation)
			s := model.NewSnapshot(mk.Cluster(p, n, claim, second, slice, class))
			st, _ := device.DynamicResources{}.PreFilter(s)
			require.Equal(t, tt.idle, st.(*device.State).Deallocatable(s.Nodes[0]))
			require.Equal(t, tt.idle == nil, st.(*device.State).Verdicts[0] == nil)
		})
	}
}

// As a release reads the documents, more may have to be tried than is. Nothing is claimed then.
func TestMoreToTryAsAReleaseReads(t *testing.T) {
	p, n, claim, slice, class := claiming()
	exactly := claim.Spec.Devices.Requests[0].Exactly
	exactly.AdminAccess, exactly.Count = new(true), 10
	of := slice.Spec.Devices[0]
	slice.Spec.Devices = nil
	for i := range 20 { // the ten smallest take all that there is
		of.Name, of.ConsumesCounters = fmt.Sprint(i), counting(strconv.Itoa(120-i))
		slice.Spec.Devices = append(slice.Spec.Devices, *of.DeepCopy())
	}
	slice.Spec.Pool.ResourceSliceCount = 2
	counters := slice.DeepCopy()
	counters.Name, counters.Spec.Devices = "counters", nil
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("1055")}}}}
	s := model.NewSnapshot(mk.Cluster(p, n, claim, slice, counters, class))
	state, _ := device.DynamicResources{}.PreFilter(s)
	st := state.(*device.State)
	for _, pays := range []bool{false, true, false} {
		st.Read(s, func(r *device.Reading) { r.AdminPays = pays })
		var told []string
		st.Undecided(func(_, field, _ string) { told = append(told, field) })
		require.Equal(t, pays, len(told) > 0)
	}
}

// Whether a device that may be shared counts twice for one request is open in the documents, and not as a release reads them.
func TestDeviceThatMayCountTwice(t *testing.T) {
	p, n, claim, slice, class := claiming()
	claim.Spec.Devices.Requests = nil
	for name, much := range map[string]string{"one": "6", "two": "3"} {
		r := resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			Capacity: &resourcev1.CapacityRequirements{Requests: one("units", much)}}}
		if name == "two" {
			r.Exactly.Count, r.Exactly.AdminAccess = 2, new(true)
		}
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, r)
	}
	of := slice.Spec.Devices[0]
	of.AllowMultipleAllocations = new(true)
	of.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("8")}}
	other := *of.DeepCopy()
	other.Name = "other"
	slice.Spec.Devices = []resourcev1.Device{of, other}
	s := model.NewSnapshot(mk.Cluster(p, n, claim, slice, class))
	state, _ := device.DynamicResources{}.PreFilter(s)
	st := state.(*device.State)
	require.Nil(t, st.Verdicts[0])
	st.Read(s, func(r *device.Reading) { r.AdminPays = true })
	require.NotNil(t, st.Verdicts[0], "6 and 3 of 8 are too many, and each of two devices is administered")
	st.Undecided(func(_, _, why string) { require.Fail(t, why) })
}

// More is to be tried where a device may count twice. If only that is too much, it is not known whether there are devices enough.
func TestTooMuchIfDevicesCountTwice(t *testing.T) {
	p, n, claim, slice, class := claiming()
	wants := func(name string, count int64, q string) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
			Capacity: &resourcev1.CapacityRequirements{Requests: one("units", q)}}}
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{wants("parts", 4, "1"), wants("all", 9, "4")}
	of := slice.Spec.Devices[0]
	slice.Spec.Devices = nil
	for i := range 9 { // no two of them are alike
		of.Name, of.AllowMultipleAllocations = strconv.Itoa(i), new(true)
		of.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("4")}}
		of.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"at": {IntValue: new(int64(i))}}
		slice.Spec.Devices = append(slice.Spec.Devices, *of.DeepCopy())
	}
	_, known := device.Enough([]runtime.Object{claim, slice, class}, nil, n, func(*device.Reading) {}, p)
	require.False(t, known)
	claim.Spec.Devices.Requests[0].Exactly.Count = 3
	enough, known := device.Enough([]runtime.Object{claim, slice, class}, nil, n, func(*device.Reading) {}, p)
	require.Equal(t, []bool{false, true}, []bool{enough, known})
}

func counting(q string) []resourcev1.DeviceCounterConsumption {
	return []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse(q)}}}}
}
