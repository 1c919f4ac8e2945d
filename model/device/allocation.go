package device

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// wish is one way in which a request is met: by so many devices of a class, each another
// one ("requests for distinct devices": resource/v1/types.go:1230@v0.37.1, DeviceClaim).
type wish struct {
	class, driver string // driver is that of the class, "" if any will do
	claim         int
	count         int
	// admin: the devices may be in use ("they ignore all ordinary claims to the device":
	// resource/v1/types.go:1397@v0.37.1), and are not taken from other claims ("the
	// scheduler ignores claims with adminAccess": KEP-5018).
	admin       bool
	tolerations []resourcev1.DeviceToleration
	// request and entry name the request, and its entry in a prioritized list.
	request, entry string
	capacity       *resourcev1.CapacityRequirements
}

// waysOf are the ways in which a request may be met: of a prioritized list, any of its
// entries, "of which exactly one will be selected" (KEP-4816;
// resource/v1/types.go:1314@v0.37.1). Which is of no importance here.
func waysOf(r *resourcev1.DeviceRequest) (ways []wish) {
	if e := r.Exactly; e != nil {
		return []wish{{class: e.DeviceClassName, count: int(e.Count), admin: e.AdminAccess != nil && *e.AdminAccess, tolerations: e.Tolerations,
			request: r.Name, capacity: e.Capacity}}
	}
	for i := range r.FirstAvailable {
		s := &r.FirstAvailable[i]
		ways = append(ways, wish{class: s.DeviceClassName, count: int(s.Count), tolerations: s.Tolerations,
			request: r.Name, entry: s.Name, capacity: s.Capacity})
	}
	return ways
}

// offer is a device that can be used from a node.
type offer struct {
	driver string
	taken  bool
	taints []resourcev1.DeviceTaint
	*parts
}

// parts are what a device may be used up by besides being taken. Offers of one device
// that is plain have none.
type parts struct {
	of     *resourcev1.Device
	pool   *pool
	shared bool // several requests may have it, each a part
	held   bool // somebody has a part of it
	left   map[string]amount
	skips  []resourcev1.SkipNodeOperation // what its allocation has a copy of
}

// offeredTo are the devices that can be used from a node.
func (d *devices) offeredTo(n *v1.Node) (offered []offer) {
	for _, s := range d.slices {
		if !d.poolOf(s).complete() {
			continue
		}
		for i := range s.Spec.Devices {
			of := &s.Spec.Devices[i]
			if !offers(s, of, n) || d.withheld(s, n) {
				continue
			}
			id := device{s.Spec.Driver, s.Spec.Pool.Name, of.Name}
			o := offer{id.driver, d.taken[id], slices.Concat(of.Taints, d.byRules(id)), nil}
			o.parts = d.partsOf(id, of)
			if d.optional {
				o.skips = s.Spec.SkipNodeOperations
			}
			o.taken = o.taken || o.held && !o.shared && !d.SharesAreFree
			offered = append(offered, o)
		}
	}
	return offered
}

// withheld tells whether the devices of a slice, for which operations of the node are left out, are given to nobody on a node: "the
// allocator treats the device as unallocatable" if the gate is off, and where the node does not declare that it knows of this
// (KEP-5945, "Allocator Changes", as it was written for beta; that of v1.37 has the claim fail; docs:
// concepts/resource-management/dynamic-resource-allocation/dra-features, "Node declared features integration").
func (d *devices) withheld(s *resourcev1.ResourceSlice, n *v1.Node) bool {
	switch {
	case len(s.Spec.SkipNodeOperations) == 0:
		return false
	case d.optional:
		return !slices.Contains(n.Status.DeclaredFeatures, filter.FeatureSkipOperations)
	default:
		return !d.SkipsAreUnseen
	}
}

func (d *devices) partsOf(id device, of *resourcev1.Device) *parts {
	p := &parts{of: of, pool: d.pools[poolID{id.driver, id.pool}], held: d.shares[id] != nil, left: map[string]amount{}}
	p.shared = of.AllowMultipleAllocations != nil && *of.AllowMultipleAllocations
	for name, c := range d.capacities(of, id.driver) {
		p.left[name] = milli(&c.Value)
	}
	for name, consumed := range d.shares[id] {
		if full := d.name(name, id.driver); d.capacities(of, id.driver)[full] != nil {
			p.left[full] -= consumed
		}
	}
	return p
}

// sufficient is what suffice answers.
type sufficient struct {
	enough bool
	// open: it depends on what the documents leave open, and a release does not. gaveUp: too much would have to be tried.
	open, gaveUp bool
}

// known tells whether enough is all that the documents allow.
func (s sufficient) known() bool { return !s.open && !s.gaveUp }

