package device

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// wish is one way in which a request is met: by so many devices of a class, each another
// one ("requests for distinct devices": resource/v1/types.go:1230@v0.37.1, DeviceClaim).
type wish struct {
	class, driver string // driver is that of the class, "" if any will do
	claim         int
	count         int
	// admin: the devices are not taken from others, and may be in use ("they ignore all
	// ordinary claims to the device": resource/v1/types.go:1397@v0.37.1; KEP-5018).
	admin       bool
	tolerations []resourcev1.DeviceToleration
}

// waysOf are the ways in which a request may be met: of a prioritized list, any of its
// entries, "of which exactly one will be selected" (KEP-4816;
// resource/v1/types.go:1314@v0.37.1). Which is of no importance here.
func waysOf(r *resourcev1.DeviceRequest) (ways []wish) {
	if e := r.Exactly; e != nil {
		return []wish{{class: e.DeviceClassName, count: int(e.Count), admin: e.AdminAccess != nil && *e.AdminAccess, tolerations: e.Tolerations}}
	}
	for i := range r.FirstAvailable {
		s := &r.FirstAvailable[i]
		ways = append(ways, wish{class: s.DeviceClassName, count: int(s.Count), tolerations: s.Tolerations})
	}
	return ways
}

// offer is a device that can be used from a node.
type offer struct {
	driver string
	taken  bool
	taints []resourcev1.DeviceTaint
}

// suffice tells whether a node has devices for all requests.
func (d *devices) suffice(n *v1.Node) bool {
	if len(d.wanted) == 0 {
		return true
	}
	var offered []offer
	for _, s := range d.slices {
		if !offers(s, n) {
			continue
		}
		for i := range s.Spec.Devices {
			id := device{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name}
			offered = append(offered, offer{id.driver, d.taken[id], slices.Concat(s.Spec.Devices[i].Taints, d.byRules(id))})
		}
	}
	return meets(offered, nil, d.wanted)
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
// same applies to NoExecute" (KEP-5055; resource/v1/types.go:1412@v0.37.1). Other effects
// are none.
func (o *offer) serves(w *wish) bool {
	if w.driver != "" && w.driver != o.driver || o.taken && !w.admin {
		return false
	}
	return !slices.ContainsFunc(o.taints, func(t resourcev1.DeviceTaint) bool {
		if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute {
			return false
		}
		return !slices.ContainsFunc(w.tolerations, func(by resourcev1.DeviceToleration) bool { return tolerates(by, t) })
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
func meets(offered []offer, wishes []wish, left [][]wish) bool {
	if len(left) == 0 {
		return enough(offered, wishes)
	}
	return slices.ContainsFunc(left[0], func(way wish) bool { return meets(offered, append(slices.Clip(wishes), way), left[1:]) })
}

// enough tells whether each device wished for can be another one: it looks for a matching.
// What is for administration is another one for each claim only.
func enough(offered []offer, wishes []wish) bool {
	holders := map[int][]*wish{} // by device; one slice for each claim of administration, and one for all else
	group := func(w *wish) int {
		if w.admin {
			return w.claim
		}
		return 0
	}
	var place func(w *wish, held []*wish, tried []bool) bool
	place = func(w *wish, held []*wish, tried []bool) bool {
		for i := range offered {
			if tried[i] || !offered[i].serves(w) {
				continue
			}
			tried[i] = true
			if held[i] == nil || place(held[i], held, tried) {
				held[i] = w
				return true
			}
		}
		return false
	}
	for i := range wishes {
		w := &wishes[i]
		held := holders[group(w)]
		if held == nil {
			held = make([]*wish, len(offered))
			holders[group(w)] = held
		}
		for range w.count {
			if !place(w, held, make([]bool, len(offered))) {
				return false
			}
		}
	}
	return true
}
