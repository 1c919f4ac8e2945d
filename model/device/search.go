package device

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxSteps is how many devices are tried on a node.
const maxSteps = 50000

// search looks for devices where more matters than who takes which: shares, counters,
// capacities and constraints. It tries all ways, as the scheduler is promised to find one
// if there is one: "the scheduler will select the first set of devices that satisfies all
// the requests in the claim" (resource/v1/types.go:1320@v0.37.1).
type search struct {
	*devices
	offered []offer
	alike   []int           // by device: the first that is the same but for its name
	holders [][]*wish       // by device
	free    map[*pool]spent // of counters
	chosen  map[int][]choice
	// repeats: a request for several devices may get a part of the same one twice.
	repeats bool
	steps   int
	// found is called where all requests are met, and says whether that is enough; nil if it is.
	found func() (enough bool)
}

type spent map[counter]amount

// choice is a device that a request of a claim has got.
type choice struct {
	w  *wish
	at int
	// takes is what it consumes of the device's capacities.
	takes map[string]amount
}

func newSearch(d *devices, offered []offer) *search {
	s := &search{devices: d, offered: make([]offer, len(offered)), holders: make([][]*wish, len(offered)), free: map[*pool]spent{}, chosen: map[int][]choice{}}
	for i := range offered {
		o, p := offered[i], *offered[i].parts
		p.left = maps.Clone(p.left)
		o.parts = &p
		s.offered[i] = o
		s.alike = append(s.alike, slices.IndexFunc(s.offered[:i+1], func(other offer) bool { return same(&other, &o) }))
		if s.free[o.pool] == nil {
			s.free[o.pool] = d.unspent(o.pool)
		}
	}
	return s
}

// same tells whether two devices differ in nothing but their names.
func same(a, b *offer) bool {
	x, y := a.of.DeepCopy(), b.of.DeepCopy()
	x.Name, y.Name = "", ""
	return a.like(b) && a.held == b.held && slices.Equal(a.skips, b.skips) && maps.Equal(a.left, b.left) && a.pool == b.pool && reflect.DeepEqual(x, y)
}

// unspent is what the allocated devices of a pool leave of its counters. "When a device is
// allocated, the portion of counters it uses will no longer be available for use by other
// devices" (resource/v1/types.go:275@v0.37.1), from wherever the device can be used.
func (d *devices) unspent(p *pool) spent {
	free := spent(maps.Clone(p.counters))
	for _, s := range p.slices {
		for i := range s.Spec.Devices {
			id := device{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name}
			if !d.taken[id] && d.shares[id] == nil {
				continue
			}
			for c, takes := range consumes(&s.Spec.Devices[i]) {
				free[c] -= takes
			}
		}
	}
	return free
}

func (s *search) exhausted() bool { return s.steps > maxSteps }

// complete tells whether all requests can be met.
func (s *search) complete() bool {
	for _, ways := range s.wanted {
		if !slices.ContainsFunc(ways, func(w wish) bool { return s.repeats || s.count(&w) >= w.count }) {
			return false
		}
	}
	return s.request(0)
}

// count is how many devices could be had for a wish, if nothing else were wished for.
func (s *search) count(w *wish) (count int) {
	for i := range s.offered {
		if undo := s.take(w, i); undo != nil {
			undo()
			count++
		}
	}
	return count
}

func (s *search) request(at int) bool {
	if at == len(s.wanted) {
		return s.found == nil || s.found()
	}
	for i := range s.wanted[at] {
		if s.place(at, &s.wanted[at][i], 0, 0) {
			return true
		}
	}
	return false
}

// place finds the devices of one request that are left, in their order, and then those
// of the next.
func (s *search) place(at int, w *wish, placed, from int) bool {
	if placed == w.count {
		return s.request(at + 1)
	}
	for i := from; i < len(s.offered); i++ {
		if s.steps++; s.exhausted() {
			return false
		}
		if anyBetween(from, i, func(j int) bool { return s.alike[j] == s.alike[i] && s.usedAlike(i, j) }) {
			continue
		}
		undo := s.take(w, i)
		if undo == nil {
			continue
		}
		next := i + 1
		if s.repeats && s.offered[i].shared {
			next = i
		}
		if s.place(at, w, placed+1, next) {
			return true
		}
		undo()
	}
	return false
}

// usedAlike tells whether the same requests have got two devices by now.
func (s *search) usedAlike(i, j int) bool {
	return slices.Equal(s.holders[i], s.holders[j]) && maps.Equal(s.offered[i].left, s.offered[j].left)
}

