package bounded

import (
	"cmp"
	"math"
	"slices"
)

// A kind is what one pod of a small cluster can be.
type kind struct {
	facts
	role role
	size int
	// priority, and rank, which numbers those of possible victims from 0.
	priority int32
	rank     int
	start    int // -1 is missing
	// order numbers the kinds of which the mutual order in a node cannot matter:
	// pods of different order may change places.
	order int
}

type role int

const (
	victim         role = iota // bound, of lower priority than the preemptor
	stays                      // bound, of the preemptor's priority
	nominatedLower             // waiting, nominated to the node
	nominatedEqual
)

// bound tells whether the pod is on a node.
func (r role) bound() bool { return r <= stays }

// Traits of a cluster, which a bound allows or does not.
const (
	noStart = 1 << iota
	lowest
	staying
	terminating
	nominated
	shared // a pod is selected by two budgets
	roomy  // a member of the preemptor fits on a node as it stands
)

// facts are what there is to know of the possible victims, and of all pods, of a
// kind, of a node or of a cluster.
type facts struct {
	ranks   uint8  // ordinary ones that possible victims have
	starts  uint16 // that they have, maxStarts bits for each rank
	budgets uint8  // that select one of them
	groups  uint8  // that bound pods belong to; of a kind at most one
	traits  int
}

func (f *facts) add(more facts) {
	f.ranks |= more.ranks
	f.starts |= more.starts
	f.budgets |= more.budgets
	f.groups |= more.groups
	f.traits |= more.traits
}

func (f *facts) startsOf(rank int) uint {
	return uint(f.starts>>(maxStarts*rank)) & (1<<maxStarts - 1)
}

// A nodeKind is what one node of a small cluster can be, up to the order of pods
// that cannot matter; or it sums up all nodes of a cluster.
type nodeKind struct {
	facts
	pods       int
	kinds      [maxPods]uint8 // of the pods, by kind.order
	labelled   uint64
	size, lack int              // the largest
	full       int              // nodes on which no member of the preemptor fits as it stands
	selects    [maxBudgets]int8 // how many pods each budget selects, at most
}

// space is a bound with all its kinds of pods and of nodes.
type space struct {
	Bound
	kinds []kind
	nodes []nodeKind // by number of pods
	// first[n] is the index of the first of nodes with n pods.
	first [maxPods + 2]int32
	// swapped gives for each of nodes the one with the budgets exchanged, or the groups.
	swapped []int32
}

func newSpace(b Bound) *space {
	b.check()
	s := &space{Bound: b, kinds: podKinds(b)}
	for pods := range b.Pods + 1 {
		s.first[pods] = int32(len(s.nodes))
		s.addNodes(nodeKind{pods: pods}, 0)
		s.first[pods+1] = int32(len(s.nodes))
	}
	if b.Budgets == maxBudgets || b.Groups == maxGroups {
		s.findSwapped()
	}
	return s
}

// inGroups are the kinds that are as k in no group, or in one of them.
func (b Bound) inGroups(k kind) []kind {
	kinds := []kind{k}
	for group := range b.Groups {
		k.groups = 1 << group
		kinds = append(kinds, k)
	}
	return kinds
}

// podKinds lists the kinds by order.
func podKinds(b Bound) []kind {
	var kinds []kind
	order := 0
	for rank := range b.Ranks {
		for start := -toInt(b.NoStart); start < b.Starts; start++ {
			same := kind{role: victim, rank: rank, priority: int32(rank + 1), start: start, order: order}
			if b.Lowest && rank == 0 {
				same.priority, same.traits = math.MinInt32, lowest
			} else {
				same.ranks = 1 << (rank - toInt(b.Lowest))
			}
			if start >= 0 {
				same.starts = 1 << (maxStarts*rank + start)
			} else {
				same.traits |= noStart
			}
			for size := 1; size <= b.Sizes; size++ {
				for budgets := range uint8(1) << b.Budgets {
					for _, trait := range []int{0, terminating}[:1+toInt(b.Terminating)] {
						k := same
						k.size, k.budgets = size, budgets
						k.traits |= trait | shared*toInt(budgets == 3)
						kinds = append(kinds, b.inGroups(k)...)
					}
				}
			}
			order++
		}
	}
	add := func(allowed bool, k kind, sizes int) {
		for k.size = 1; k.size <= sizes && allowed; k.size++ {
			k.order = order
			if k.role == stays {
				kinds = append(kinds, b.inGroups(k)...)
			} else {
				kinds = append(kinds, k)
			}
			order++
		}
	}
	top := int32(b.Ranks + 1)
	add(b.Staying, kind{role: stays, priority: top, facts: facts{traits: staying}}, b.Sizes)
	// The size of a pod that yields to the preemptor cannot matter.
	add(b.Nominated, kind{role: nominatedLower, priority: 1, start: -1, facts: facts{traits: nominated}}, 1)
	add(b.Nominated, kind{role: nominatedEqual, priority: top, start: -1, facts: facts{traits: nominated}}, b.Sizes)
	if b.Groups > 0 { // their priorities are not those of their pods: any order can matter
		for i := range kinds {
			kinds[i].order = 0
		}
	}
	return kinds
}

