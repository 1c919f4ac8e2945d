package model

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claimRules is what Mutants break.
type claimRules struct {
	deleted    bool // a claim that is being deleted keeps the pod waiting
	owner      bool // a claim made from a template has to be the pod's
	shared     bool // a claim may be reserved for several pods
	classes    bool // the class of a device has to exist
	selector   bool // an allocation is good for some nodes only
	allocated  bool // devices of other claims are taken
	deallocate bool // an idle claim that is in the way loses its allocation

	// Quirks: see Quirk.
	allocatedTwice, allocatedFailsScore bool
}

func documentedClaims() claimRules {
	return claimRules{deleted: true, owner: true, shared: true, classes: true, selector: true, allocated: true, deallocate: true}
}

// claims are the resource claims of the preemptor, made ready (KEP-4381).
// Preemption does not free devices: they belong to claims, and what is allocated
// or reserved does not change while pods are removed for the sake of argument
// (docs: concepts/scheduling-eviction/dynamic-resource-allocation).
type claims struct {
	// rejection is why the pod has to wait, wherever; "" if it need not.
	rejection string
	allocated []*resourcev1.ResourceClaim
	open      int // how many claims are not allocated yet
	// wanted is how many devices have to be allocated, by driver; "" is any.
	wanted map[string]int
	total  int
	slices []*resourcev1.ResourceSlice
	taken  map[device]bool
}

// newClaims is nil if the preemptor has no claims.
func (q *question) newClaims() *claims {
	p := q.cluster.Preemptor
	if len(p.Spec.ResourceClaims) == 0 {
		return nil
	}
	cs := &claims{wanted: map[string]int{}, taken: map[device]bool{}}
	known, classes := map[string]*resourcev1.ResourceClaim{}, map[string]*resourcev1.DeviceClass{}
	for _, o := range q.cluster.Extra {
		switch o := o.(type) {
		case *resourcev1.ResourceClaim:
			known[Key(o)] = o
			if q.rules.claims.allocated {
				takeDevices(o, cs.taken)
			}
		case *resourcev1.DeviceClass:
			classes[o.Name] = o
		case *resourcev1.ResourceSlice:
			cs.slices = append(cs.slices, o)
		}
	}
	var own []*resourcev1.ResourceClaim
	for i := range p.Spec.ResourceClaims {
		name, why := claimName(p, &p.Spec.ResourceClaims[i])
		if why == "" && name == "" {
			continue // nothing was to be created
		}
		claim := known[p.Namespace+"/"+name]
		if why == "" {
			why = q.rules.claims.unusable(p, &p.Spec.ResourceClaims[i], claim)
		}
		if why != "" {
			cs.rejection = why
			return cs
		}
		if !slices.Contains(own, claim) || q.rules.claims.allocatedTwice {
			own = append(own, claim)
		}
	}
	for _, claim := range own {
		if claim.Status.Allocation != nil {
			cs.allocated = append(cs.allocated, claim)
			if !q.rules.claims.reservable(p, claim) {
				cs.rejection = "resourceclaim in use"
			}
			continue
		}
		cs.open++
		if why := cs.want(claim, classes); why != "" && q.rules.claims.classes {
			cs.rejection = why
		}
	}
	return cs
}

// claimName is the name of the claim behind an entry of the pod: of the one made
// from the template as the pod's status says, and "" if it says that none was to
// be made (API reference, PodResourceClaimStatus).
func claimName(p *v1.Pod, c *v1.PodResourceClaim) (name, why string) {
	if c.ResourceClaimName != nil {
		return *c.ResourceClaimName, ""
	}
	for i := range p.Status.ResourceClaimStatuses {
		if s := &p.Status.ResourceClaimStatuses[i]; s.Name == c.Name {
			if s.ResourceClaimName == nil {
				return "", ""
			}
			return *s.ResourceClaimName, ""
		}
	}
	return "", "the claim is not created yet from its template"
}

// unusable says why the pod cannot use a claim; nil is one that does not exist.
func (r *claimRules) unusable(p *v1.Pod, c *v1.PodResourceClaim, claim *resourcev1.ResourceClaim) string {
	switch {
	case claim == nil:
		return "the claim does not exist"
	case claim.DeletionTimestamp != nil && r.deleted:
		return "the claim is being deleted"
	case c.ResourceClaimName == nil && r.owner && !controls(p, claim):
		return "the claim was not created for the pod"
	}
	return ""
}

