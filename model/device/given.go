package device

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Wrong says what is wrong with the devices that are allocated, on a node, to those of the preemptor's claims that have none, by the
// claim's key; "" if nothing is. Of the claims in unseen it is not known what they get.
func (st *State) Wrong(s *filter.Snapshot, n *v1.Node, given map[string]*resourcev1.AllocationResult, unseen ...string) (wrong string) {
	a := newAllocator(st, s, n)
	seen := 0
	for i, claim := range st.Open {
		key := filter.Key(claim)
		switch {
		case slices.Contains(unseen, key):
			continue
		case given[key] == nil:
			return "claim " + key + " gets no devices"
		}
		seen++
		if why := a.wrong(i+1, claim, given[key]); why != "" {
			return "claim " + key + ": " + why
		}
	}
	if len(given) > seen {
		return fmt.Sprintf("%d claims get devices, and %d need some", len(given), seen)
	}
	return ""
}

// allocator follows what is allocated, device by device.
type allocator struct {
	*search
	nodes []*filter.Node
	node  *v1.Node
}

func newAllocator(st *State, s *filter.Snapshot, n *v1.Node) *allocator {
	return &allocator{newSearch(st.devices, st.devices.offeredTo(n)), s.Nodes, n}
}

// wrong is what is wrong with what a claim gets, by its place among those that want something.
func (a *allocator) wrong(place int, claim *resourcev1.ResourceClaim, got *resourcev1.AllocationResult) string {
	results := got.Devices.Results
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		ways := waysOf(r)
		way := slices.IndexFunc(ways, func(w wish) bool {
			return slices.ContainsFunc(results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.Request == w.name() })
		})
		if way < 0 {
			return fmt.Sprintf("request %s gets nothing", r.Name)
		}
		w := &ways[way]
		w.driver, _ = driverOf(a.classes[w.class])
		w.claim = place
		count := 0
		for j := range results {
			if results[j].Request != w.name() {
				continue
			}
			count++
			if why := a.give(w, &results[j]); why != "" {
				return fmt.Sprintf("request %s: device %s/%s/%s %s", w.name(), results[j].Driver, results[j].Pool, results[j].Device, why)
			}
		}
		if count != w.count {
			return fmt.Sprintf("request %s gets %d devices of %d", w.name(), count, w.count)
		}
		results = slices.DeleteFunc(slices.Clone(results), func(r resourcev1.DeviceRequestAllocationResult) bool { return r.Request == w.name() })
	}
	if len(results) > 0 {
		return fmt.Sprintf("request %s is none of its own, or another entry is met", results[0].Request)
	}
	return a.selects(got)
}

// name is how an allocation names the request: "<main request>/<subrequest>" for an entry of a prioritized list
// (resource/v1/types.go, DeviceRequestAllocationResult.Request).
func (w *wish) name() string {
	if w.entry != "" {
		return w.request + "/" + w.entry
	}
	return w.request
}

// give gives a request a device, and says why it should not.
func (a *allocator) give(w *wish, r *resourcev1.DeviceRequestAllocationResult) (wrong string) {
	at := slices.IndexFunc(a.offered, func(o offer) bool {
		return o.driver == r.Driver && o.pool == a.pools[poolID{r.Driver, r.Pool}] && o.of.Name == r.Device
	})
	if at < 0 {
		return "is not offered to the node"
	}
	o := &a.offered[at]
	takes, _ := a.needs(w, o)
	switch {
	case a.take(w, at) == nil:
		return "is not free, or not what is requested"
	case ptr.Deref(r.AdminAccess, false) != w.admin:
		return "has other access than is requested"
	case !w.admin && (r.ShareID != nil) != o.shared:
		return "is allocated in part where it should be as a whole, or the other way round"
	case !w.admin && o.shared && !a.consumes(o, r, takes):
		return "has other capacity consumed than is requested"
	case !equality.Semantic.DeepEqual(r.Tolerations, w.tolerations):
		return "does not have a copy of the tolerations of the request"
	case !slices.Equal(r.BindingConditions, o.of.BindingConditions) || !slices.Equal(r.BindingFailureConditions, o.of.BindingFailureConditions):
		return "does not have a copy of the binding conditions of the device"
	case !slices.Equal(r.SkipNodeOperations, o.skips):
		return "does not have a copy of the operations that are left out for the device" // resource/v1/types.go:2325@v0.37.1
	}
	return ""
}

