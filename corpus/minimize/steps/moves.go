package steps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// maxFar is up to how many steps a step is moved past several others at once: the number of such
// moves grows with the square.
const maxFar = 16

// moveSteps puts steps into an order that is the same for timelines that are alike, as far as what
// was found stays. Steps about one object or place keep their order. Each move that is taken leaves
// fewer pairs of steps out of order, so it comes to an end.
func (m *minimiser) moveSteps() {
	for i := 1; i < len(m.best.Steps); i++ {
		first := i - 1
		if len(m.best.Steps) <= maxFar {
			first = 0
		}
		for j := first; j < i; j++ {
			if m.move(i, j) {
				i = max(0, j-1) // what is before it may be out of order now
				break
			}
			if j < i-1 && m.move(j, i) {
				i = max(0, j-1)
				break
			}
		}
	}
}

// move tries the timeline in which a step is at another place, if that is nearer to the order.
func (m *minimiser) move(from, to int) bool {
	t := m.best.Clone()
	s := t.Steps[from]
	t.Steps = slices.Insert(slices.Delete(t.Steps, from, from+1), to, s)
	return misplaced(t.Steps) < misplaced(m.best.Steps) && dependentAlike(t.Steps, m.best.Steps) && m.try(t)
}

// misplaced counts the pairs of steps that are out of order.
func misplaced(steps []timeline.Step) (pairs int) {
	for i := range steps {
		for j := range i {
			if before(&steps[i], &steps[j]) < 0 {
				pairs++
			}
		}
	}
	return pairs
}

// before compares two steps: what is prepared comes first, then what people do, what is let go, and
// what only takes time; of one kind, by name.
func before(a, b *timeline.Step) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(about(a), about(b)))
}

func rank(s *timeline.Step) int {
	switch {
	case s.Fail != nil:
		return 0
	case s.Replace != nil:
		return 1
	case s.Hold != nil:
		return 2
	case s.Create != nil:
		return 3
	case s.Change != "":
		return 4
	case s.Delete != "":
		return 5
	case s.End != "":
		return 6
	case s.Relist != "":
		return 7
	case s.Takeover:
		return 8
	case s.Next != nil:
		return 9
	case s.Release != nil:
		return 10
	case s.Wait > 0:
		return 11
	}
	return 12
}

// dependentAlike tells whether, of two orders of the same steps, those about one object or place
// come in the same order.
func dependentAlike(a, b []timeline.Step) bool {
	of := func(steps []timeline.Step) map[string][]int {
		all := map[string][]int{}
		for i := range steps {
			if what := about(&steps[i]); what != "" {
				all[what] = append(all[what], rank(&steps[i]))
			}
		}
		return all
	}
	inB := of(b)
	for what, ranks := range of(a) {
		if !slices.Equal(ranks, inB[what]) {
			return false
		}
	}
	return true
}
