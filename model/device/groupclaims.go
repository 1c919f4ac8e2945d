package device

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// GateGroupClaims names the gate by which pods share the claims of their pod group (KEP-5729).
const GateGroupClaims = "DRAWorkloadResourceClaims"

// GroupOf is the pod group of which a claim of a pod is, by the claim's key; nil if it is the pod's, or the gate is off.
func GroupOf(objects []runtime.Object, gates map[string]bool, p *v1.Pod, claim string) *schedulingv1beta1.PodGroup {
	for i := range p.Spec.ResourceClaims {
		entry := &p.Spec.ResourceClaims[i]
		if name, _ := ClaimName(p, entry); name != "" && p.Namespace+"/"+name == claim {
			if g := groupOf(objects, gates, p, entry); g != nil {
				return g
			}
		}
	}
	return nil
}

// groupOf is the pod group of which the claim behind an entry of a pod is; nil if it is the pod's: "a PodResourceClaim is matched to a
// PodGroupResourceClaim if all of their fields are equal (Name, ResourceClaimName, and ResourceClaimTemplateName)" (core/v1/types.go:4754@v0.37.1, PodResourceClaim).
func groupOf(objects []runtime.Object, gates map[string]bool, p *v1.Pod, entry *v1.PodResourceClaim) *schedulingv1beta1.PodGroup {
	if !gates[GateGroupClaims] || p.Spec.SchedulingGroup == nil {
		return nil
	}
	for _, o := range objects {
		g, ok := o.(*schedulingv1beta1.PodGroup)
		if !ok || g.Namespace != p.Namespace || g.Name != ptr.Deref(p.Spec.SchedulingGroup.PodGroupName, "") {
			continue
		}
		if slices.ContainsFunc(g.Spec.ResourceClaims, func(of schedulingv1beta1.PodGroupResourceClaim) bool {
			return of.Name == entry.Name && ptr.Equal(of.ResourceClaimName, entry.ResourceClaimName) && ptr.Equal(of.ResourceClaimTemplateName, entry.ResourceClaimTemplateName)
		}) {
			return g
		}
	}
	return nil
}

// madeFor tells whether the claim behind an entry of a pod was made for the pod, or for its pod group if it is one of the group's.
func (d *devices) madeFor(p *v1.Pod, entry *v1.PodResourceClaim, claim *resourcev1.ResourceClaim) bool {
	if filter.Controls(p, claim) {
		return true
	}
	g := groupOf(d.objects, d.gates, p, entry)
	return g != nil && ofGroup(claim) == g.Name
}

// ofGroup is the name of the pod group for which a claim was made; "" if it was made for none.
func ofGroup(claim *resourcev1.ResourceClaim) string {
	if owner := metav1.GetControllerOfNoCopy(claim); owner != nil && owner.Kind == "PodGroup" {
		return owner.Name
	}
	return ""
}

// UnmodelledOfGroup says what of an entry of a pod is not modelled as its claim is one of its pod group; "" if all is. What becomes of such a
// claim if the group does not fit, when it has devices already, is not.
func UnmodelledOfGroup(objects []runtime.Object, gates map[string]bool, p *v1.Pod, entry *v1.PodResourceClaim) (why string) {
	name, _ := ClaimName(p, entry)
	if name == "" || !gates[GateGroupClaims] {
		return ""
	}
	at := slices.IndexFunc(objects, func(o runtime.Object) bool {
		claim, ok := o.(*resourcev1.ResourceClaim)
		return ok && claim.Namespace == p.Namespace && claim.Name == name
	})
	if at < 0 {
		return ""
	}
	claim := objects[at].(*resourcev1.ResourceClaim)
	switch shared := groupOf(objects, gates, p, entry) != nil; {
	case !shared && ofGroup(claim) != "":
		return "a claim that was made for a group, and is none of it"
	case shared && (claim.Status.Allocation != nil || len(claim.Status.ReservedFor) > 0):
		return "a claim of a group that has devices already"
	}
	return ""
}