// consumes tells whether an allocation says that just so much is consumed of a device.
func (a *allocator) consumes(o *offer, r *resourcev1.DeviceRequestAllocationResult, takes map[string]amount) bool {
	says := map[string]amount{}
	for name := range r.ConsumedCapacity {
		value := r.ConsumedCapacity[name]
		says[a.name(name, o.driver)] = milli(&value)
	}
	return maps.Equal(says, takes)
}

// selects says what is wrong with the nodes where a claim can be used: "NodeSelector defines where the allocated resources are available.
// If unset, they are available everywhere" (resource/v1/types.go:2156@v0.37.1). That is where all its devices are, or, with a device that
// binds to its node, "exactly the node that was chosen" (resource/v1/types.go:467@v0.37.1, BindsToNode).
func (a *allocator) selects(got *resourcev1.AllocationResult) (wrong string) {
	for _, n := range a.nodes {
		usable := !slices.ContainsFunc(got.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
			return !a.reaches(&r, n.Node)
		})
		if says := got.NodeSelector == nil || selects(got.NodeSelector, n.Node); says != usable {
			return fmt.Sprintf("its node selector says of node %s that the devices can be used there: %v", n.Name, says)
		}
	}
	return ""
}

// reaches tells whether an allocated device can be used from a node.
func (a *allocator) reaches(r *resourcev1.DeviceRequestAllocationResult, n *v1.Node) bool {
	for _, s := range a.slices {
		if s.Spec.Driver != r.Driver || s.Spec.Pool.Name != r.Pool {
			continue
		}
		for i := range s.Spec.Devices {
			if of := &s.Spec.Devices[i]; of.Name == r.Device && offers(s, of, n) {
				return n == a.node || !ptr.Deref(of.BindsToNode, false)
			}
		}
	}
	return false
}

// Allocations are ways to allocate devices, on a node, to those of the preemptor's claims that have none, by the claim's key, up to a
// number; of devices that differ in nothing but their names the first ones. exact is false if there may be more.
func (st *State) Allocations(s *filter.Snapshot, n *v1.Node, most int) (ways []map[string]*resourcev1.AllocationResult, exact bool) {
	a := newAllocator(st, s, n)
	exact = true
	a.found = func() bool {
		if len(ways) == most {
			exact = false
			return true
		}
		way := map[string]*resourcev1.AllocationResult{}
		for i, claim := range st.Open {
			way[filter.Key(claim)] = a.allocation(i + 1)
		}
		ways = append(ways, way)
		return false
	}
	a.complete()
	return ways, exact && !a.exhausted()
}

// allocation is what the claim at a place has been given by now.
func (a *allocator) allocation(place int) *resourcev1.AllocationResult {
	got := &resourcev1.AllocationResult{}
	for i, c := range a.chosen[place] {
		o := &a.offered[c.at]
		r := resourcev1.DeviceRequestAllocationResult{Request: c.w.name(), Driver: o.driver, Pool: o.pool.slices[0].Spec.Pool.Name, Device: o.of.Name, Tolerations: c.w.tolerations,
			BindingConditions: o.of.BindingConditions, BindingFailureConditions: o.of.BindingFailureConditions, SkipNodeOperations: o.skips}
		switch {
		case c.w.admin:
			r.AdminAccess = new(true)
		case o.shared:
			r.ShareID, r.ConsumedCapacity = new(types.UID(fmt.Sprintf("share-%d-%d", place, i))), map[resourcev1.QualifiedName]resource.Quantity{}
			for name, much := range c.takes {
				r.ConsumedCapacity[resourcev1.QualifiedName(name)] = *resource.NewMilliQuantity(int64(much), resource.DecimalSI)
			}
		}
		got.Devices.Results = append(got.Devices.Results, r)
	}
	everywhere := true
	selector := &v1.NodeSelector{}
	for _, n := range a.nodes {
		if slices.ContainsFunc(got.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool { return !a.reaches(&r, n.Node) }) {
			everywhere = false
			continue
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name}}}})
	}
	if !everywhere {
		got.NodeSelector = selector
	}
	return got
}
