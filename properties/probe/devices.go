package probe

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// openClaims are the preemptor's claims that have no devices yet.
func (c *cycle) openClaims() (all []*resourcev1.ResourceClaim) {
	p := c.Cluster.Preemptor
	for i := range p.Spec.ResourceClaims {
		name, _ := device.ClaimName(p, &p.Spec.ResourceClaims[i])
		for _, o := range c.Cluster.Extra {
			if claim, ok := o.(*resourcev1.ResourceClaim); ok && model.Key(claim) == p.Namespace+"/"+name && claim.Status.Allocation == nil {
				all = append(all, claim)
			}
		}
	}
	return all
}

// openRequests are the requests of these claims.
func (c *cycle) openRequests() (all []resourcev1.DeviceRequest) {
	for _, claim := range c.openClaims() {
		all = append(all, claim.Spec.Devices.Requests...)
	}
	return all
}

// constrained tells whether such a claim is about how its devices compare.
func (c *cycle) constrained() bool {
	return slices.ContainsFunc(c.openClaims(), func(claim *resourcev1.ResourceClaim) bool { return len(claim.Spec.Devices.Constraints) > 0 })
}

// shares tells whether some claim has a share of a device.
func (c *cycle) shares() bool {
	return slices.ContainsFunc(c.Cluster.Extra, func(o runtime.Object) bool {
		claim, ok := o.(*resourcev1.ResourceClaim)
		return ok && claim.Status.Allocation != nil && slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.ShareID != nil })
	})
}

// devices tells whether some device is such a one.
func (c *cycle) devices(are func(d *resourcev1.Device) bool) bool {
	return slices.ContainsFunc(c.Cluster.Extra, func(o runtime.Object) bool {
		s, ok := o.(*resourcev1.ResourceSlice)
		return ok && slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool { return are(&d) })
	})
}

// devicesTainted tells whether some device has a taint that keeps pods away.
func (c *cycle) devicesTainted() bool {
	keepsAway := func(t resourcev1.DeviceTaint) bool { return t.Effect != resourcev1.DeviceTaintEffectNone }
	return slices.ContainsFunc(c.Cluster.Extra, func(o runtime.Object) bool {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			return slices.ContainsFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return slices.ContainsFunc(d.Taints, keepsAway) })
		case *resourcev1.DeviceTaintRule:
			return o.Spec.DeviceSelector != nil && keepsAway(o.Spec.Taint)
		}
		return false
	})
}

// placed: the pod fits on a node, or would by preemption.
func (c *cycle) placed() bool { return c.Observation.ScheduledTo != "" || c.Observation.Pick != nil }
