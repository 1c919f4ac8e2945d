package vary

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// The driver of a device for each claim, and that of none; a class is called after each.
const (
	decoyDriver = "decoy.example.com"
	noDriver    = "nobody.example.com"
)

// decoysOfDevices has claims that are to get devices ask first for one that there is everywhere, and in a prioritized list for one that is
// nowhere. Devices come after one of which nobody tolerates the taint, and after a slice of their pool that is out of date.
func decoysOfDevices(c *model.Cluster) {
	var pools []*resourcev1.ResourceSlice
	var claims []*resourcev1.ResourceClaim
	classes := map[string]bool{}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *resourcev1.ResourceClaim:
			claims = append(claims, o)
		case *resourcev1.ResourceSlice:
			pools = append(pools, o)
		case *resourcev1.DeviceClass:
			classes[o.Name] = true
		}
	}
	asking, choosy := 0, !slices.ContainsFunc(claims, takesAny)
	for _, claim := range claims {
		if claim.Status.Allocation == nil && len(claim.Annotations) == 0 && decoysOfClaim(claim, classes) {
			asking++
		}
	}
	var first []runtime.Object
	for i, s := range pools {
		s.Spec.Pool.Generation++
		if len(s.Spec.Devices) == 0 || slices.ContainsFunc(s.Spec.Devices, grouped) {
			continue
		}
		old := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", decoy, i)}, Spec: *s.Spec.DeepCopy()}
		old.Spec.Pool.Generation, old.Spec.Devices = 0, []resourcev1.Device{{Name: decoy}}
		if each := s.Spec.PerDeviceNodeSelection; each != nil && *each {
			old.Spec.Devices[0].AllNodes = new(true)
		}
		first = append(first, old)
		if choosy && len(s.Spec.Devices) < resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures {
			worn := *old.Spec.Devices[0].DeepCopy()
			worn.Name, worn.Taints = old.Name, []resourcev1.DeviceTaint{{Key: nowhere, Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			s.Spec.Devices = before(s.Spec.Devices, worn)
		}
		decoysOfSlice(s)
	}
	if asking > 0 {
		all := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: decoy}, Spec: resourcev1.ResourceSliceSpec{
			Driver: decoyDriver, Pool: resourcev1.ResourcePool{Name: decoy, ResourceSliceCount: 1}, AllNodes: new(true)}}
		for i := range asking {
			all.Spec.Devices = append(all.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("%s-%d", decoy, i)})
		}
		first = append(first, all, classOf(decoyDriver), classOf(noDriver))
	}
	c.Extra = append(first, c.Extra...)
}

// classOf is the class of all devices of a driver.
func classOf(driver string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}}}}}
}

// decoysOfClaim tells whether the claim asks for a device more, which is not so if it asks for none, or for as many as it may.
// A prioritized list of classes that do not all exist is left as it is.
func decoysOfClaim(claim *resourcev1.ResourceClaim, classes map[string]bool) bool {
	of, names := &claim.Spec.Devices, []string{}
	total := int64(1)
	for _, r := range of.Requests {
		most := int64(0)
		if r.Exactly != nil {
			most = r.Exactly.Count
		}
		for _, s := range r.FirstAvailable {
			most = max(most, s.Count)
		}
		total, names = total+most, append(names, r.Name)
	}
	if len(of.Requests) == 0 || total > resourcev1.AllocationResultsMaxSize {
		return false
	}
	for i := range of.Requests {
		r := &of.Requests[i]
		if e := r.Exactly; e != nil {
			e.Tolerations = before(e.Tolerations, resourcev1.DeviceToleration{Key: decoy, Operator: resourcev1.DeviceTolerationOpExists})
		}
		missing := func(s resourcev1.DeviceSubRequest) bool { return !classes[s.DeviceClassName] }
		if len(r.FirstAvailable) < resourcev1.FirstAvailableDeviceRequestMaxSize && !slices.ContainsFunc(r.FirstAvailable, missing) {
			r.FirstAvailable = before(r.FirstAvailable, resourcev1.DeviceSubRequest{
				Name: decoy, DeviceClassName: noDriver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1})
		}
	}
	for i := range of.Constraints {
		if con := &of.Constraints[i]; len(con.Requests) == 0 { // it is about all requests
			con.Requests = names
		}
	}
	of.Requests = before(of.Requests, resourcev1.DeviceRequest{Name: decoy, Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: decoyDriver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}})
	return true
}

// decoysOfSlice puts a taint that has no effect in front of those of each device.
func decoysOfSlice(s *resourcev1.ResourceSlice) {
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		d.Taints = before(d.Taints, resourcev1.DeviceTaint{Key: decoy, Effect: resourcev1.DeviceTaintEffectNone})
	}
}

// grouped tells whether a device is given together with some others only: of these a scheduler may pass over all.
func grouped(d resourcev1.Device) bool {
	return slices.ContainsFunc(d.ConsumesCounters, func(c resourcev1.DeviceCounterConsumption) bool { return len(c.CompatibilityGroups) > 0 })
}

// takesAny tells whether it matters to a claim that there is a device that nobody else would take, as it tolerates each taint, asks for all devices
// there are, or looks at what they are like.
func takesAny(claim *resourcev1.ResourceClaim) bool {
	takes := func(tolerations []resourcev1.DeviceToleration, mode resourcev1.DeviceAllocationMode, selectors []resourcev1.DeviceSelector) bool {
		return mode == resourcev1.DeviceAllocationModeAll || len(selectors) > 0 ||
			slices.ContainsFunc(tolerations, func(t resourcev1.DeviceToleration) bool { return t.Key == "" })
	}
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && takes(r.Exactly.Tolerations, r.Exactly.AllocationMode, r.Exactly.Selectors) ||
			slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return takes(s.Tolerations, s.AllocationMode, s.Selectors) })
	})
}
