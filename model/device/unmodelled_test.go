package device_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// fieldsOf are the fields that are not modelled of the devices of a cluster. Each has a reason.
func fieldsOf(c *model.Cluster) (fields []string) {
	device.DynamicResources{}.Unmodelled(model.NewSnapshot(c), func(_, field, why string) {
		if why == "" {
			field += " for no reason"
		}
		fields = append(fields, field)
	})
	return fields
}

// What is not modelled is found behind what is, and up to the limits all is.
func TestNotModelledBehindOthers(t *testing.T) {
	const exact = resourcev1.DeviceAllocationModeExactCount
	exists := []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
	about := resourcev1.FullyQualifiedName("gpu.example.com/socket")
	type state struct {
		p     *v1.Pod
		class *resourcev1.DeviceClass
		claim *resourcev1.ResourceClaim
		slice *resourcev1.ResourceSlice
		more  []any
	}
	request := func(s *state) *resourcev1.ExactDeviceRequest { return s.claim.Spec.Devices.Requests[0].Exactly }
	add := func(s *state, name string, count int64) *resourcev1.ExactDeviceRequest {
		r := s.claim.Spec.Devices.Requests[0].DeepCopy()
		r.Name, r.Exactly.Count, r.Exactly.AdminAccess = name, count, nil
		s.claim.Spec.Devices.Requests = append(s.claim.Spec.Devices.Requests, *r)
		return r.Exactly
	}
	lists := func(count, entries int, devices int64) func(s *state) {
		return func(s *state) {
			s.claim.Spec.Devices.Requests = nil
			for i := range count {
				r := resourcev1.DeviceRequest{Name: fmt.Sprint(i)}
				for j := range entries {
					r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{Name: fmt.Sprint(j), DeviceClassName: s.class.Name, Count: devices, AllocationMode: exact})
				}
				s.claim.Spec.Devices.Requests = append(s.claim.Spec.Devices.Requests, r)
			}
		}
	}
	administersOf := func(s *state, count int64, devices int) {
		s.slice.Spec.Devices = devicesOf("", devices).Spec.Devices
		request(s).AdminAccess, request(s).Count = new(true), count
	}
	administers := func(s *state) { administersOf(s, 10, 30) }
	// besideLists: there are 1000 combinations of prioritized lists, for each of which one of the devices is administered.
	besideLists := func(devices int) func(s *state) {
		return func(s *state) {
			administersOf(s, 1, devices)
			admin := s.claim.Spec.Devices.Requests[0]
			lists(3, 10, 1)(s)
			s.claim.Spec.Devices.Requests = append(s.claim.Spec.Devices.Requests, admin)
		}
	}
	selects := func(expressions ...string) func(s *state) {
		return func(s *state) {
			for _, e := range expressions {
				s.class.Spec.Selectors = append(s.class.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
			}
		}
	}
	result := func(s *state, name string) resourcev1.DeviceRequestAllocationResult {
		return resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: s.slice.Spec.Driver, Pool: "n", Device: name}
	}
	allocated := func(of *resourcev1.ResourceClaim, results ...resourcev1.DeviceRequestAllocationResult) {
		of.Status.Allocation = &resourcev1.AllocationResult{}
		of.Status.Allocation.Devices.Results = results
	}
	others := func(s *state, results ...resourcev1.DeviceRequestAllocationResult) {
		other := s.claim.DeepCopy()
		other.Name = "other"
		allocated(other, results...)
		s.more = append(s.more, other)
	}
	tainted := func(s *state) {
		s.slice.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	set := func(name, q string) resourcev1.CounterSet {
		return resourcev1.CounterSet{Name: name, Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse(q)}}}
	}
	policy := func(change func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity)) func(s *state) {
		return func(s *state) {
			p := &resourcev1.CapacityRequestPolicy{Default: new(resource.MustParse("1"))}
			change(p, resource.MustParse("1u"))
			s.slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("4"), RequestPolicy: p}}
		}
	}
	attributes := func(second resourcev1.DeviceAttribute) func(s *state) {
		return func(s *state) {
			s.slice.Spec.Devices[0].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {IntValue: new(int64(1))}, "b": second}
			s.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(s *state)
		fields []string
	}{
		{"all is", func(*state) {}, nil},
		{"the second claim", func(s *state) {
			second := s.claim.DeepCopy()
			second.Name, second.Spec.Devices.Requests[0].Exactly.AllocationMode = "d", resourcev1.DeviceAllocationModeAll
			s.p.Spec.ResourceClaims = append(s.p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
			s.more = append(s.more, second)
		}, []string{"spec.devices.requests[0].exactly.allocationMode"}},
		{"the second request", func(s *state) { add(s, "s", 1).AllocationMode = resourcev1.DeviceAllocationModeAll }, []string{"spec.devices.requests[1].exactly.allocationMode"}},
		{"the second device that is allocated", func(s *state) {
			tainted(s)
			second := result(s, "d")
			second.Tolerations = []resourcev1.DeviceToleration{{TolerationSeconds: new(int64)}}
			allocated(s.claim, result(s, "e"), second)
		}, []string{"status.allocation.devices.results[1]"}},
		{"the second claim that is allocated", func(s *state) {
			tainted(s)
			of := result(s, "d")
			of.Tolerations = []resourcev1.DeviceToleration{{TolerationSeconds: new(int64)}}
			allocated(s.claim, result(s, "e"))
			second := s.claim.DeepCopy()
			second.Name = "d"
			s.p.Spec.ResourceClaims = append(s.p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
			allocated(second, of)
			s.more = append(s.more, second)
		}, []string{"status.allocation.devices.results[0]"}},
		{"tolerations of the second request", func(s *state) {
			tainted(s)
			add(s, "s", 1).Tolerations = exists
			of := result(s, "d")
			of.Request = "s"
			allocated(s.claim, of)
		}, []string{"status.allocation.devices.results[0]"}},
		{"tolerations of a request that is gone", func(s *state) {
			tainted(s)
			of := result(s, "d")
			of.Request, of.Tolerations = "gone", exists
			allocated(s.claim, of)
		}, nil},

		{"a taint in a pool of which a slice is missing", func(s *state) {
			tainted(s)
			s.slice.Spec.Pool.ResourceSliceCount = 2
			allocated(s.claim, result(s, "d"))
		}, []string{"status.allocation.devices.results[0]"}},
		{"a derived attribute", func(s *state) { request(s).DerivedAttributes = make([]resourcev1.DeviceDerivedAttribute, 1) }, []string{"spec.devices.requests[0].exactly.derivedAttributes"}},
		{"a list of which no entry has its class", func(s *state) { lists(1, 2, 1)(s); s.class.Name = "another" }, nil},

		{"as many devices as a claim can hold", func(s *state) { request(s).Count = 32 }, nil},
		{"more of two requests", func(s *state) { request(s).Count = 20; add(s, "s", 20) }, []string{"spec.devices.requests"}},
		{"more by an entry of a list", lists(1, 1, 33), []string{"spec.devices.requests"}},
		{"nine lists of two", lists(9, 2, 1), nil},
		{"ten lists of two", lists(10, 2, 1), []string{"spec.resourceClaims"}},
		{"much to administer", administers, nil},
		{"as many combinations as are tried", besideLists(50), nil},
		{"more combinations than are tried", besideLists(51), []string{"spec.resourceClaims"}},
		{"much to administer, beside another request", func(s *state) { administers(s); add(s, "s", 1) }, []string{"spec.resourceClaims"}},
		{"much to administer, beside a resource of devices", func(s *state) {
			administers(s)
			s.class.Spec.ExtendedResourceName = new(gpu)
			s.p.Spec.Containers = []v1.Container{mk.Container(gpu, "1")}
		}, []string{"spec.resourceClaims"}},

		{"a class of one driver, twice", selects(`device.driver == "gpu.example.com"`, `device.driver == "gpu.example.com"`), nil},
		{"a class of two drivers", selects(`device.driver == "gpu.example.com"`, `device.driver == "b"`), []string{"spec.devices.requests[0].exactly.deviceClassName"}},
		{"a class that says more", selects(`device.driver == "gpu.example.com"`, "true"), []string{"spec.devices.requests[0].exactly.deviceClassName"}},

		{"the second set of counters", func(s *state) { s.slice.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "1"), set("b", "1Ei")} }, []string{"spec.sharedCounters[1]"}},
		{"two sets of one name", func(s *state) { s.slice.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "1"), set("a", "1")} }, []string{"spec.pool"}},
		{"slices that disagree about their number", func(s *state) {
			s.slice.Spec.Pool.ResourceSliceCount = 2
			other := s.slice.DeepCopy()
			other.Name, other.Spec.Devices, other.Spec.Pool.ResourceSliceCount = "other", nil, 3
			s.more = append(s.more, other)
		}, []string{"spec.pool", "spec.pool"}},
		{"two pools of more slices than they have", func(s *state) {
			s.slice.Spec.Pool.ResourceSliceCount = 0
			other := s.slice.DeepCopy()
			other.Name, other.Spec.Pool.Name = "other", "other"
			s.more = append(s.more, other)
		}, []string{"spec.pool", "spec.pool"}},
		{"what a device consumes", func(s *state) {
			s.slice.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "1")}
			s.slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "a", Counters: set("a", "1Ei").Counters}}
		}, []string{"spec.devices[0].consumesCounters[0]"}},
		{"what the second device consumes, second", func(s *state) {
			s.slice.Spec.Devices = append(s.slice.Spec.Devices, resourcev1.Device{Name: "e", ConsumesCounters: []resourcev1.DeviceCounterConsumption{{}, {CompatibilityGroups: []string{"a"}}}})
		}, []string{"spec.devices[1].consumesCounters[1].compatibilityGroups"}},
		{"what is consumed, second", func(s *state) {
			second := result(s, "d")
			second.ConsumedCapacity = one("units", "1Ei")
			others(s, result(s, "d"), second)
		}, []string{"status.allocation.devices.results[1].consumedCapacity"}},
		{"a device that is gone", func(s *state) { others(s, result(s, "gone")) }, nil},
		{"a device that is gone, beside counters", func(s *state) {
			s.slice.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "1")}
			others(s, result(s, "gone"))
		}, []string{"status.allocation.devices.results[0]"}},
		{"a device that is there, beside counters", func(s *state) {
			s.slice.Spec.SharedCounters = []resourcev1.CounterSet{set("a", "1")}
			others(s, result(s, "d"))
		}, nil},

		{"a policy", policy(func(*resourcev1.CapacityRequestPolicy, resource.Quantity) {}), nil},
		{"a tiny default", policy(func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity) { p.Default = &tiny }), []string{"spec.devices[0].capacity"}},
		{"a tiny value", policy(func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity) {
			p.ValidValues = []resource.Quantity{tiny}
		}), []string{"spec.devices[0].capacity"}},
		{"a tiny least", policy(func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity) {
			p.ValidRange = &resourcev1.CapacityRequestPolicyRange{Min: &tiny}
		}), []string{"spec.devices[0].capacity"}},
		{"a tiny most", policy(func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity) {
			p.ValidRange = &resourcev1.CapacityRequestPolicyRange{Max: &tiny}
		}), []string{"spec.devices[0].capacity"}},
		{"a tiny step", policy(func(p *resourcev1.CapacityRequestPolicy, tiny resource.Quantity) {
			p.ValidRange = &resourcev1.CapacityRequestPolicyRange{Min: new(resource.MustParse("1")), Step: &tiny}
		}), []string{"spec.devices[0].capacity"}},

		{"one value", attributes(resourcev1.DeviceAttribute{BoolValue: new(true)}), nil},
		{"numbers", attributes(resourcev1.DeviceAttribute{IntValues: []int64{1}}), []string{"spec.devices[0].attributes"}},
		{"truths", attributes(resourcev1.DeviceAttribute{BoolValues: []bool{true}}), []string{"spec.devices[0].attributes"}},
		{"texts", attributes(resourcev1.DeviceAttribute{StringValues: []string{"1"}}), []string{"spec.devices[0].attributes"}},
		{"versions", attributes(resourcev1.DeviceAttribute{VersionValues: []string{"1.0.0"}}), []string{"spec.devices[0].attributes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			s := &state{p: p, class: class, claim: claim, slice: slice}
			tt.change(s)
			require.Equal(t, tt.fields, fieldsOf(mk.Cluster(p, append([]any{mk.Node("m", "1"), n, class, claim, slice}, s.more...)...)))
		})
	}
}

