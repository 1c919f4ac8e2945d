package filter

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// NodeResourcesFit: what the pods on the node occupy plus what the pod requests
// has to stay within allocatable, resource by resource, and so does the number of
// pods. Source: docs, concepts/configuration/manage-resources-containers, "How
// Pods with resource requests are scheduled".
type NodeResourcesFit struct{}

// Name implements Plugin.
func (NodeResourcesFit) Name() string { return "NodeResourcesFit" }

// PreFilter implements Plugin.
func (NodeResourcesFit) PreFilter(s *Snapshot) (State, Answer) {
	st := &ResourcesState{Needs: make([]Resources, s.Size())}
	st.Needs[s.Preemptor.Index] = Requested(s.Preemptor.Pod)
	s.Placed(func(_ *Node, p *Pod) { st.Needs[p.Index] = Occupied(p.Pod) })
	for _, want := range st.Needs[s.Preemptor.Index] {
		if want.Quantity == (Quantity{}) {
			continue
		}
		st.Wanted = append(st.Wanted, want)
		if IsExtended(want.Name) && Backing(s.Objects, want.Name) != nil {
			st.Backed = append(st.Backed, want.Name)
		}
	}
	return st, Answer{}
}

// ResourcesState is the State of NodeResourcesFit.
type ResourcesState struct {
	// Needs is what each pod requests or occupies, by its Index.
	Needs []Resources
	// Wanted are the resources that a node has to have enough of. Those of which
	// the scheduler keeps no account are passed over.
	Wanted Resources
	// Backed are those of them that devices back on nodes which do not have them: there
	// they are left to DynamicResources (KEP-5004, "Scheduling for Extended Resource backed
	// by DRA").
	Backed []v1.ResourceName
}

// Fits implements State. A request above allocatable itself cannot be helped by
// removing pods; a full pod count can (fit.go:710@v1.37.1, fitsRequest).
func (st *ResourcesState) Fits(n *Node, v View) *Verdict {
	var failed *Verdict
	fail := func(reason string, unresolvable bool) {
		if failed == nil {
			failed = &Verdict{}
		}
		failed.Reasons = append(failed.Reasons, reason)
		failed.Unresolvable = failed.Unresolvable || unresolvable
	}
	has := func(name v1.ResourceName) Quantity { return amountOf(name, n.Status.Allocatable[name]).RoundedUp() }
	if has(v1.ResourcePods).less(Whole(uint64(len(v.Pods)) + 1)) {
		fail("Too many pods", false)
	}
	for _, want := range st.Wanted {
		if !IsScheduled(want.Name) || st.LeftToDevices(n, want.Name) {
			continue
		}
		request, allocatable := want.RoundedUp(), has(want.Name)
		needed := request
		for _, p := range v.Pods {
			needed = needed.plus(st.Needs[p.Index].Get(want.Name).RoundedUp())
		}
		if allocatable.less(needed) {
			fail("Insufficient "+string(want.Name), allocatable.less(request))
		}
	}
	return failed
}

// LeftToDevices tells whether the pod gets a resource on a node from devices, if at all.
func (st *ResourcesState) LeftToDevices(n *Node, name v1.ResourceName) bool {
	return slices.Contains(st.Backed, name) && !HasItself(n.Node, name)
}

// Alike implements State.
func (st *ResourcesState) Alike(a, b *Pod) bool { return st.Needs[a.Index].equal(st.Needs[b.Index]) }

// IsScheduled tells whether the scheduler keeps account of a resource: CPU,
// memory, ephemeral storage, huge pages, extended resources and the other
// domain-qualified ones (scheduler/util/utils.go:201@v1.37.1).
func IsScheduled(name v1.ResourceName) bool {
	switch name {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, v1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(s, v1.ResourceAttachableVolumesPrefix) ||
		strings.Contains(s, "/") && !strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix)
}
