package minimize

import (
	"iter"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

// step is one simplification. to gives the simpler cluster, which shares what it
// does not change, or nil if there is none.
type step struct {
	what string
	to   func(c *model.Cluster) *model.Cluster
}

// take takes a step from c, and gives nil if it changes nothing, or makes the
// cluster one that the API server refuses or that crowds another node.
func (s step) take(c *model.Cluster) *model.Cluster {
	next := s.to(c)
	if next == nil || apiserver.AdmitFrom(c, next) != nil || same(c, next) {
		return nil
	}
	if crowds := crowded(next); crowds > 0 && crowds > crowded(c) {
		return nil
	}
	return next
}

// family is all steps of a kind that a cluster offers.
type family func(c *model.Cluster) []step

// families are in the order in which they pay off.
var families = []family{removals, podGroups, merges, aspects, sharedFields, singleFields, fewer("priorities", priorityOf), quantities, times,
	fewer("disruptions allowed", allowanceOf), fewer("volumes to attach", limitsOf), names}

// place is where a round is.
type place struct {
	family, index int
	what          string // of the step
}

// following are the steps on c that come next as long as none is taken.
func following(c *model.Cluster, families []family, at place) iter.Seq2[place, func() *model.Cluster] {
	return func(yield func(place, func() *model.Cluster) bool) {
		for index := at.index; at.family < len(families); index = 0 {
			steps := families[at.family](c)
			for ; index < len(steps); index++ {
				s := steps[index]
				if !yield(place{at.family, index, s.what}, func() *model.Cluster { return s.take(c) }) {
					return
				}
			}
			at.family++
		}
	}
}

// round tries each possible step once, takes those that keep the fingerprint,
// notes why the others do not, and tells whether one was taken.
func (m *minimiser) round(families []family) (changed bool) {
	var at place
	for more := true; more && !m.stopped(); {
		more = false
		inOrder(m, following(m.c, families, at), m.ask, func(p place, next *model.Cluster, a answer) bool {
			if m.isLessPlain(&a); a.becomes != kept {
				m.result.Needs = append(m.result.Needs, Need{p.what, a.becomes, next})
				return true
			}
			m.c, m.result.Finding = next, a.finding
			at = p // those before it were tried already
			more, changed = true, true
			return false
		})
	}
	return changed
}
