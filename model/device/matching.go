package device

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// matching looks for a device for each one wished for. The requests of a claim are "for
// distinct devices" (resource/v1/types.go:1230@v0.37.1). Of different claims, two want
// distinct devices unless one of them is for administration.
type matching struct {
	offered []offer
	// withholds tells whether an ordinary request cannot get what a request for
	// administration gets. They are told by the places of their claims.
	withholds func(admin, other int) bool
	// first are the wishes for administration that withhold a device from another wish,
	// one for each device; rest are all others.
	first, rest []*wish
	held        map[int][]bool // by claim and device: what the first wishes get
}

func newMatching(offered []offer, wishes []wish, withholds func(admin, other int) bool) *matching {
	m := &matching{offered: offered, withholds: withholds, held: map[int][]bool{}}
	for i := range wishes {
		w := &wishes[i]
		if !w.admin || !slices.ContainsFunc(wishes, func(other wish) bool { return !other.admin && withholds(w.claim, other.claim) }) {
			m.rest = append(m.rest, w)
			continue
		}
		m.held[w.claim] = make([]bool, len(offered))
		for range w.count {
			m.first = append(m.first, w)
		}
	}
	return m
}

// complete tells whether each device wished for can be had.
func (m *matching) complete() bool { return m.from(0, 0) }

// from tries all devices, beginning with one of them, for a wish of the first, and
// goes on with the next. Devices that come to the same are tried once.
func (m *matching) from(at, device int) bool {
	if at == len(m.first) {
		return m.others()
	}
	w := m.first[at]
	held := m.held[w.claim]
	for i := device; i < len(m.offered); i++ {
		same := func(j int) bool { return m.offered[j].like(&m.offered[i]) && m.heldAlike(i, j) }
		if held[i] || !m.offered[i].serves(w) || anyBetween(device, i, same) {
			continue
		}
		next := 0
		if at+1 < len(m.first) && m.first[at+1] == w {
			next = i + 1 // which of its devices comes first is of no importance
		}
		held[i] = true
		if m.from(at+1, next) {
			return true
		}
		held[i] = false
	}
	return false
}

func anyBetween(from, to int, is func(i int) bool) bool {
	for i := from; i < to; i++ {
		if is(i) {
			return true
		}
	}
	return false
}

func (m *matching) heldAlike(i, j int) bool {
	for _, held := range m.held {
		if held[i] != held[j] {
			return false
		}
	}
	return true
}

// like tells whether two devices serve the same wishes.
func (o *offer) like(other *offer) bool {
	return o.driver == other.driver && o.taken == other.taken && slices.EqualFunc(o.taints, other.taints, func(a, b resourcev1.DeviceTaint) bool {
		return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
	})
}

// withheld tells whether one of the first wishes keeps a device from another wish.
func (m *matching) withheld(i int, w *wish) bool {
	for claim, held := range m.held {
		if held[i] && (w.admin && claim == w.claim || !w.admin && m.withholds(claim, w.claim)) {
			return true
		}
	}
	return false
}

// others tells whether what the first wishes leave is enough for all others: each of them
// can be had as long as those before can be had otherwise. What is for administration is
// another device for each claim only.
func (m *matching) others() bool {
	holders := map[int][]*wish{} // by device; one slice for each claim of administration, and one for all else
	var place func(w *wish, holder []*wish, tried []bool) bool
	place = func(w *wish, holder []*wish, tried []bool) bool {
		for i := range m.offered {
			if tried[i] || !m.offered[i].serves(w) || m.withheld(i, w) {
				continue
			}
			tried[i] = true
			if holder[i] == nil || place(holder[i], holder, tried) {
				holder[i] = w
				return true
			}
		}
		return false
	}
	for _, w := range m.rest {
		group := 0
		if w.admin {
			group = w.claim
		}
		if holders[group] == nil {
			holders[group] = make([]*wish, len(m.offered))
		}
		for range w.count {
			if !place(w, holders[group], make([]bool, len(m.offered))) {
				return false
			}
		}
	}
	return true
}
