package release

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofClaims makes a change that concerns preemptors with resource claims.
func ofClaims(change variant.OfPlugin) variant.OfPlugin {
	return variant.Where(func(s *filter.Snapshot) bool { return len(s.Preemptor.Spec.ResourceClaims) > 0 }, change)
}

// claimAllocatedTwice: a claim that the preemptor names twice is allocated twice. It
// is seen to ask for twice as many devices.
func claimAllocatedTwice(p filter.Plugin) filter.Plugin {
	return ofClaims(variant.Misread(func(s *filter.Snapshot) {
		p, times := s.Preemptor.Pod, map[string]int64{}
		for i := range p.Spec.ResourceClaims {
			if name, _ := device.ClaimName(p, &p.Spec.ResourceClaims[i]); name != "" {
				times[p.Namespace+"/"+name]++
			}
		}
		for i, o := range s.Objects {
			claim, ok := o.(*resourcev1.ResourceClaim)
			if !ok || times[filter.Key(claim)] < 2 {
				continue
			}
			claim = claim.DeepCopy()
			for j := range claim.Spec.Devices.Requests {
				if r := claim.Spec.Devices.Requests[j].Exactly; r != nil {
					r.Count *= times[filter.Key(claim)]
				}
			}
			s.Objects[i] = claim
		}
	}))(p)
}

// opensBesideAllocated tells whether the preemptor has a claim that is allocated
// beside one that is not: with the quirk allocated-claim-fails-score, the cycle ends
// in an error if several nodes fit.
func opensBesideAllocated(st filter.State) bool {
	claims, ok := filter.As[*device.State](st)
	return ok && len(claims.Open) > 0 && len(claims.Allocated) > 0
}
