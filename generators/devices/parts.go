package devices

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// constrain wants the devices of a claim to be alike, or not to be, at times those of one
// of its requests only.
func (d *detailer) constrain() {
	d.open(75)
	kind := d.Intn(valueKinds)
	d.eachDevice(85, func(device *resourcev1.Device) {
		its := kind
		if d.Chance(8) {
			its = d.Intn(valueKinds)
		}
		device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"example.com/socket": value(its, d.Intn(2))}
	})
	for _, c := range d.claims {
		if !d.Chance(85) {
			continue
		}
		constraint := resourcev1.DeviceConstraint{MatchAttribute: new(resourcev1.FullyQualifiedName("example.com/socket"))}
		if d.Chance(50) {
			constraint.MatchAttribute, constraint.DistinctAttribute = nil, constraint.MatchAttribute
		}
		c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{constraint}
		for i := range c.Spec.Devices.Requests {
			if e := c.Spec.Devices.Requests[i].Exactly; e != nil && e.AllocationMode == resourcev1.DeviceAllocationModeExactCount {
				e.Count = int64(draw.Pick(d.Source, 2, 1, 2)) // there has to be something to compare
			}
		}
		if len(c.Spec.Devices.Requests) == 1 && c.Status.Allocation == nil && d.Chance(40) {
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: "unlike", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: anyClass.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}})
		}
		if len(c.Spec.Devices.Requests) > 1 && d.Chance(60) {
			c.Spec.Devices.Constraints[0].Requests = []string{c.Spec.Devices.Requests[0].Name}
		}
	}
}

// valueKinds is how many kinds of values attributes have that are no lists.
const valueKinds = 4

// value is one of two of a kind.
func value(kind, n int) resourcev1.DeviceAttribute {
	switch kind {
	case 0:
		return resourcev1.DeviceAttribute{StringValue: new([]string{"left", "right"}[n])}
	case 1:
		return resourcev1.DeviceAttribute{BoolValue: new(n > 0)}
	case 2:
		return resourcev1.DeviceAttribute{VersionValue: new([]string{"1.0.0", "1.2.0"}[n])}
	default:
		return resourcev1.DeviceAttribute{IntValue: new(int64(n))}
	}
}

// partition makes the devices of a slice parts of one, which share counters. At times one
// that is in use is to be administered.
func (d *detailer) partition() {
	d.open(60)
	for _, s := range slices.Clone(d.slices) {
		if s.Spec.Pool.ResourceSliceCount > 1 || !d.Chance(80) {
			continue
		}
		s.Spec.Pool.ResourceSliceCount = 2
		counters := s.DeepCopy()
		counters.Name += "-counters"
		counters.Spec.Devices = nil
		counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "whole", Counters: d.counter(2, 4, 3, 6)}}
		for i := range s.Spec.Devices {
			if d.Chance(90) {
				s.Spec.Devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "whole", Counters: d.counter(1, 2, 1, 4)}}
			}
		}
		d.objects = append(d.objects, counters)
	}
	if d.Chance(20) {
		d.administer()
	}
}

func (d *detailer) counter(amounts ...int) map[string]resourcev1.Counter {
	return map[string]resourcev1.Counter{"units": {Value: d.units(amounts...)}}
}

func (d *detailer) units(amounts ...int) resource.Quantity {
	return *resource.NewQuantity(int64(draw.Pick(d.Source, amounts...)), resource.DecimalSI)
}

// units is the capacity that devices have.
const units resourcev1.QualifiedName = "units"

// share makes devices ones that several claims may use at once, each a part. Some are no
// longer such ones, and some claims have had one as a whole.
func (d *detailer) share() {
	d.open(60)
	shared := map[string]bool{}
	for _, s := range d.slices {
		for i := range s.Spec.Devices {
			if !d.Chance(75) {
				continue
			}
			device := &s.Spec.Devices[i]
			capacity := resourcev1.DeviceCapacity{Value: d.units(4, 4, 8)}
			shared[s.Spec.Driver+"/"+s.Spec.Pool.Name+"/"+device.Name] = true
			if !d.Chance(8) {
				device.AllowMultipleAllocations = new(true)
				capacity.RequestPolicy = d.policy()
			}
			if d.Chance(92) {
				device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{units: capacity}
			}
		}
	}
	d.eachRequest(75, func(_ *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		name := units
		if d.Chance(10) {
			name = "fast.example.com/" + units
		}
		much := d.units(1, 2, 3, 5)
		if d.Chance(10) {
			much = *resource.NewMilliQuantity(1500, resource.DecimalSI)
		}
		r.Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{name: much}}
	})
	if d.Chance(70) {
		d.takeSome()
	}
	for n, o := range d.objects {
		c, ok := o.(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		for i := range allocated(c) {
			if r := &c.Status.Allocation.Devices.Results[i]; shared[r.Driver+"/"+r.Pool+"/"+r.Device] && d.Chance(92) {
				r.ShareID = new(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%011d0", n)))
				r.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{units: d.units(1, 2, 3, 4)}
			}
		}
	}
	if d.Chance(15) {
		d.administer()
	}
}

// policy says which parts of a capacity of four or more requests may have.
func (d *detailer) policy() *resourcev1.CapacityRequestPolicy {
	quantity := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	switch draw.Weighted(d.Source, 25, 10, 22, 19, 6, 18) {
	case 1:
		return &resourcev1.CapacityRequestPolicy{Default: new(d.units(1, 2))}
	case 2:
		return &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("1"), Step: quantity("3")}}
	case 3:
		return &resourcev1.CapacityRequestPolicy{Default: quantity("2"), ValidValues: []resource.Quantity{*quantity("2"), *quantity("4")}}
	case 4:
		return &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("500m"), Step: quantity("500m")}}
	case 5:
		return &resourcev1.CapacityRequestPolicy{Default: quantity("3"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("3"), Max: quantity("4")}}
	}
	return nil
}

// splitPools spreads the devices of a pool over two slices, of which one may be missing.
func (d *detailer) splitPools() {
	for _, s := range slices.Clone(d.slices) {
		if n := len(s.Spec.Devices); n < 2 || s.Spec.Pool.ResourceSliceCount > 1 || !d.Chance(80) {
			continue
		}
		s.Spec.Pool.ResourceSliceCount = 2
		rest := s.DeepCopy()
		rest.Name += "-rest"
		s.Spec.Devices, rest.Spec.Devices = s.Spec.Devices[:1], rest.Spec.Devices[1:]
		if d.Chance(15) { // the driver is about to publish it anew
			rest.Spec.Pool.Generation++
		}
		if d.Chance(85) {
			d.objects, d.slices = append(d.objects, rest), append(d.slices, rest)
		}
	}
}

// selectPerDevice makes each device say from where it can be used.
func (d *detailer) selectPerDevice() {
	for _, s := range d.slices {
		if s.Spec.NodeName == nil || !d.Chance(70) {
			continue
		}
		node := *s.Spec.NodeName
		s.Spec.NodeName, s.Spec.PerDeviceNodeSelection = nil, new(true)
		for i := range s.Spec.Devices {
			if d.Chance(70) {
				s.Spec.Devices[i].NodeName = &node
			} else {
				s.Spec.Devices[i].AllNodes = new(true)
			}
		}
	}
}
