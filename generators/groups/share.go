package groups

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// mostShared is how many claims a group may have (scheduling/v1beta1/types.go:208@v0.37.1, MaxPodGroupResourceClaims).
const mostShared = 4

// ShareClaims makes, in some clusters in which the preemptor is a PodGroup, claims of its members that have no devices claims of the group, and says
// whether it did: those that have a name, and those that were made from a template, of which the members have one together then.
func ShareClaims(s draw.Source, c *model.Cluster) bool {
	group, ok := c.Group(c.PreemptorGroup).(*schedulingv1beta1.PodGroup)
	if !ok || c.Preemptor != nil || !s.Chance(60) {
		return false
	}
	g := &drawer{Options: Options{Source: s}, c: c}
	pending := slices.DeleteFunc(c.Members(), func(m *v1.Pod) bool { return m.Spec.NodeName != "" })
	for _, m := range pending {
		for i := range m.Spec.ResourceClaims {
			if len(group.Spec.ResourceClaims) < mostShared && s.Chance(60) {
				g.share(group, pending, m, &m.Spec.ResourceClaims[i])
			}
		}
	}
	if len(group.Spec.ResourceClaims) == 0 {
		return false
	}
	for _, m := range pending {
		if s.Chance(20) { // for which no claim had to be made
			none := v1.PodResourceClaim{Name: "none", ResourceClaimTemplateName: new("template")}
			m.Spec.ResourceClaims = slices.Insert(m.Spec.ResourceClaims, s.Intn(len(m.Spec.ResourceClaims)+1), none)
			m.Status.ResourceClaimStatuses = append(m.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: none.Name})
		}
	}
	return true
}

// share makes the claim behind an entry of a member one of the group, unless it is in use, or the group has one of that name.
func (g *drawer) share(group *schedulingv1beta1.PodGroup, members []*v1.Pod, of *v1.Pod, entry *v1.PodResourceClaim) {
	name, _ := device.ClaimName(of, entry)
	claim := g.claim(of.Namespace, name)
	named := func(c schedulingv1beta1.PodGroupResourceClaim) bool { return c.Name == entry.Name }
	if claim == nil || claim.Status.Allocation != nil || len(claim.Status.ReservedFor) > 0 || slices.ContainsFunc(group.Spec.ResourceClaims, named) {
		return
	}
	group.Spec.ResourceClaims = append(group.Spec.ResourceClaims, schedulingv1beta1.PodGroupResourceClaim{
		Name: entry.Name, ResourceClaimName: entry.ResourceClaimName, ResourceClaimTemplateName: entry.ResourceClaimTemplateName})
	if entry.ResourceClaimTemplateName == nil {
		return
	}
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "PodGroup", Name: group.Name, UID: model.UIDOfGroup(group), Controller: new(true)}}
	group.Status.ResourceClaimStatuses = append(group.Status.ResourceClaimStatuses, schedulingv1beta1.PodGroupResourceClaimStatus{Name: entry.Name, ResourceClaimName: &claim.Name})
	var left []string // claims that were made for members by themselves
	for _, m := range members {
		if !slices.ContainsFunc(m.Spec.ResourceClaims, func(e v1.PodResourceClaim) bool {
			return e.Name == entry.Name && ptr.Equal(e.ResourceClaimTemplateName, entry.ResourceClaimTemplateName)
		}) {
			continue
		}
		for i := range m.Status.ResourceClaimStatuses {
			if s := &m.Status.ResourceClaimStatuses[i]; s.Name == entry.Name && s.ResourceClaimName != nil && *s.ResourceClaimName != claim.Name {
				left = append(left, *s.ResourceClaimName)
				s.ResourceClaimName = &claim.Name
			}
		}
	}
	g.c.Extra = slices.DeleteFunc(g.c.Extra, func(o runtime.Object) bool {
		other, ok := o.(*resourcev1.ResourceClaim)
		return ok && other.Namespace == of.Namespace && slices.Contains(left, other.Name)
	})
}
