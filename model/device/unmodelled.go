package device

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unmodelled implements filter.Partial. It reports what of the preemptor's claims,
// and of the devices there are, is not covered: everything by which one device is
// not as good as another, and devices that are not simply free or taken.
func (DynamicResources) Unmodelled(s *filter.Snapshot, report filter.Report) {
	backed, _ := extendedOf(s.Preemptor.Pod, s.Objects)
	if len(s.Preemptor.Spec.ResourceClaims)+len(backed) == 0 {
		return
	}
	if len(backed) > 0 {
		unmodelledExtended(s.Preemptor.Pod, backed, report)
	}
	unmodelledClaims(s, backed, report)
}

// UnmodelledResources reports the resources that pods get from devices without naming a
// claim, as far as other plugins look at them, too, or more than the verdicts on nodes
// depends on them.
func UnmodelledResources(s *filter.Snapshot, report filter.Report) {
	for _, p := range s.Known {
		if len(p.Status.NodeAllocatableResourceClaimStatuses) > 0 && s.FeatureGates["DRANodeAllocatableResources"] {
			report("Pod "+filter.Key(p), "status.nodeAllocatableResourceClaimStatuses", "dynamic resource allocation")
		}
	}
	for _, claim := range SpecialOf(s.Preemptor.Pod, s.Objects) {
		// "If found, scheduler would reuse it" (KEP-5004, "PreFilter"), but "retry anew"
		// (extendeddynamicresources.go:224@v1.37.1).
		report("ResourceClaim "+filter.Key(claim), "metadata.annotations", "a claim for extended resources that an earlier cycle has made")
	}
}

func unmodelledClaims(s *filter.Snapshot, backed []extended, report filter.Report) {
	p := s.Preemptor.Pod
	own, d := Named(p), newDevices(s.Objects, s.FeatureGates)
	allocates := len(backed) > 0
	if allocates {
		d.extended = [][]extended{backed}
	}
	for _, o := range s.Objects {
		claim, ok := o.(*resourcev1.ResourceClaim)
		if !ok || !slices.Contains(own, filter.Key(claim)) {
			continue
		}
		object := "ResourceClaim " + filter.Key(claim)
		if claim.Status.Allocation == nil {
			allocates = true
			unmodelledRequests(claim, d.classes, func(field, why string) { report(object, field, why) })
			d.want(claim)
			continue
		}
		if i, why := d.unmodelledBinding(claim); why != "" {
			report(object, fmt.Sprintf("status.allocation.devices.results[%d].bindingConditions", i), why)
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			at := fmt.Sprintf("status.allocation.devices.results[%d]", i)
			if why := d.doubtful(claim, r); why != "" {
				report(object, at, why)
			}
		}
	}
	if allocates {
		unmodelledDevices(s.Objects, d, report)
		nodes := make([]*v1.Node, len(s.Nodes))
		for i, n := range s.Nodes {
			nodes[i] = n.Node
		}
		if why := d.tooMany(nodes); why != "" {
			report("Pod "+filter.Key(p), "spec.resourceClaims", why)
		}
	}
}

// doubtful says why it cannot be told whether taints of an allocated device keep pods
// away, "" if it can.
func (d *devices) doubtful(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) string {
	id := device{r.Driver, r.Pool, r.Device}
	taints := d.taintsOf(id)
	if tolerated(taints, nil) {
		return ""
	}
	if d.inPart(id) {
		return "tainted devices of incomplete pools"
	}
	if slices.ContainsFunc(r.Tolerations, forATime) {
		return "devices that are tolerated for a time"
	}
	if asked, known := tolerationsOf(claim, r.Request); known && tolerated(taints, asked) != tolerated(taints, r.Tolerations) {
		return "tolerations of which the allocation has no copy"
	}
	return ""
}

// inPart tells whether the device is of a pool of which slices are missing.
func (d *devices) inPart(id device) bool {
	p := d.pools[poolID{id.driver, id.pool}]
	return p != nil && (!p.complete() || p.invalid != "")
}