// addNodes adds the nodes whose first pods are those of n.
func (s *space) addNodes(n nodeKind, at int) {
	if at == n.pods {
		s.summarise(n)
		return
	}
	for k := range s.kinds {
		if at > 0 && s.kinds[k].order < s.kinds[n.kinds[at-1]].order {
			continue
		}
		n.kinds[at] = uint8(k)
		s.addNodes(n, at+1)
	}
}

// summarise adds the nodes with the pods of n, one for each lack that makes a
// difference.
func (s *space) summarise(n nodeKind) {
	used := 0
	orders := arrangements{total: 1}
	for i, index := range n.kinds[:n.pods] {
		k := &s.kinds[index]
		orders.add(i > 0 && s.kinds[n.kinds[i-1]].order == k.order)
		n.facts.add(k.facts)
		n.size = max(n.size, k.size)
		if k.role.bound() {
			used += k.size
		}
		for b := range n.selects {
			n.selects[b] += int8(k.budgets >> b & 1)
		}
	}
	for n.lack = toInt(s.Gang < 2); n.lack <= min(s.Lack, used+1); n.lack++ {
		n.labelled, n.full = orders.total, toInt(n.lack > 0)
		if n.lack == used+1 {
			n.labelled *= uint64(s.Lack - used)
		}
		s.nodes = append(s.nodes, n)
	}
}

// arrangements counts the orders of things of which neighbours are alike, by the
// multinomial coefficient: divided as it goes, so that it stays small.
type arrangements struct{ total, things, alike uint64 }

func (a *arrangements) add(likeTheLast bool) {
	a.things++
	if !likeTheLast {
		a.alike = 0
	}
	a.alike++
	a.total = a.total * a.things / a.alike
}

// together sums up the nodes of a cluster. Its labelled counts the ways to
// number the nodes, too.
func (s *space) together(nodes []int32) (all nodeKind) {
	all.labelled = 1
	numberings := arrangements{total: 1}
	for i, index := range nodes {
		n := &s.nodes[index]
		numberings.add(i > 0 && nodes[i-1] == index)
		all.labelled *= n.labelled
		all.facts.add(n.facts)
		all.pods += n.pods
		all.full += n.full
		all.size, all.lack = max(all.size, n.size), max(all.lack, n.lack)
		for b := range all.selects {
			all.selects[b] = max(all.selects[b], n.selects[b])
		}
	}
	all.labelled *= numberings.total
	return all
}

// findSwapped finds for each node the one with the two budgets exchanged, or the two groups. The
// nodes are in the order of compareNodes.
func (s *space) findSwapped() {
	for _, n := range s.nodes {
		for i, index := range n.kinds[:n.pods] {
			// Kinds that differ only in their budgets, or in their groups, follow one another.
			set, apart := s.kinds[index].budgets, (1+toInt(s.Terminating))*(1+s.Groups)
			if s.Groups == maxGroups {
				set, apart = s.kinds[index].groups, 1
			}
			if set == 1 || set == 2 {
				n.kinds[i] = uint8(int(index) + (3-2*int(set))*apart)
			}
		}
		at, _ := slices.BinarySearchFunc(s.nodes, n, compareNodes)
		s.swapped = append(s.swapped, int32(at))
	}
}

func compareNodes(a, b nodeKind) int {
	return cmp.Or(cmp.Compare(a.pods, b.pods), slices.Compare(a.kinds[:], b.kinds[:]), cmp.Compare(a.lack, b.lack))
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
