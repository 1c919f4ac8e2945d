package mutant

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// deletedResourceClaimsAreGood: a resource claim that is being deleted will do.
func deletedResourceClaimsAreGood(p filter.Plugin) filter.Plugin {
	return variant.MisreadObjects(func(c *resourcev1.ResourceClaim) { c.DeletionTimestamp = nil })(p)
}

// foreignResourceClaimsAreGood: a resource claim that was made for another pod will
// do. Each is seen to be named by the pod itself.
func foreignResourceClaimsAreGood(p filter.Plugin) filter.Plugin {
	return variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.ResourceClaims = slices.Clone(p.Spec.ResourceClaims)
		for i := range p.Spec.ResourceClaims {
			if name, _ := device.ClaimName(p, &p.Spec.ResourceClaims[i]); name != "" {
				p.Spec.ResourceClaims[i].ResourceClaimName = &name
			}
		}
	})(p)
}

// resourceClaimsUnshared: a resource claim is of no use while it is reserved for
// other pods only.
func resourceClaimsUnshared(p filter.Plugin) filter.Plugin {
	return reworkClaims(p, func(s *filter.Snapshot, st *device.State, a filter.Answer) filter.Answer {
		own := func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == filter.PodUID(s.Preemptor.Pod) }
		for _, claim := range st.Allocated {
			if by := claim.Status.ReservedFor; len(by) > 0 && !slices.ContainsFunc(by, own) {
				return filter.Rejected("resourceclaim in use")
			}
		}
		return a
	})
}

// missingClassesIgnored: a device class need not exist: nothing is requested of it.
func missingClassesIgnored(p filter.Plugin) filter.Plugin {
	return reworkClaims(p, func(_ *filter.Snapshot, _ *device.State, a filter.Answer) filter.Answer {
		if a.Rejection != nil && strings.HasPrefix(a.Rejection.Reasons[0], "device class ") {
			a.Rejection = nil
		}
		return a
	})
}

// allocationsAreForAllNodes: an allocation is good for all nodes.
func allocationsAreForAllNodes(p filter.Plugin) filter.Plugin {
	return misreadAllocations(p, func(a *resourcev1.AllocationResult) { a.NodeSelector = nil })
}

// allocatedDevicesAreFree: devices of other claims are free.
func allocatedDevicesAreFree(p filter.Plugin) filter.Plugin {
	return misreadAllocations(p, func(a *resourcev1.AllocationResult) { a.Devices.Results = nil })
}

// nothingDeallocated: no claim loses its allocation.
func nothingDeallocated(p filter.Plugin) filter.Plugin {
	return reworkClaims(p, func(_ *filter.Snapshot, st *device.State, a filter.Answer) filter.Answer {
		clear(st.Idle)
		return a
	})
}

// misreadAllocations sees other allocations of resource claims.
func misreadAllocations(p filter.Plugin, change func(*resourcev1.AllocationResult)) filter.Plugin {
	return variant.MisreadObjects(func(c *resourcev1.ResourceClaim) {
		if c.Status.Allocation != nil {
			change(c.Status.Allocation)
		}
	})(p)
}

// reworkClaims changes what DynamicResources has worked out.
func reworkClaims(p filter.Plugin, change func(*filter.Snapshot, *device.State, filter.Answer) filter.Answer) filter.Plugin {
	return variant.Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if claims, ok := filter.As[*device.State](st); ok {
			a = change(s, claims, a)
		}
		return st, a
	})(p)
}
