package device

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amount counts thousandths: more exact ones are not modelled.
type amount int64

// tooLarge is for amounts that are not modelled.
const tooLarge = amount(1) << 56

func milli(q *resource.Quantity) amount {
	m := q.MilliValue()
	if back := resource.NewMilliQuantity(m, q.Format); q.Cmp(*back) != 0 || m < 0 || amount(m) >= tooLarge {
		return tooLarge
	}
	return amount(m)
}

// plus adds amounts up to a limit, which is more than any that is modelled.
func (a amount) plus(b amount) amount { return min(a+b, 4*tooLarge) }

// name gives a name its domain: "Names which do not include the domain prefix are assumed
// to be part of the driver's domain" (resource/v1/types.go:828@v0.37.1, QualifiedName).
func (d *devices) name(name resourcev1.QualifiedName, driver string) string {
	if d.NamesAreText || strings.Contains(string(name), "/") {
		return string(name)
	}
	return driver + "/" + string(name)
}

// capacities are those of a device by name.
func (d *devices) capacities(of *resourcev1.Device, driver string) map[string]*resourcev1.DeviceCapacity {
	all := map[string]*resourcev1.DeviceCapacity{}
	for name := range of.Capacity {
		c := of.Capacity[name]
		all[d.name(name, driver)] = &c
	}
	return all
}

// consumed is how much of a capacity an allocation takes, and whether the capacity's
// policy admits it. "If a requestPolicy is set, the default consumed capacity is
// determined according to that policy", else it is "equal to the full device capacity";
// what is requested is "adjusted upward to the nearest valid value" (CapacityRequirements,
// resource/v1/types.go:1640@v0.37.1; KEP-5075).
func consumed(c *resourcev1.DeviceCapacity, requested *resource.Quantity) (takes amount, admitted bool) {
	policy := c.RequestPolicy
	switch {
	case requested == nil && policy != nil && policy.Default != nil:
		return milli(policy.Default), true
	case requested == nil:
		return milli(&c.Value), true
	case policy == nil:
		return milli(requested), true
	case policy.ValidRange != nil:
		return inRange(policy.ValidRange, milli(requested))
	case len(policy.ValidValues) > 0:
		for i := range policy.ValidValues {
			if value := milli(&policy.ValidValues[i]); value >= milli(requested) {
				return value, true // they are sorted
			}
		}
		return 0, false
	}
	return milli(requested), true
}

// units are whole ones, rounded up.
func units(a amount) amount { return (a + 999) / 1000 }

// inRange rounds an amount up to a valid one. "If the requested or rounded amount exceeds
// Max (if set), the request does not satisfy the policy".
func inRange(r *resourcev1.CapacityRequestPolicyRange, takes amount) (rounded amount, admitted bool) {
	least := amount(0)
	if r.Min != nil {
		least = milli(r.Min)
	}
	switch {
	case takes < least:
		takes = least
	case r.Step != nil && milli(r.Step) > 0:
		// With the gate DRAFractionalCapacityRange off, as it is by default, "all comparisons use 64-bit integer arithmetic via
		// resource.Quantity.Value()", which rounds up (resource/v1/types.go:777@v0.37.1).
		from, step := units(least), units(milli(r.Step))
		takes = 1000 * (from + (units(takes)-from+step-1)/step*step)
	}
	return takes, r.Max == nil || takes <= milli(r.Max)
}
