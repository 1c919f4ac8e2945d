// Package device specifies DynamicResources, the filter plugin that looks at
// resource claims and devices.
package device

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// DynamicResources: every claim that is allocated has to be usable from the node, and
// its devices must not be tainted; for those that are not the node has to have devices that nobody uses
// (KEP-4381; dynamicresources.go:933@v1.37.1). The pods on the node do not matter,
// and preemption does not free devices: they belong to claims, and what is
// allocated or reserved does not change while pods are removed for the sake of
// argument ("The Kubernetes scheduler doesn't support preemption for DRA resources": docs:
// concepts/resource-management/dynamic-resource-allocation, "Limitations"). That holds also of
// the claims that the scheduler makes for extended resources that devices back (extended.go).
type DynamicResources struct{}

// Name implements filter.Plugin.
func (DynamicResources) Name() string { return "DynamicResources" }

// PreFilter implements filter.Plugin. A claim that is missing, going or made for
// another pod, or that asks for devices of a class that does not exist, keeps the
// pod waiting, and removing pods is no help (dynamicresources.go:572@v1.37.1).
func (DynamicResources) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	p := s.Preemptor.Pod
	backed, unbacked := extendedOf(p, s.Objects)
	if len(p.Spec.ResourceClaims)+len(backed) == 0 {
		return nil, filter.Answer{}
	}
	d := newDevices(s.Objects, s.FeatureGates)
	if len(backed) > 0 {
		d.extended = [][]extended{backed}
	} else {
		unbacked = nil // no claim is made
	}
	own, why := d.ownClaims(p)
	if why != "" {
		return nil, filter.Rejected(why)
	}
	st, answer := &State{devices: d, unbacked: unbacked, preemptor: filter.Key(p)}, filter.Answer{}
	for _, claim := range own {
		if claim.Status.Allocation != nil {
			// Any number of pods may share it, even more than reservedFor has room for
			// (resourceclaim.go:199@v0.37.1, CanBeReserved).
			st.Allocated = append(st.Allocated, claim)
			if d.keepsAway(claim) {
				st.Tainted = append(st.Tainted, claim)
			}
			continue
		}
		st.Open = append(st.Open, claim)
		if missing := d.want(claim); missing != "" {
			answer = filter.Rejected(missing)
		}
	}
	st.Judge(s)
	return st, answer
}

// ownClaims are the claims behind the entries of the pod, each once, or else why
// the pod cannot use one of them.
func (d *devices) ownClaims(p *v1.Pod) (own []*resourcev1.ResourceClaim, why string) {
	for i := range p.Spec.ResourceClaims {
		entry := &p.Spec.ResourceClaims[i]
		name, why := ClaimName(p, entry)
		if why != "" {
			return nil, why
		}
		if name == "" {
			continue // nothing was to be created
		}
		claim := d.claims[p.Namespace+"/"+name]
		switch {
		case claim == nil:
			return nil, "the claim does not exist"
		case claim.DeletionTimestamp != nil:
			return nil, "the claim is being deleted"
		case entry.ResourceClaimName == nil && !d.madeFor(p, entry, claim):
			return nil, "the claim was not created for the pod"
		case !slices.Contains(own, claim):
			own = append(own, claim)
		}
	}
	return own, ""
}

// Named are the claims behind the entries of a pod, as namespace/name, as far as it can be told.
func Named(p *v1.Pod) (keys []string) {
	for i := range p.Spec.ResourceClaims {
		if name, _ := ClaimName(p, &p.Spec.ResourceClaims[i]); name != "" {
			keys = append(keys, p.Namespace+"/"+name)
		}
	}
	return keys
}

// Gated tells whether a pod is not tried at all yet, as a claim of it does not exist, is going, or is another pod's
// (dynamicresources.go:303@v1.37.1, PreEnqueue).
func Gated(objects []runtime.Object, gates map[string]bool, p *v1.Pod) bool {
	_, why := newDevices(objects, gates).ownClaims(p)
	return why != ""
}

