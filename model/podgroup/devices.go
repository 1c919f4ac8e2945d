package podgroup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Devices says what is wrong with the devices that a member gets with its node, "" if nothing is. A claim is allocated once, for
// all pods that use it (resource/v1/types.go, ResourceClaimStatus; of a gang: kubernetes#137647): one that another member got devices
// for keeps them. Each of the others gets devices that nobody has, as it would for a pod by itself. Which of several is left open.
func Devices(_ *Cycle, trial *model.Cycle, at Placement) (wrong string) {
	return WrongDevices(trial, at)
}

// WrongDevices is Devices of a pod that is tried. Of the claims in unseen it is not known what they get.
func WrongDevices(trial *model.Cycle, at Placement, unseen ...string) (wrong string) {
	given := maps.Clone(at.Devices)
	for key, allocation := range given {
		if has := Allocated(trial.Objects, key); has != nil {
			if !equality.Semantic.DeepEqual(has, allocation) {
				return "claim " + key + " has other devices than those that it got for a member before"
			}
			delete(given, key)
		}
	}
	state, ok := devicesOf(trial)
	if !ok {
		return ""
	}
	return state.Wrong(trial.Snapshot, trial.Node(at.Node).Node, given, unseen...)
}

// Written is what is written to a claim, by its key, of a member that is bound: what it has in the cluster, or else got. before are the
// members placed before it. By the documented rules it is always known.
func Written(cy *Cycle, _ []Placement, at Placement, claim string) (a *resourcev1.AllocationResult, known bool) {
	return cmp.Or(Allocated(cy.Cluster.Extra, claim), at.Devices[claim]), true
}

// Reserved tells whether a claim, by its key, is reserved in the end for a member that is bound: always, as "a Pod which references a
// ResourceClaim which is not reserved for that Pod will not be started" (resource/v1/types.go:2069@v0.37.1).
func Reserved(*Cycle, Placement, string) bool { return true }

// User is the UID of whom a claim, by its key, is reserved for as a member is bound: of the pod group if it is one of the group's, which is "reserved for the
// PodGroup in ResourceClaimStatus.ReservedFor rather than for individual Pods" (core/v1/types.go:4758@v0.37.1, PodResourceClaim), or else of the member.
func User(cy *Cycle, at Placement, claim string) types.UID {
	for i := range at.Pod.Spec.ResourceClaims {
		entry := &at.Pod.Spec.ResourceClaims[i]
		if name, _ := device.ClaimName(at.Pod, entry); at.Pod.Namespace+"/"+name == claim {
			return UserOf(cy, at.Pod, entry)
		}
	}
	return filter.PodUID(at.Pod)
}

// UserOf is User of the claim behind an entry of a pod.
func UserOf(cy *Cycle, p *v1.Pod, entry *v1.PodResourceClaim) types.UID {
	if g := device.GroupOf(cy.Cluster.Extra, cy.Cluster.Settings.FeatureGates, p, entry); g != nil {
		return model.UIDOfGroup(g)
	}
	return filter.PodUID(p)
}

// devicesOf is what DynamicResources knows of the pod that is tried; ok is false if it has no claims.
func devicesOf(trial *model.Cycle) (state *device.State, ok bool) {
	return filter.As[*device.State](trial.State(device.DynamicResources{}.Name()))
}

// Allocated is what a claim, by its key, has of devices; nil if nothing.
func Allocated(objects []runtime.Object, key string) *resourcev1.AllocationResult {
	for _, o := range objects {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && model.Key(claim) == key {
			return claim.Status.Allocation
		}
	}
	return nil
}

// Uses tells whether a claim, by its key, is reserved for a pod.
func Uses(objects []runtime.Object, p *v1.Pod, key string) bool {
	return UsedBy(objects, filter.PodUID(p), key)
}

// UsedBy tells whether a claim, by its key, is reserved for who has a UID.
func UsedBy(objects []runtime.Object, uid types.UID, key string) bool {
	return slices.ContainsFunc(objects, func(o runtime.Object) bool {
		claim, ok := o.(*resourcev1.ResourceClaim)
		return ok && model.Key(claim) == key && slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == uid })
	})
}

// Read reads what an observation says of the devices of a member (model.MemberTry). The error says what is no allocation.
func Read(devices map[string]string) (map[string]*resourcev1.AllocationResult, error) {
	if len(devices) == 0 {
		return nil, nil
	}
	read := make(map[string]*resourcev1.AllocationResult, len(devices))
	for key, text := range devices {
		read[key] = &resourcev1.AllocationResult{}
		if err := json.Unmarshal([]byte(text), read[key]); err != nil {
			return nil, fmt.Errorf("allocation of claim %s: %w", key, err)
		}
	}
	return read, nil
}

// Allocations are ways to give a pod that is tried devices on a node where it fits, up to a number, each as Placement.Devices; of devices
// that differ in nothing but their names the first ones. exact is false if there may be more.
func Allocations(trial *model.Cycle, node string, most int) (ways []map[string]*resourcev1.AllocationResult, exact bool) {
	state, ok := devicesOf(trial)
	if !ok {
		return []map[string]*resourcev1.AllocationResult{nil}, true
	}
	return state.Allocations(trial.Snapshot, trial.Node(node).Node, most)
}

// withDevices are objects with what is allocated for members that are placed. Nobody else may have it: the claims are these
// members' until they are bound.
func withDevices(objects []runtime.Object, placed []Placement) []runtime.Object {
	copied := false
	for _, at := range placed {
		for i, o := range objects {
			claim, ok := o.(*resourcev1.ResourceClaim)
			if !ok || at.Devices[model.Key(claim)] == nil {
				continue
			}
			if !copied {
				objects, copied = slices.Clone(objects), true
			}
			claim = claim.DeepCopy()
			if claim.Status.Allocation == nil {
				claim.Status.Allocation = at.Devices[model.Key(claim)]
			}
			claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: at.Pod.Name, UID: filter.PodUID(at.Pod)})
			objects[i] = claim
		}
	}
	return objects
}