// take gives a device to a wish, and returns what takes it back; nil if it cannot be had.
func (s *search) take(w *wish, i int) (undo func()) {
	o := &s.offered[i]
	if !o.serves(w) || !s.shareable(w, i) {
		return nil
	}
	takes, enough := s.needs(w, o)
	if !enough || !s.satisfies(w, i) {
		return nil
	}
	pays := !w.admin || s.AdminPays
	counters := map[counter]amount(nil)
	if pays && (!o.shared || !o.held) {
		counters = consumes(o.of)
	}
	free, held := s.free[o.pool], o.held
	for c, takes := range counters {
		if takes > free[c] {
			return nil
		}
	}
	for c, takes := range counters {
		free[c] -= takes
	}
	if o.shared && pays {
		for name, much := range takes {
			o.left[name] -= much
		}
	}
	o.held = o.held || pays
	s.holders[i] = append(s.holders[i], w)
	s.chosen[w.claim] = append(s.chosen[w.claim], choice{w, i, takes})
	return func() {
		for c, takes := range counters {
			free[c] += takes
		}
		if o.shared && pays {
			for name, much := range takes {
				o.left[name] += much
			}
		}
		o.held = held
		s.holders[i] = s.holders[i][:len(s.holders[i])-1]
		s.chosen[w.claim] = s.chosen[w.claim][:len(s.chosen[w.claim])-1]
	}
}

// shareable tells whether those that have got a device leave it to a wish. If a device may
// be shared, it can be allocated "to multiple independent ResourceClaims or to multiple
// requests within a ResourceClaim" (docs:
// concepts/resource-management/dynamic-resource-allocation/dra-features, "Consumable capacity").
func (s *search) shareable(w *wish, i int) bool {
	return s.offered[i].shared || !slices.ContainsFunc(s.holders[i], func(by *wish) bool {
		return by.claim == w.claim || !by.admin && !w.admin ||
			by.admin && !w.admin && s.Withholds(by.claim, w.claim) || w.admin && !by.admin && s.Withholds(w.claim, by.claim)
	})
}

// needs is what a wish consumes of the capacities of a device, and whether so much is
// left. A device that is not shared has to have what is requested. Administration does
// not consume: "the scheduler bypasses standard allocation checks" (KEP-5018).
func (s *search) needs(w *wish, o *offer) (takes map[string]amount, enough bool) {
	has, requested := s.capacities(o.of, o.driver), map[string]*resource.Quantity{}
	if w.capacity != nil {
		for name, q := range w.capacity.Requests {
			full := s.name(name, o.driver)
			if has[full] == nil {
				return nil, false
			}
			requested[full] = &q
		}
	}
	takes = map[string]amount{}
	for name, c := range has {
		left := milli(&c.Value)
		if !w.admin && (o.shared || s.SharesAreFree) || w.admin && s.AdminPays {
			left = o.left[name]
		}
		much, admitted := consumed(c, requested[name])
		if !admitted || much > left {
			return nil, false
		}
		takes[name] = much
	}
	return takes, true
}

// satisfies tells whether a device meets the constraints of a claim beside those that the
// claim has got. All devices of the requests that a constraint names have "this
// attribute", and "its type and value are the same across those devices", or unique
// (resource/v1/types.go:1878@v0.37.1, MatchAttribute and DistinctAttribute).
func (s *search) satisfies(w *wish, i int) bool {
	for n := range s.constraints[w.claim] {
		c := &s.constraints[w.claim][n]
		name, alike := c.MatchAttribute, true
		if name == nil {
			name, alike = c.DistinctAttribute, false
		}
		if name == nil || !binds(c, w) {
			continue
		}
		value := attribute(&s.offered[i], string(*name))
		if value == nil {
			return false
		}
		for _, other := range s.chosen[w.claim] {
			if binds(c, other.w) && reflect.DeepEqual(value, attribute(&s.offered[other.at], string(*name))) != alike {
				return false
			}
		}
	}
	return true
}

// binds tells whether a constraint is about a request. "If just the main request is given,
// the constraint applies to all subrequests" (resource/v1/types.go:1866@v0.37.1).
func binds(c *resourcev1.DeviceConstraint, w *wish) bool {
	return len(c.Requests) == 0 || slices.Contains(c.Requests, w.request) || w.entry != "" && slices.Contains(c.Requests, w.request+"/"+w.entry)
}

// attribute is an attribute of a device by its name with the domain, nil if it has none.
func attribute(o *offer, name string) *resourcev1.DeviceAttribute {
	if a, ok := o.of.Attributes[resourcev1.QualifiedName(name)]; ok {
		return &a
	}
	if short, own := strings.CutPrefix(name, o.driver+"/"); own {
		if a, ok := o.of.Attributes[resourcev1.QualifiedName(short)]; ok {
			return &a
		}
	}
	return nil
}
