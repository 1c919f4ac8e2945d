package mutant

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofDevices get one rule wrong each about devices that are more than free or taken.
var ofDevices = []breaks{
	{"claims: a device that may be shared is taken whole", onPlugin("DynamicResources", misreadDevices(func(d *resourcev1.Device) { d.AllowMultipleAllocations = nil }))},
	{"claims: shares consume nothing", onPlugin("DynamicResources", misreadAllocations(func(a *resourcev1.AllocationResult) {
		for i := range a.Devices.Results {
			a.Devices.Results[i].ConsumedCapacity = nil
		}
	}))},
	{"claims: no capacity is requested", onPlugin("DynamicResources", misreadRequests(func(r *resourcev1.DeviceRequest) {
		if r.Exactly != nil {
			r.Exactly.Capacity = nil
		}
	}))},
	{"claims: who requests no capacity gets all", onPlugin("DynamicResources", misreadPolicies(func(p *resourcev1.CapacityRequestPolicy) { p.Default = nil }))},
	{"claims: ranges of capacities do not matter", onPlugin("DynamicResources", misreadPolicies(func(p *resourcev1.CapacityRequestPolicy) { p.ValidRange = nil }))},
	{"claims: any value of a capacity is valid", onPlugin("DynamicResources", misreadPolicies(func(p *resourcev1.CapacityRequestPolicy) { p.ValidValues = nil }))},
	{"claims: devices need not be alike", onPlugin("DynamicResources", misreadConstraintsOfClaims(func(c *resourcev1.DeviceConstraint) { c.MatchAttribute = nil }))},
	{"claims: devices need not be distinct", onPlugin("DynamicResources", misreadConstraintsOfClaims(func(c *resourcev1.DeviceConstraint) { c.DistinctAttribute = nil }))},
	{"claims: a constraint is about all requests", onPlugin("DynamicResources", misreadConstraintsOfClaims(func(c *resourcev1.DeviceConstraint) { c.Requests = nil }))},
	{"claims: devices consume no counters", onPlugin("DynamicResources", misreadDevices(func(d *resourcev1.Device) { d.ConsumesCounters = nil }))},
	{"claims: a device is for all nodes", onPlugin("DynamicResources", misreadDevices(func(d *resourcev1.Device) { d.NodeName, d.AllNodes = nil, new(true) }))},
	{"claims: pools in part will do", onPlugin("DynamicResources", variant.Misread(func(s *filter.Snapshot) {
		count := map[string]int64{}
		key := func(of *resourcev1.ResourceSlice) string {
			return fmt.Sprint(of.Spec.Driver, "/", of.Spec.Pool.Name, "/", of.Spec.Pool.Generation)
		}
		for _, o := range s.Objects {
			if of, ok := o.(*resourcev1.ResourceSlice); ok {
				count[key(of)]++
			}
		}
		for i, o := range s.Objects {
			if of, ok := o.(*resourcev1.ResourceSlice); ok {
				of = of.DeepCopy()
				of.Spec.Pool.ResourceSliceCount = count[key(of)]
				s.Objects[i] = of
			}
		}
	}))},
	{"claims: older slices of a pool will do", onPlugin("DynamicResources", variant.MisreadObjects(func(s *resourcev1.ResourceSlice) { s.Spec.Pool.Generation = 0 }))},
}

func misreadDevices(change func(*resourcev1.Device)) variant.OfPlugin {
	return variant.MisreadObjects(func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.Devices {
			change(&s.Spec.Devices[i])
		}
	})
}

func misreadPolicies(change func(*resourcev1.CapacityRequestPolicy)) variant.OfPlugin {
	return misreadDevices(func(d *resourcev1.Device) {
		for _, c := range d.Capacity {
			if c.RequestPolicy != nil {
				change(c.RequestPolicy)
			}
		}
	})
}

func misreadConstraintsOfClaims(change func(*resourcev1.DeviceConstraint)) variant.OfPlugin {
	return variant.MisreadObjects(func(c claim) {
		for i := range c.Spec.Devices.Constraints {
			change(&c.Spec.Devices.Constraints[i])
		}
	})
}
