package device

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// poolID names a pool of the cluster.
type poolID struct{ driver, name string }

// pool holds the newest slices of a pool. "A consumer must only use ResourceSlices with
// the highest generation number and ignore all others" (resource/v1/types.go:85@v0.37.1).
type pool struct {
	slices []*resourcev1.ResourceSlice
	// counters are what the counter sets of the pool have (KEP-4815).
	counters map[counter]amount
	// invalid says why nobody can tell what the pool has, "" if it is valid.
	invalid string
}

// counter names a counter of a pool.
type counter struct{ set, name string }

// add adds a slice, or drops those that are older.
func (p *pool) add(s *resourcev1.ResourceSlice) {
	if len(p.slices) > 0 {
		switch newest := p.slices[0].Spec.Pool.Generation; {
		case s.Spec.Pool.Generation < newest:
			return
		case s.Spec.Pool.Generation > newest:
			p.slices = nil
		}
	}
	p.slices = append(p.slices, s)
}

// complete tells whether all slices are there. The allocator will "only consider devices
// from complete resource pools" (KEP-4815, "Validation"; resource/v1/types.go:90@v0.37.1).
func (p *pool) complete() bool {
	return int64(len(p.slices)) == p.slices[0].Spec.Pool.ResourceSliceCount
}

// finish gathers the counters and checks what the API server cannot, as it sees one slice
// at a time: names are unique, and what is consumed is there (KEP-4815, "Validation").
func (p *pool) finish() {
	p.counters = map[counter]amount{}
	sets, named := map[string]bool{}, map[string]bool{}
	fail := func(why string) { p.invalid = why }
	for _, s := range p.slices {
		if s.Spec.Pool.ResourceSliceCount != p.slices[0].Spec.Pool.ResourceSliceCount {
			fail("slices of a pool that disagree about their number")
		}
		for i := range s.Spec.SharedCounters {
			set := &s.Spec.SharedCounters[i]
			if sets[set.Name] {
				fail("two counter sets of one name")
			}
			sets[set.Name] = true
			for name := range set.Counters {
				value := set.Counters[name].Value
				p.counters[counter{set.Name, name}] = milli(&value)
			}
		}
	}
	if int64(len(p.slices)) > p.slices[0].Spec.Pool.ResourceSliceCount {
		fail("more slices than the pool has")
	}
	for _, s := range p.slices {
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if named[d.Name] {
				fail("two devices of one name")
			}
			named[d.Name] = true
			for c := range consumes(d) {
				if _, there := p.counters[c]; !there && p.complete() {
					fail("a counter that is missing")
				}
			}
		}
	}
}

// consumes is what a device takes of the counters of its pool.
func consumes(d *resourcev1.Device) map[counter]amount {
	all := map[counter]amount{}
	for i := range d.ConsumesCounters {
		of := &d.ConsumesCounters[i]
		for name := range of.Counters {
			value := of.Counters[name].Value
			all[counter{of.CounterSet, name}] = milli(&value)
		}
	}
	return all
}

// offers tells whether a device of a slice can be used from a node. Where each device
// says so, it is that device which does: "every device defined the ResourceSlice must
// specify this individually" (resource/v1/types.go:185@v0.37.1, PerDeviceNodeSelection; KEP-4815).
func offers(s *resourcev1.ResourceSlice, d *resourcev1.Device, n *v1.Node) bool {
	if s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection {
		return isFor(n, d.NodeName, d.AllNodes, d.NodeSelector)
	}
	return isFor(n, s.Spec.NodeName, s.Spec.AllNodes, s.Spec.NodeSelector)
}

func isFor(n *v1.Node, name *string, all *bool, selector *v1.NodeSelector) bool {
	switch {
	case name != nil && *name != "":
		return *name == n.Name
	case all != nil && *all:
		return true
	default:
		return selector != nil && selects(selector, n)
	}
}