// controls tells whether a claim was made for the pod.
func controls(p *v1.Pod, claim metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(claim)
	return owner != nil && owner.UID == podUID(p)
}

// podUID is the pod's, or what a pod that has none goes by.
func podUID(p *v1.Pod) types.UID {
	if p.UID == "" {
		return types.UID(Key(p))
	}
	return p.UID
}

// reservable: an allocated claim may be shared by any number of pods, even by more
// than reservedFor has room for (resourceclaim.go:199@v0.37.1, CanBeReserved).
func (r *claimRules) reservable(p *v1.Pod, claim *resourcev1.ResourceClaim) bool {
	return r.shared || len(claim.Status.ReservedFor) == 0 ||
		slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == podUID(p) })
}

// dynamicResourcesPreFilter: a claim that is missing, going or made for another pod,
// or that asks for devices of a class that does not exist, keeps the pod waiting,
// and removing pods is no help (dynamicresources.go:572@v1.37.1).
func dynamicResourcesPreFilter(q *question) *preFilterAnswer {
	if q.claims == nil || q.claims.rejection == "" {
		return nil
	}
	return &preFilterAnswer{rejection: unresolvable(q.claims.rejection)}
}

// dynamicResourcesFail: every claim that is allocated has to be usable from the
// node, and for those that are not the node has to have devices that nobody uses
// (dynamicresources.go:933@v1.37.1). The pods on the node do not matter.
func dynamicResourcesFail(q *question, n *node, _ view) *Verdict {
	if q.claims == nil {
		return nil
	}
	if !q.claims.allocatable(n) {
		return unresolvable("cannot allocate all claims")
	}
	if len(q.unavailable(n)) > 0 {
		return unresolvable("resourceclaim not available on the node")
	}
	return nil
}

// unavailable are the allocated claims that cannot be used from a node.
func (q *question) unavailable(n *node) []*resourcev1.ResourceClaim {
	var list []*resourcev1.ResourceClaim
	for _, claim := range q.claims.allocated {
		if s := claim.Status.Allocation.NodeSelector; s != nil && q.rules.claims.selector && !selects(s, n.Node) {
			list = append(list, claim)
		}
	}
	return list
}

func selects(s *v1.NodeSelector, n *v1.Node) bool {
	return slices.ContainsFunc(s.NodeSelectorTerms, func(t v1.NodeSelectorTerm) bool { return termMatches(&t, n) })
}

// Deallocations are the claims, as namespace/name, of which one loses its
// allocation before preemption is tried: those that are in the pod's way on some node for no other
// reason, and that no other pod uses. Which one is left open
// (dynamicresources.go:1150@v1.37.1, PostFilter).
func (d *Decision) Deallocations() []string {
	q := d.q
	if d.Eligible == nil || q.claims == nil || !q.rules.claims.deallocate {
		return nil
	}
	var idle []string
	for _, n := range q.nodes {
		v := d.Verdicts[n.Name]
		if v == nil || v.Plugin != dynamicResources || q.pre.rejection != nil || !q.claims.allocatable(n) {
			continue
		}
		for _, claim := range q.unavailable(n) {
			for _, c := range claim.Status.ReservedFor {
				if c.UID != podUID(q.cluster.Preemptor) {
					claim = nil
					break
				}
			}
			if claim != nil && !slices.Contains(idle, Key(claim)) {
				idle = append(idle, Key(claim))
			}
		}
	}
	slices.Sort(idle)
	return idle
}

// admitsDeallocation compares which claim lost its allocation.
func (d *Decision) admitsDeallocation(o *Observation) *Disagreement {
	if o.Actuation == nil {
		return nil
	}
	allowed, got := d.Deallocations(), o.Actuation.Deallocated
	if len(allowed) == 0 && len(got) == 0 || len(got) == 1 && slices.Contains(allowed, got[0]) {
		return nil
	}
	return disagree(StageActuate, "", fmt.Sprintf("deallocate one of %v", allowed), got).of("deallocates", listKind(allowed[:min(1, len(allowed))], got))
}

// dynamicResources is the plugin's name.
const dynamicResources = "DynamicResources"
