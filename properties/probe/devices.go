package probe

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// openRequests are the requests of the preemptor's claims that have no devices yet.
func (c *cycle) openRequests() (all []resourcev1.DeviceRequest) {
	p := c.Cluster.Preemptor
	for i := range p.Spec.ResourceClaims {
		name, _ := device.ClaimName(p, &p.Spec.ResourceClaims[i])
		for _, o := range c.Cluster.Extra {
			if claim, ok := o.(*resourcev1.ResourceClaim); ok && model.Key(claim) == p.Namespace+"/"+name && claim.Status.Allocation == nil {
				all = append(all, claim.Spec.Devices.Requests...)
			}
		}
	}
	return all
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