// suffice tells whether a node has devices for all requests.
func (d *devices) suffice(n *v1.Node) sufficient {
	d = d.on(n)
	if len(d.wanted) == 0 {
		return sufficient{enough: true}
	}
	offered := d.offeredTo(n)
	if !d.intricate(offered) {
		return sufficient{enough: d.meets(offered, nil, d.wanted)}
	}
	once := newSearch(d, offered)
	enough := once.complete()
	// "If Count > 1, the request fails if there aren't enough devices that meet the
	// requirements" (resource/v1/types.go:1441@v0.37.1) does not say whether one device
	// that several requests may share counts twice.
	again := newSearch(d, offered)
	again.repeats = true
	return sufficient{enough, enough != again.complete(), once.exhausted() || again.exhausted()}
}

// intricate tells whether more matters of the devices than who takes which.
func (d *devices) intricate(offered []offer) bool {
	return len(d.constraints) > 0 ||
		slices.ContainsFunc(offered, func(o offer) bool { return o.shared || o.held || len(o.of.ConsumesCounters) > 0 }) ||
		slices.ContainsFunc(d.wanted, func(ways []wish) bool {
			return slices.ContainsFunc(ways, func(w wish) bool { return w.capacity != nil })
		})
}

// keepsAway tells whether a device that is allocated to a claim has a taint that keeps
// pods away. "The effect is applied to the ResourceClaim which is using a tainted device
// and to all Pods referencing that ResourceClaim. The NoSchedule effect prevents
// scheduling those Pods", and NoExecute implies it (docs:
// concepts/resource-management/dynamic-resource-allocation/device-taints;
// resource/v1/types.go:1416@v0.37.1). Administration "is not exempt either". What is
// tolerated was copied when the device was allocated (resource/v1/types.go:2261@v0.37.1).
func (d *devices) keepsAway(claim *resourcev1.ResourceClaim) bool {
	results := claim.Status.Allocation.Devices.Results
	return slices.ContainsFunc(results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return !tolerated(d.taintsOf(device{r.Driver, r.Pool, r.Device}), r.Tolerations)
	})
}

// taintsOf are all taints of a device.
func (d *devices) taintsOf(id device) []resourcev1.DeviceTaint {
	taints := d.byRules(id)
	for _, s := range d.slices {
		for i := range s.Spec.Devices {
			if id == (device{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name}) {
				taints = append(taints, s.Spec.Devices[i].Taints...)
			}
		}
	}
	return taints
}

// byRules are the taints of the rules that select a device. "DeviceTaintRule adds one
// taint to all devices which match the selector. The empty selector matches all devices.
// Without a selector, no devices are matched" (KEP-5055; resource/v1/types.go:1029@v0.37.1).
func (d *devices) byRules(id device) (taints []resourcev1.DeviceTaint) {
	for _, r := range d.rules {
		s := r.Spec.DeviceSelector
		is := func(want *string, name string) bool { return want == nil || *want == name }
		if s != nil && is(s.Driver, id.driver) && is(s.Pool, id.pool) && is(s.Device, id.name) {
			taints = append(taints, r.Spec.Taint)
		}
	}
	return taints
}

// serves tells whether a device may be one of those wished for. "Tolerations for
// NoSchedule are required to allocate a device which has a taint with that effect. The
// same applies to NoExecute" (KEP-5055; resource/v1/types.go:1412@v0.37.1).
func (o *offer) serves(w *wish) bool {
	return (w.driver == "" || w.driver == o.driver) && (w.admin || !o.taken) && tolerated(o.taints, w.tolerations)
}

// tolerated tells whether all taints are that keep pods away. Other effects than these
// two are none.
func tolerated(taints []resourcev1.DeviceTaint, by []resourcev1.DeviceToleration) bool {
	return !slices.ContainsFunc(taints, func(t resourcev1.DeviceTaint) bool {
		return (t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute) &&
			!slices.ContainsFunc(by, func(by resourcev1.DeviceToleration) bool { return tolerates(by, t) })
	})
}

// tolerates: no key is any key, no effect any effect (resource/v1/types.go:2003@v0.37.1,
// DeviceToleration).
func tolerates(by resourcev1.DeviceToleration, t resourcev1.DeviceTaint) bool {
	return (by.Key == "" || by.Key == t.Key) && (by.Effect == "" || by.Effect == t.Effect) &&
		(by.Operator == resourcev1.DeviceTolerationOpExists || by.Value == t.Value)
}

// meets tells whether the devices are enough for the wishes, and for one way of each
// request that is left.
func (d *devices) meets(offered []offer, wishes []wish, left [][]wish) bool {
	if len(left) == 0 {
		return newMatching(offered, wishes, d.Withholds).complete()
	}
	return slices.ContainsFunc(left[0], func(way wish) bool { return d.meets(offered, append(slices.Clip(wishes), way), left[1:]) })
}
