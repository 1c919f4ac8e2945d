package device_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// What pods claim together counts once for each claim, as the documents are read.
func TestEnoughForSeveral(t *testing.T) {
	as := func(*device.Reading) {}
	for _, tt := range []struct {
		name          string
		change        func(other *v1.Pod, of *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, s *resourcev1.ResourceSlice)
		read          func(*device.Reading)
		enough, known bool
	}{
		{"one claim", func(other *v1.Pod, _ *resourcev1.ResourceClaim, _ *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			other.Spec.ResourceClaims[0].ResourceClaimName = new("c")
		}, as, true, true},
		{"two claims", func(*v1.Pod, *resourcev1.ResourceClaim, *resourcev1.DeviceClass, *resourcev1.ResourceSlice) {}, as, false, true},
		{"two claims, one of which administers", func(_ *v1.Pod, of *resourcev1.ResourceClaim, _ *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			of.Spec.Devices.Requests[0].Exactly.AdminAccess = new(true)
		}, as, true, true},
		{"two claims, one of which withholds what it administers", func(_ *v1.Pod, of *resourcev1.ResourceClaim, _ *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			of.Spec.Devices.Requests[0].Exactly.AdminAccess = new(true)
		}, func(r *device.Reading) { r.Withholds = func(int, int) bool { return true } }, false, true},
		{"a class that is missing", func(_ *v1.Pod, of *resourcev1.ResourceClaim, _ *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			of.Spec.Devices.Requests[0].Exactly.DeviceClassName = "gone"
		}, as, false, false},
		{"more lists than are tried", func(_ *v1.Pod, of *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			for i := range 10 {
				r := resourcev1.DeviceRequest{Name: fmt.Sprint(i)}
				for j := range 2 {
					r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{Name: fmt.Sprint(j), DeviceClassName: class.Name, Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount})
				}
				of.Spec.Devices.Requests = append(of.Spec.Devices.Requests, r)
			}
		}, as, false, false},
		{"another driver's, said twice", func(_ *v1.Pod, _ *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, s *resourcev1.ResourceSlice) {
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: "e"})
			is := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "b"`}}
			class.Spec.Selectors = []resourcev1.DeviceSelector{is, is}
		}, as, false, true},
		{"a resource of devices, and one device", func(other *v1.Pod, _ *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, _ *resourcev1.ResourceSlice) {
			class.Spec.ExtendedResourceName = new(gpu)
			other.Spec.ResourceClaims, other.Spec.Containers = nil, []v1.Container{mk.Container(gpu, "1")}
		}, as, false, true},
		{"a resource of devices, and two devices", func(other *v1.Pod, _ *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, s *resourcev1.ResourceSlice) {
			class.Spec.ExtendedResourceName = new(gpu)
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: "e"})
			other.Spec.ResourceClaims, other.Spec.Containers = nil, []v1.Container{mk.Container(gpu, "1")}
		}, as, true, true},
		{"a part of a device", func(other *v1.Pod, _ *resourcev1.ResourceClaim, class *resourcev1.DeviceClass, s *resourcev1.ResourceSlice) {
			class.Spec.ExtendedResourceName = new(gpu)
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: "e"})
			other.Spec.ResourceClaims, other.Spec.Containers = nil, []v1.Container{mk.Container(gpu, "500m")}
		}, as, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			of, other := claim.DeepCopy(), p.DeepCopy()
			of.Name, of.UID, other.Name, other.Spec.ResourceClaims[0].ResourceClaimName = "d", "d", "other", new("d")
			tt.change(other, of, class, slice)
			enough, known := device.Enough([]runtime.Object{claim, of, class, slice}, nil, n, tt.read, p, other)
			require.Equal(t, tt.known, known)
			require.Equal(t, tt.enough, enough)
		})
	}
}

// Whichever of several claims, slices and sets of counters says so, a device is there or not.
func TestEnoughOfSeveral(t *testing.T) {
	share := func(claim *resourcev1.ResourceClaim, name, units string) *resourcev1.ResourceClaim {
		other := claim.DeepCopy()
		other.Name, other.Status.Allocation = "share"+units, &resourcev1.AllocationResult{}
		p := parts{}
		p.device = &resourcev1.Device{}
		p.shares("units", units)
		p.others[0].Driver, p.others[0].Pool, p.others[0].Device = "gpu.example.com", "n", name
		other.Status.Allocation.Devices.Results = p.others
		return other
	}
	set := func(name, q string) resourcev1.CounterSet {
		return resourcev1.CounterSet{Name: name, Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse(q)}}}
	}
	for _, tt := range []struct {
		name   string
		change func(claim *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) (before []runtime.Object)
		enough bool
	}{
		{"the second device is for the node", func(_ *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) []runtime.Object {
			s.Spec.NodeName, s.Spec.PerDeviceNodeSelection = nil, new(true)
			s.Spec.Devices = []resourcev1.Device{{Name: "d", NodeName: new("m")}, {Name: "e", NodeName: new("n")}}
			return nil
		}, true},
		{"a pool in part comes before", func(_ *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) []runtime.Object {
			other := s.DeepCopy()
			other.Name, other.Spec.Pool.Name, other.Spec.Pool.ResourceSliceCount = "other", "other", 2
			return []runtime.Object{other}
		}, true},
		{"two claims have shares", func(claim *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) []runtime.Object {
			before := []runtime.Object{share(claim, "d", "2"), share(claim, "d", "1")}
			s.Spec.Devices[0].AllowMultipleAllocations = new(true)
			s.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("4")}}
			claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: one("units", "2")}
			return before
		}, false},
		{"too little of a second set of counters", func(_ *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) []runtime.Object {
			s.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "4"), set("b", "4")}
			s.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "a", Counters: set("a", "1").Counters}, {CounterSet: "b", Counters: set("b", "5").Counters}}
			return nil
		}, false},
		{"only the second device has its counters already", func(claim *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) []runtime.Object {
			s.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "3")}
			s.Spec.Devices[0].AllowMultipleAllocations = new(true)
			s.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "a", Counters: set("a", "2").Counters}}
			s.Spec.Devices = append(s.Spec.Devices, *s.Spec.Devices[0].DeepCopy())
			s.Spec.Devices[1].Name = "e"
			return []runtime.Object{share(claim, "e", "1")}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			before := tt.change(claim, slice)
			enough, known := device.Enough(append(before, claim, slice, class), nil, n, func(*device.Reading) {}, p)
			require.True(t, known)
			require.Equal(t, tt.enough, enough)
		})
	}
}
