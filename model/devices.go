package model

import (
	"fmt"
	"regexp"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// device names a device of the cluster.
type device struct{ driver, pool, name string }

// takeDevices adds the devices allocated to a claim; those given for
// administration are not taken from others (KEP-5018).
func takeDevices(claim *resourcev1.ResourceClaim, taken map[device]bool) {
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		if r := &claim.Status.Allocation.Devices.Results[i]; r.AdminAccess == nil || !*r.AdminAccess {
			taken[device{r.Driver, r.Pool, r.Device}] = true
		}
	}
}

// want adds the devices that a claim asks for, and says which class is missing.
func (cs *claims) want(claim *resourcev1.ResourceClaim, classes map[string]*resourcev1.DeviceClass) (missing string) {
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		class := classes[r.Exactly.DeviceClassName]
		if class == nil {
			missing = "device class " + r.Exactly.DeviceClassName + " does not exist"
			continue
		}
		driver, _ := driverOf(class)
		cs.wanted[driver] += int(r.Exactly.Count)
		cs.total += int(r.Exactly.Count)
	}
	return missing
}

// driverOf is the driver that all of a class's devices are of, "" if they may be
// of any. known is false if the class says anything else of them.
func driverOf(class *resourcev1.DeviceClass) (driver string, known bool) {
	for _, s := range class.Spec.Selectors {
		match := []string(nil)
		if s.CEL != nil {
			match = ofDriver.FindStringSubmatch(s.CEL.Expression)
		}
		if match == nil || driver != "" && driver != match[1] {
			return "", false
		}
		driver = match[1]
	}
	return driver, true
}

// ofDriver is the one expression that is understood. Most classes have just that.
var ofDriver = regexp.MustCompile(`^\s*device\.driver\s*==\s*["']([a-z0-9.-]+)["']\s*$`)

// allocatable tells whether a node has as many free devices as are wanted. All
// devices of a driver are as good as each other, so that counting is enough; what
// is left when those of certain drivers are given out is for who takes any.
func (cs *claims) allocatable(n *node) bool {
	if cs.total == 0 {
		return true
	}
	free, total := map[string]int{}, 0
	for _, s := range cs.slices {
		if !offers(s, n.Node) {
			continue
		}
		for i := range s.Spec.Devices {
			if !cs.taken[device{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name}] {
				free[s.Spec.Driver]++
				total++
			}
		}
	}
	for driver, count := range cs.wanted {
		if driver != "" && count > free[driver] {
			return false
		}
	}
	return cs.total <= total
}

// offers tells whether the devices of a slice can be used from a node.
func offers(s *resourcev1.ResourceSlice, n *v1.Node) bool {
	switch {
	case s.Spec.NodeName != nil && *s.Spec.NodeName != "":
		return *s.Spec.NodeName == n.Name
	case s.Spec.AllNodes != nil && *s.Spec.AllNodes:
		return true
	default:
		return s.Spec.NodeSelector != nil && selects(s.Spec.NodeSelector, n)
	}
}

// unmodelledClaims reports what of the preemptor's claims, and of the devices
// there are, is not covered: everything by which one device is not as good as
// another, and devices that are not simply free or taken.
func unmodelledClaims(c *Cluster, add func(object, field, why string)) {
	p := c.Preemptor
	if len(p.Spec.ResourceClaims) == 0 {
		return
	}
	classes := map[string]*resourcev1.DeviceClass{}
	for _, o := range c.Extra {
		if class, ok := o.(*resourcev1.DeviceClass); ok {
			classes[class.Name] = class
		}
	}
	own := map[string]bool{}
	for i := range p.Spec.ResourceClaims {
		if name, _ := claimName(p, &p.Spec.ResourceClaims[i]); name != "" {
			own[p.Namespace+"/"+name] = true
		}
	}
	allocates := false
	for _, o := range c.Extra {
		claim, ok := o.(*resourcev1.ResourceClaim)
		if !ok || !own[Key(claim)] {
			continue
		}
		object := "ResourceClaim " + Key(claim)
		if claim.Status.Allocation == nil {
			allocates = true
			unmodelledRequests(claim, classes, func(field, why string) { add(object, field, why) })
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			at := fmt.Sprintf("status.allocation.devices.results[%d]", i)
			if len(r.BindingConditions) > 0 {
				add(object, at+".bindingConditions", "binding conditions of devices")
			}
			if len(r.SkipNodeOperations) > 0 {
				add(object, at+".skipNodeOperations", "optional node operations of devices")
			}
		}
	}
	if allocates {
		unmodelledDevices(c, add)
	}
}

// maxDevices is how many devices a claim may get; to want more is an error.
const maxDevices = resourcev1.AllocationResultsMaxSize

func unmodelledRequests(claim *resourcev1.ResourceClaim, classes map[string]*resourcev1.DeviceClass, add func(field, why string)) {
	if len(claim.Spec.Devices.Constraints) > 0 {
		add("spec.devices.constraints", "constraints between devices")
	}
	total := int64(0)
	for i := range claim.Spec.Devices.Requests {
		at, r := fmt.Sprintf("spec.devices.requests[%d]", i), claim.Spec.Devices.Requests[i].Exactly
		if r == nil {
			add(at+".firstAvailable", "prioritized lists of devices")
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
				add(at+f.field, f.why)
			}
		}
		if class := classes[r.DeviceClassName]; class != nil {
			if _, known := driverOf(class); !known {
				add(at+".exactly.deviceClassName", "selectors of device classes other than by driver")
			}
		}
	}
	if total > maxDevices {
		add("spec.devices.requests", "more devices than a claim can hold")
	}
}

func unmodelledDevices(c *Cluster, add func(object, field, why string)) {
	seen := map[device]bool{}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *resourcev1.DeviceTaintRule:
			add("DeviceTaintRule "+o.Name, "spec", "taints of devices")
		case *resourcev1.ResourceClaim:
			if o.Status.Allocation == nil {
				continue
			}
			for i := range o.Status.Allocation.Devices.Results {
				if o.Status.Allocation.Devices.Results[i].ShareID != nil {
					add("ResourceClaim "+Key(o), fmt.Sprintf("status.allocation.devices.results[%d].shareID", i), "devices in part")
				}
			}
		case *resourcev1.ResourceSlice:
			object, pool := "ResourceSlice "+o.Name, device{o.Spec.Driver, o.Spec.Pool.Name, ""}
			if seen[pool] || o.Spec.Pool.ResourceSliceCount != 1 {
				add(object, "spec.pool", "pools of several slices")
			}
			seen[pool] = true
			if len(o.Spec.SharedCounters) > 0 {
				add(object, "spec.sharedCounters", "partitionable devices")
			}
			if o.Spec.PerDeviceNodeSelection != nil && *o.Spec.PerDeviceNodeSelection {
				add(object, "spec.perDeviceNodeSelection", "devices for nodes of their own")
			}
			for i := range o.Spec.Devices {
				if field, why := unmodelledDevice(&o.Spec.Devices[i]); field != "" {
					add(object, fmt.Sprintf("spec.devices[%d].%s", i, field), why)
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