// Whichever counter of a device is too large, the device is not modelled.
func TestEachCounterIsLookedAt(t *testing.T) {
	for large := range 10 {
		p, n, claim, slice, class := claiming()
		counters := map[string]resourcev1.Counter{}
		for i := range 10 {
			counters[fmt.Sprint(i)] = resourcev1.Counter{Value: resource.MustParse("1")}
		}
		slice.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: maps.Clone(counters)}}
		counters[fmt.Sprint(large)] = resourcev1.Counter{Value: resource.MustParse("1Ei")}
		slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: counters}}
		require.Equal(t, []string{"spec.devices[0].consumesCounters[0]"}, fieldsOf(mk.Cluster(p, n, claim, slice, class)), large)
	}
}

// Devices that stand for resources of a node are not modelled with their gate.
func TestResourcesFromDevices(t *testing.T) {
	for _, on := range []bool{true, false} {
		for count := range 2 {
			got := func(p *v1.Pod) {
				p.Status.NodeAllocatableResourceClaimStatuses = make([]v1.NodeAllocatableResourceClaimStatus, count)
			}
			c := mk.Cluster(mk.Pod("p", 1), mk.Node("n", "1"), mk.Pod("one", 1, mk.On("n"), got), mk.Pod("other", 1, mk.On("n"), got))
			c.Settings.FeatureGates = map[string]bool{"DRANodeAllocatableResources": on}
			objects := []string(nil)
			device.UnmodelledResources(model.NewSnapshot(c), func(object, _, _ string) { objects = append(objects, object) })
			if on && count > 0 {
				require.Equal(t, []string{"Pod default/one", "Pod default/other"}, objects)
			} else {
				require.Empty(t, objects)
			}
		}
	}
}
