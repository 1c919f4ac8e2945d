package groups

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// drawClaims draws what members that are like a pod claim: those of its claims that have a name are shared or left out, those from
// templates are each member's own, and some members claim devices besides.
func (g *drawer) drawClaims(members []*v1.Pod) {
	if len(members) == 0 || len(members[0].Spec.ResourceClaims) == 0 {
		return
	}
	for _, o := range g.c.Extra {
		// Most of what is shared is not allocated yet.
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && claim.Status.Allocation != nil && slices.Contains(device.Named(members[0]), filter.Key(claim)) && g.Chance(50) {
			claim.Status.Allocation, claim.Status.ReservedFor, claim.Status.Devices = nil, nil, nil
		}
	}
	for i, m := range members {
		suffix := "-" + strconv.Itoa(i)
		if i > 0 {
			m.Spec.ResourceClaims = slices.DeleteFunc(m.Spec.ResourceClaims, func(e v1.PodResourceClaim) bool { return e.ResourceClaimName != nil && g.Chance(25) })
			g.own(m, suffix)
		}
		if g.Chance(35) {
			g.besides(m, "besides"+suffix)
		}
	}
}

// own gives a member claims of its own in place of those that were made from templates for the pod that it is like.
func (g *drawer) own(m *v1.Pod, suffix string) {
	for i := range m.Status.ResourceClaimStatuses {
		s := &m.Status.ResourceClaimStatuses[i]
		if s.ResourceClaimName == nil {
			continue
		}
		of := g.claim(m.Namespace, *s.ResourceClaimName)
		s.ResourceClaimName = new(*s.ResourceClaimName + suffix)
		if of == nil {
			continue
		}
		claim := unallocated(of, *s.ResourceClaimName)
		for j := range claim.OwnerReferences {
			claim.OwnerReferences[j].Name, claim.OwnerReferences[j].UID = m.Name, filter.PodUID(m)
		}
		g.c.Extra = append(g.c.Extra, claim)
	}
}

// besides gives a member one more claim, before or after its others.
func (g *drawer) besides(m *v1.Pod, name string) {
	var claims []*resourcev1.ResourceClaim
	for _, o := range g.c.Extra {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && claim.Namespace == m.Namespace {
			claims = append(claims, claim)
		}
	}
	if len(claims) == 0 {
		return
	}
	claim := unallocated(draw.Pick(g.Source, claims...), name)
	claim.OwnerReferences = nil
	g.c.Extra = append(g.c.Extra, claim)
	entry := v1.PodResourceClaim{Name: name, ResourceClaimName: &claim.Name}
	if g.Chance(50) {
		m.Spec.ResourceClaims = slices.Insert(m.Spec.ResourceClaims, 0, entry)
	} else {
		m.Spec.ResourceClaims = append(m.Spec.ResourceClaims, entry)
	}
}

// claim is a claim of the cluster; nil if there is none of the name.
func (g *drawer) claim(namespace, name string) *resourcev1.ResourceClaim {
	for _, o := range g.c.Extra {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && claim.Namespace == namespace && claim.Name == name {
			return claim
		}
	}
	return nil
}

// unallocated is a claim like another one, under another name and without devices.
func unallocated(of *resourcev1.ResourceClaim, name string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: of.Namespace, UID: types.UID("claim/" + name), OwnerReferences: slices.Clone(of.OwnerReferences)},
		Spec:       *of.Spec.DeepCopy(),
	}
}