// tolerationsOf are what a request tolerates: its name is REQUEST, or REQUEST/ENTRY for
// an entry of a prioritized list (resource/v1/types.go, DeviceRequestAllocationResult).
func tolerationsOf(claim *resourcev1.ResourceClaim, request string) (tolerations []resourcev1.DeviceToleration, known bool) {
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		if r.Exactly != nil && r.Name == request {
			return r.Exactly.Tolerations, true
		}
		for j := range r.FirstAvailable {
			if r.Name+"/"+r.FirstAvailable[j].Name == request {
				return r.FirstAvailable[j].Tolerations, true
			}
		}
	}
	return nil, false
}

func forATime(t resourcev1.DeviceToleration) bool { return t.TolerationSeconds != nil }

// maxDevices is how many devices a claim may get; to want more is an error.
const maxDevices = resourcev1.AllocationResultsMaxSize

// maxWays is how many combinations of the entries of prioritized lists are tried, and
// maxPlacements how many of devices for administration beside others.
const maxWays, maxPlacements = 1000, 50000

const tooManyTried = "more combinations of devices than are tried, or one device twice for one request"

// tooMany says why what is wanted cannot be told on some of the nodes.
func (d *devices) tooMany(nodes []*v1.Node) string {
	ways, placements, most, others := 1, 1, 0, len(d.extended) > 0
	for _, n := range nodes {
		offered := d.offeredTo(n)
		if !d.on(n).intricate(offered) {
			most = max(most, len(offered))
		} else if !d.suffice(n).known() {
			return tooManyTried
		}
	}
	for _, of := range d.wanted {
		ways = min(ways*max(len(of), 1), maxWays+1)
		for i := range of {
			if of[i].admin {
				placements = min(placements*choices(most, of[i].count), maxPlacements+1)
			} else {
				others = true
			}
		}
	}
	switch {
	case ways > maxWays:
		return "more combinations of prioritized lists than are tried"
	case others && ways*placements > maxPlacements:
		return "more combinations of devices for administration, beside others, than are tried"
	}
	return ""
}

// choices is in how many ways some of the devices can be taken, up to a limit.
func choices(devices, some int) int {
	ways := 1
	for i := 1; i <= min(some, devices-some); i++ {
		if ways = ways * (devices - i + 1) / i; ways > maxPlacements {
			return maxPlacements + 1
		}
	}
	return ways
}

// unmodelledRequests reports the requests of a claim by which one device is not as
// good as another in other ways than those that are modelled.
func unmodelledRequests(claim *resourcev1.ResourceClaim, classes map[string]*resourcev1.DeviceClass, report func(field, why string)) {
	total := int64(0)
	for i := range claim.Spec.Devices.Requests {
		r, most := &claim.Spec.Devices.Requests[i], int64(0)
		at := fmt.Sprintf("spec.devices.requests[%d]", i)
		if e := r.Exactly; e != nil {
			sub := resourcev1.DeviceSubRequest{DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode,
				Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity, DerivedAttributes: e.DerivedAttributes}
			unmodelledRequest(&sub, classes, func(field, why string) { report(at+".exactly"+field, why) })
			most = e.Count
		}
		for j := range r.FirstAvailable {
			sub, at := &r.FirstAvailable[j], fmt.Sprintf("%s.firstAvailable[%d]", at, j)
			unmodelledRequest(sub, classes, func(field, why string) { report(at+field, why) })
			if classes[sub.DeviceClassName] == nil && slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return classes[s.DeviceClassName] != nil }) {
				report(at+".deviceClassName", "an entry of a prioritized list without its class, beside one that has it")
			}
			most = max(most, sub.Count)
		}
		total += min(most, maxDevices+1)
	}
	if total > maxDevices {
		report("spec.devices.requests", "more devices than a claim can hold")
	}
}

func unmodelledRequest(r *resourcev1.DeviceSubRequest, classes map[string]*resourcev1.DeviceClass, report func(field, why string)) {
	for _, f := range []struct {
		is         bool
		field, why string
	}{
		{len(r.Selectors) > 0, ".selectors", "selectors of devices"},
		{r.AllocationMode != resourcev1.DeviceAllocationModeExactCount, ".allocationMode", "all devices of a node"},
		{r.Capacity != nil && anyHuge(maps.Values(r.Capacity.Requests)), ".capacity", "amounts of devices that are huge or tiny"},
		{len(r.DerivedAttributes) > 0, ".derivedAttributes", "derived attributes of devices"},
		{slices.ContainsFunc(r.Tolerations, forATime), ".tolerations", "devices that are tolerated for a time"},
	} {
		if f.is {
			report(f.field, f.why)
		}
	}
	if class := classes[r.DeviceClassName]; class != nil {
		if _, known := driverOf(class); !known {
			report(".deviceClassName", "selectors of device classes other than by driver")
		}
	}
}

