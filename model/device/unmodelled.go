package device

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unmodelled implements filter.Partial. It reports what of the preemptor's claims,
// and of the devices there are, is not covered: everything by which one device is
// not as good as another, and devices that are not simply free or taken.
func (DynamicResources) Unmodelled(s *filter.Snapshot, report filter.Report) {
	if len(s.Preemptor.Spec.ResourceClaims) > 0 {
		unmodelledClaims(s, report)
	}
}

// UnmodelledResources reports the resources that pods get from devices without naming a
// claim. NodeResourcesFit looks at them, too.
func UnmodelledResources(s *filter.Snapshot, report filter.Report) {
	for _, p := range s.Known {
		if len(p.Status.NodeAllocatableResourceClaimStatuses) > 0 && s.FeatureGates["DRANodeAllocatableResources"] {
			report("Pod "+filter.Key(p), "status.nodeAllocatableResourceClaimStatuses", "dynamic resource allocation")
		}
	}
	for _, o := range s.Objects {
		if class, ok := o.(*resourcev1.DeviceClass); ok && Backs(class, s.Preemptor.Pod) {
			report("DeviceClass "+class.Name, "spec.extendedResourceName", "extended resources backed by dynamic resource allocation")
		}
	}
}

// Backs tells whether the pod may get a resource that it requests from devices of the
// class (KEP-5004).
func Backs(class *resourcev1.DeviceClass, p *v1.Pod) bool {
	needs, none := filter.Requested(p), filter.Quantity{}
	return class.Spec.ExtendedResourceName != nil && needs.Get(v1.ResourceName(*class.Spec.ExtendedResourceName)) != none ||
		needs.Get(v1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class.Name)) != none
}

func unmodelledClaims(s *filter.Snapshot, report filter.Report) {
	p := s.Preemptor.Pod
	own, classes := map[string]bool{}, newDevices(s.Objects).classes
	for i := range p.Spec.ResourceClaims {
		if name, _ := ClaimName(p, &p.Spec.ResourceClaims[i]); name != "" {
			own[p.Namespace+"/"+name] = true
		}
	}
	allocates := false
	for _, o := range s.Objects {
		claim, ok := o.(*resourcev1.ResourceClaim)
		if !ok || !own[filter.Key(claim)] {
			continue
		}
		object := "ResourceClaim " + filter.Key(claim)
		if claim.Status.Allocation == nil {
			allocates = true
			unmodelledRequests(claim, classes, func(field, why string) { report(object, field, why) })
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			at := fmt.Sprintf("status.allocation.devices.results[%d]", i)
			if len(r.BindingConditions) > 0 {
				report(object, at+".bindingConditions", "binding conditions of devices")
			}
			if len(r.SkipNodeOperations) > 0 {
				report(object, at+".skipNodeOperations", "optional node operations of devices")
			}
		}
	}
	if allocates {
		unmodelledDevices(s.Objects, report)
	}
}

// maxDevices is how many devices a claim may get; to want more is an error.
const maxDevices = resourcev1.AllocationResultsMaxSize

// unmodelledRequests reports the requests of a claim by which one device is not as
// good as another.
func unmodelledRequests(claim *resourcev1.ResourceClaim, classes map[string]*resourcev1.DeviceClass, report func(field, why string)) {
	if len(claim.Spec.Devices.Constraints) > 0 {
		report("spec.devices.constraints", "constraints between devices")
	}
	total := int64(0)
	for i := range claim.Spec.Devices.Requests {
		at, r := fmt.Sprintf("spec.devices.requests[%d]", i), claim.Spec.Devices.Requests[i].Exactly
		if r == nil {
			report(at+".firstAvailable", "prioritized lists of devices")
			continue
		}
		total += min(r.Count, maxDevices+1)
		for _, f := range []struct {
			is         bool
			field, why string
		}{
			{len(r.Selectors) > 0, ".exactly.selectors", "selectors of devices"},
			{r.AllocationMode != resourcev1.DeviceAllocationModeExactCount, ".exactly.allocationMode", "all devices of a node"},
			{r.AdminAccess != nil && *r.AdminAccess, ".exactly.adminAccess", "devices for administration"},
			{r.Capacity != nil, ".exactly.capacity", "devices in part"},
			{len(r.DerivedAttributes) > 0, ".exactly.derivedAttributes", "derived attributes of devices"},
		} {
			if f.is {
				report(at+f.field, f.why)
			}
		}
		if class := classes[r.DeviceClassName]; class != nil {
			if _, known := driverOf(class); !known {
				report(at+".exactly.deviceClassName", "selectors of device classes other than by driver")
			}
		}
	}
	if total > maxDevices {
		report("spec.devices.requests", "more devices than a claim can hold")
	}
}

// unmodelledDevices reports the devices that are not simply free or taken.
func unmodelledDevices(objects []runtime.Object, report filter.Report) {
	seen := map[device]bool{}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.DeviceTaintRule:
			report("DeviceTaintRule "+o.Name, "spec", "taints of devices")
		case *resourcev1.ResourceClaim:
			if o.Status.Allocation == nil {
				continue
			}
			for i := range o.Status.Allocation.Devices.Results {
				if o.Status.Allocation.Devices.Results[i].ShareID != nil {
					report("ResourceClaim "+filter.Key(o), fmt.Sprintf("status.allocation.devices.results[%d].shareID", i), "devices in part")
				}
			}
		case *resourcev1.ResourceSlice:
			object, pool := "ResourceSlice "+o.Name, device{o.Spec.Driver, o.Spec.Pool.Name, ""}
			if seen[pool] || o.Spec.Pool.ResourceSliceCount != 1 {
				report(object, "spec.pool", "pools of several slices")
			}
			seen[pool] = true
			if len(o.Spec.SharedCounters) > 0 {
				report(object, "spec.sharedCounters", "partitionable devices")
			}
			if o.Spec.PerDeviceNodeSelection != nil && *o.Spec.PerDeviceNodeSelection {
				report(object, "spec.perDeviceNodeSelection", "devices for nodes of their own")
			}
			for i := range o.Spec.Devices {
				if field, why := unmodelledDevice(&o.Spec.Devices[i]); field != "" {
					report(object, fmt.Sprintf("spec.devices[%d].%s", i, field), why)
				}
			}
		}
	}
}

// unmodelledDevice is what of a device is not covered.
func unmodelledDevice(d *resourcev1.Device) (field, why string) {
	switch {
	case len(d.Taints) > 0:
		return "taints", "taints of devices"
	case len(d.ConsumesCounters) > 0:
		return "consumesCounters", "partitionable devices"
	case len(d.BindingConditions) > 0:
		return "bindingConditions", "binding conditions of devices"
	case d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations:
		return "allowMultipleAllocations", "devices in part"
	}
	return "", ""
}
