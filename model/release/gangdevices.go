package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// sharerSwapsDevices: devices are allocated to the claims of a member that have none, and then those are added that a member before it got
// for others of its claims; but they are handed out in the order of the claims.
func sharerSwapsDevices(r *answers.Rules) {
	devices, written := r.OfGroups.Devices, r.OfGroups.Written
	r.OfGroups.Devices = func(cy *podgroup.Cycle, trial *model.Cycle, at podgroup.Placement) string {
		has := func(key string) *resourcev1.AllocationResult { return podgroup.Allocated(trial.Objects, key) }
		claims, handed := handedOut(cy, at.Pod, func(key string) bool { return has(key) != nil })
		if slices.Equal(claims, handed) {
			return devices(cy, trial, at)
		}
		got, unseen := map[string]*resourcev1.AllocationResult{}, []string(nil)
		for i, key := range claims {
			of := handed[i]
			switch {
			case has(key) != nil: // it keeps what it has
				got[key] = at.Devices[key]
				if has(of) == nil {
					unseen = append(unseen, of)
				}
			case has(of) == nil:
				got[of] = at.Devices[key]
			case !equality.Semantic.DeepEqual(at.Devices[key], has(of)):
				return "claim " + key + " does not have the devices of claim " + of
			}
		}
		at.Devices = got
		return podgroup.WrongDevices(trial, at, unseen...)
	}
	r.OfGroups.Written = func(cy *podgroup.Cycle, placed []podgroup.Placement, at podgroup.Placement, key string) (*resourcev1.AllocationResult, bool) {
		claims, handed := handedOut(cy, at.Pod, func(key string) bool {
			return slices.ContainsFunc(placed, func(before podgroup.Placement) bool { return before.Devices[key] != nil })
		})
		if !slices.Equal(claims, handed) {
			return nil, false
		}
		return written(cy, placed, at, key)
	}
}

// handedOut are the claims of a member that have no devices in the cluster, by key, and, for each of them, the claim whose devices it is handed:
// shared tells whether a member before it got devices for a claim.
func handedOut(cy *podgroup.Cycle, member *v1.Pod, shared func(key string) bool) (claims, handed []string) {
	claims = slices.DeleteFunc(device.Named(member), func(key string) bool { return podgroup.Allocated(cy.Cluster.Extra, key) != nil })
	return claims, slices.Concat(slices.DeleteFunc(slices.Clone(claims), shared), slices.DeleteFunc(slices.Clone(claims), func(key string) bool { return !shared(key) }))
}

// boundMemberLosesItsClaim: a claim that is reserved for a member in the cluster may not be any more once the member is bound.
func boundMemberLosesItsClaim(r *answers.Rules) {
	r.OfGroups.Reserved = func(cy *podgroup.Cycle, at podgroup.Placement, claim string) bool {
		return !podgroup.Uses(cy.Cluster.Extra, at.Pod, claim)
	}
}

// skippedEntryShiftsClaims: an entry for which no claim was made is in the list of whom the claims of a pod are reserved for, and not in that of the
// claims, so that each claim behind it is reserved for whom an entry before its own names.
func skippedEntryShiftsClaims(r *answers.Rules) {
	r.OfGroups.User = func(cy *podgroup.Cycle, at podgroup.Placement, claim string) types.UID {
		return podgroup.UserOf(cy, at.Pod, &at.Pod.Spec.ResourceClaims[slices.Index(device.Named(at.Pod), claim)])
	}
}