// unmodelledDevices reports the devices that are more than free or taken in ways that are
// not modelled.
func unmodelledDevices(objects []runtime.Object, d *devices, report filter.Report) {
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.ResourceClaim:
			if o.Status.Allocation == nil {
				continue
			}
			for i := range o.Status.Allocation.Devices.Results {
				r := &o.Status.Allocation.Devices.Results[i]
				if at := fmt.Sprintf("status.allocation.devices.results[%d]", i); anyHuge(maps.Values(r.ConsumedCapacity)) {
					report("ResourceClaim "+filter.Key(o), at+".consumedCapacity", "amounts of devices that are huge or tiny")
				} else if d.unaccounted(r) {
					report("ResourceClaim "+filter.Key(o), at, "a device that is gone, and may have consumed counters")
				}
			}
		case *resourcev1.ResourceSlice:
			object := "ResourceSlice " + o.Name
			if why := d.poolOf(o).invalid; why != "" {
				report(object, "spec.pool", why)
			}
			for i := range o.Spec.SharedCounters {
				if anyHuge(counts(o.Spec.SharedCounters[i].Counters)) {
					report(object, fmt.Sprintf("spec.sharedCounters[%d]", i), "amounts of devices that are huge or tiny")
				}
			}
			for i := range o.Spec.Devices {
				if field, why := unmodelledDevice(&o.Spec.Devices[i], d.constrained()); field != "" {
					report(object, fmt.Sprintf("spec.devices[%d].%s", i, field), why)
				}
			}
		}
	}
}

// unaccounted tells whether an allocated device of a pool that has counters is not known.
func (d *devices) unaccounted(r *resourcev1.DeviceRequestAllocationResult) bool {
	p := d.pools[poolID{r.Driver, r.Pool}]
	return p != nil && len(p.counters) > 0 && !slices.ContainsFunc(p.slices, func(s *resourcev1.ResourceSlice) bool {
		return slices.ContainsFunc(s.Spec.Devices, func(of resourcev1.Device) bool { return of.Name == r.Device })
	})
}

// constrained tells whether claims are about attributes.
func (d *devices) constrained() bool { return len(d.constraints) > 0 }

// unmodelledDevice is what of a device is not covered.
func unmodelledDevice(d *resourcev1.Device, constrained bool) (field, why string) {
	for i := range d.ConsumesCounters {
		switch of := &d.ConsumesCounters[i]; {
		case len(of.CompatibilityGroups) > 0:
			return fmt.Sprintf("consumesCounters[%d].compatibilityGroups", i), "compatibility groups of devices"
		case anyHuge(counts(of.Counters)):
			return fmt.Sprintf("consumesCounters[%d]", i), "amounts of devices that are huge or tiny"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		c := d.Capacity[name]
		all := []resource.Quantity{c.Value}
		if p := c.RequestPolicy; p != nil {
			if p.Default == nil {
				return "capacity.requestPolicy", "a policy without a default"
			}
			all = append(append(all, *p.Default), p.ValidValues...)
			if r := p.ValidRange; r != nil {
				for _, q := range []*resource.Quantity{r.Min, r.Max, r.Step} {
					if q != nil {
						all = append(all, *q)
					}
				}
			}
		}
		if anyHuge(slices.Values(all)) {
			return "capacity", "amounts of devices that are huge or tiny"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		a := d.Attributes[name]
		if constrained && len(a.IntValues)+len(a.BoolValues)+len(a.StringValues)+len(a.VersionValues) > 0 {
			return "attributes", "attributes that are lists"
		}
	}
	return "", ""
}

func counts(of map[string]resourcev1.Counter) iter.Seq[resource.Quantity] {
	return func(yield func(resource.Quantity) bool) {
		for _, c := range of {
			if !yield(c.Value) {
				return
			}
		}
	}
}

// anyHuge tells whether some amount is not modelled.
func anyHuge(all iter.Seq[resource.Quantity]) bool {
	for q := range all {
		if milli(&q) == tooLarge {
			return true
		}
	}
	return false
}