// ClaimName is the name of the claim behind an entry of the pod: of the one made
// from the template as the pod's status says, and "" if it says that none was to
// be made (API reference, PodResourceClaimStatus). why says that there is no telling
// yet.
func ClaimName(p *v1.Pod, entry *v1.PodResourceClaim) (name, why string) {
	if entry.ResourceClaimName != nil {
		return *entry.ResourceClaimName, ""
	}
	for i := range p.Status.ResourceClaimStatuses {
		if s := &p.Status.ResourceClaimStatuses[i]; s.Name == entry.Name {
			if s.ResourceClaimName == nil {
				return "", ""
			}
			return *s.ResourceClaimName, ""
		}
	}
	return "", "the claim is not created yet from its template"
}

// State is the State of DynamicResources.
type State struct {
	filter.Verdicts
	// Allocated are the preemptor's claims that have devices, Open those that have
	// none yet.
	Allocated, Open []*resourcev1.ResourceClaim
	// Tainted are those of Allocated with a device of which a taint keeps pods away.
	Tainted []*resourcev1.ResourceClaim
	// Idle are the keys of the allocated claims that are in the preemptor's way on a
	// node for no other reason, and that no other pod uses, by Node.Index.
	Idle    [][]string
	devices *devices
	// gaveUp: on some node too much would have to be tried to tell whether there are devices enough.
	gaveUp    bool
	preemptor string
	// unbacked are the extended resources that no devices back, of a pod that has others.
	unbacked []v1.ResourceName
}

// Read judges anew as if the documents were read otherwise. Claims are told by their
// places among those of Open.
func (st *State) Read(s *filter.Snapshot, change func(*Reading)) {
	change(&st.devices.Reading)
	st.Judge(s)
}

// Deallocatable are the claims, as namespace/name, of which one may lose its
// allocation because of n before preemption is tried
// (dynamicresources.go:1150@v1.37.1, PostFilter).
func (st *State) Deallocatable(n *filter.Node) []string { return st.Idle[n.Index] }

// Judge works out the verdict on each node.
func (st *State) Judge(s *filter.Snapshot) {
	st.Verdicts, st.Idle, st.gaveUp = make(filter.Verdicts, len(s.Nodes)), make([][]string, len(s.Nodes)), false
	for i, n := range s.Nodes {
		devices := st.devices.suffice(n.Node)
		st.gaveUp = st.gaveUp || devices.gaveUp
		if !devices.enough || lacks(n.Node, st.unbacked) {
			st.Verdicts[i] = filter.Unresolvable("cannot allocate all claims")
			continue
		}
		for _, claim := range st.Allocated {
			where := claim.Status.Allocation.NodeSelector
			if (where == nil || selects(where, n.Node)) && !slices.Contains(st.Tainted, claim) && !st.devices.failed(claim) && skipsAllowed(claim, n.Node) {
				continue
			}
			st.Verdicts[i] = filter.Unresolvable("resourceclaim not available on the node")
			if !slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
				return c.UID != filter.PodUID(s.Preemptor.Pod)
			}) {
				st.Idle[i] = append(st.Idle[i], filter.Key(claim))
			}
		}
	}
}

// Undecided implements filter.Undecided. It reports a search that was given up. Unmodelled reports it, too, as the documents are meant;
// but as a release reads them, more may have to be tried.
func (st *State) Undecided(report filter.Report) {
	if st.gaveUp {
		report("Pod "+st.preemptor, "spec.resourceClaims", tooManyTried)
	}
}

// skipsAllowed tells whether the kubelet of a node knows of operations that are left out, if they are for a device of a claim: the
// scheduler looks whether the node declares it before it puts there a pod with such a claim (docs:
// concepts/resource-management/dynamic-resource-allocation/dra-features, "Node declared features integration").
func skipsAllowed(claim *resourcev1.ResourceClaim, n *v1.Node) bool {
	return !SkipsOperations(claim) || slices.Contains(n.Status.DeclaredFeatures, filter.FeatureSkipOperations)
}

// SkipsOperations tells whether node operations are left out for a device that is allocated to a claim (KEP-5945).
func SkipsOperations(claim *resourcev1.ResourceClaim) bool {
	return claim.Status.Allocation != nil && slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return len(r.SkipNodeOperations) > 0
	})
}

func selects(s *v1.NodeSelector, n *v1.Node) bool {
	return filter.AnyTermMatches(s.NodeSelectorTerms, n)
}
