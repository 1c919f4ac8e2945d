package device

import (
	"slices"
	"strings"

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

// GroupOf is the pod group of which the claim behind an entry of a pod is; nil if it is the pod's, or the gate is off: "a PodResourceClaim is
// matched to a PodGroupResourceClaim if all of their fields are equal (Name, ResourceClaimName, and ResourceClaimTemplateName)"
// (core/v1/types.go:4755@v0.37.1, PodResourceClaim).
func GroupOf(objects []runtime.Object, gates map[string]bool, p *v1.Pod, entry *v1.PodResourceClaim) *schedulingv1beta1.PodGroup {
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
	g := GroupOf(d.objects, d.gates, p, entry)
	return filter.Controls(p, claim) || g != nil && madeForGroup(claim, g)
}

// madeForGroup tells whether a pod group is the controller of a claim. A group without a UID goes by its name.
func madeForGroup(claim *resourcev1.ResourceClaim, g *schedulingv1beta1.PodGroup) bool {
	owner := groupOwner(claim)
	return owner != nil && owner.Name == g.Name && (g.UID == "" || owner.UID == g.UID)
}

// groupOwner is the controller of a claim if it is a pod group; else nil.
func groupOwner(claim *resourcev1.ResourceClaim) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(claim)
	if owner == nil || owner.Kind != "PodGroup" || !strings.HasPrefix(owner.APIVersion, schedulingv1beta1.GroupName+"/") {
		return nil
	}
	return owner
}

// UnmodelledGroup says what of the claims of a pod group is not modelled, with the gate on; "" if all is. What becomes of one if the group does
// not fit is not, if it is missing, or has devices or users already.
func UnmodelledGroup(objects []runtime.Object, g *schedulingv1beta1.PodGroup) (why string) {
	for _, of := range g.Spec.ResourceClaims {
		claim := claimNamed(objects, g.Namespace, nameInGroup(g, of.Name, of.ResourceClaimName))
		switch {
		case claim == nil || claim.DeletionTimestamp != nil:
			return "a claim of a group that is missing"
		case claim.Status.Allocation != nil || len(claim.Status.ReservedFor) > 0:
			return "a claim of a group that has devices or users already"
		case of.ResourceClaimName == nil && !madeForGroup(claim, g):
			return "a claim of a group that was not made for it"
		}
	}
	return ""
}

// UnmodelledEntry says what of an entry of a pod is not modelled, with the gate on, as others than pods have claims; "" if all is.
func UnmodelledEntry(objects []runtime.Object, gates map[string]bool, p *v1.Pod, entry *v1.PodResourceClaim) (why string) {
	name, _ := ClaimName(p, entry)
	claim := claimNamed(objects, p.Namespace, name)
	if claim == nil || !gates[GateGroupClaims] {
		return ""
	}
	if g := GroupOf(objects, gates, p, entry); g != nil {
		if name != nameInGroup(g, entry.Name, entry.ResourceClaimName) {
			return "a claim of the group of which pod and group tell otherwise"
		}
		return ""
	}
	if groupOwner(claim) != nil || slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.Resource != "pods" }) {
		return "a claim of a group that has no such claim"
	}
	return ""
}

// nameInGroup is the name of the claim of a pod group behind an entry; "" if none was made yet.
func nameInGroup(g *schedulingv1beta1.PodGroup, entry string, named *string) string {
	for _, s := range g.Status.ResourceClaimStatuses {
		if named == nil && s.Name == entry {
			named = s.ResourceClaimName
		}
	}
	return ptr.Deref(named, "")
}

func claimNamed(objects []runtime.Object, namespace, name string) *resourcev1.ResourceClaim {
	for _, o := range objects {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && claim.Namespace == namespace && claim.Name == name {
			return claim
		}
	}
	return nil
}
