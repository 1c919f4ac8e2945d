package generators

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Bound is a finite space of clusters. Each has at least one node; the nodes run
// out of one resource, of which each lacks 1 … Lack units for the preemptor as
// it stands, so that the preemptor fits nowhere. The possible victims differ in
// size, priority, start time, in the budgets that select them and, if so
// allowed, in whether they are terminating. All priorities of possible victims
// but the lowest there is, which counts nothing in a sum, are evenly spaced, so
// that sums of them can tie. Every budget selects at least one possible victim.
type Bound struct {
	Nodes   int  `json:"nodes"`   // at most, up to 3
	Pods    int  `json:"pods"`    // at most, in the whole cluster, up to 6
	Ranks   int  `json:"ranks"`   // priorities below the preemptor's, up to 3
	Sizes   int  `json:"sizes"`   // pods request 1 … Sizes units
	Lack    int  `json:"lack"`    // how many units a node lacks at most
	Starts  int  `json:"starts"`  // start times, 1 to 4
	NoStart bool `json:"noStart"` // a pod may also have no start time
	Budgets int  `json:"budgets"` // at most, up to 2
	Allowed int  `json:"allowed"` // disruptions that a budget allows, at most

	Lowest      bool `json:"lowest"`      // the first of Ranks is the lowest priority there is
	Staying     bool `json:"staying"`     // there may be bound pods of the preemptor's own priority
	Terminating bool `json:"terminating"` // possible victims may be terminating already
	Nominated   bool `json:"nominated"`   // pods of lower or of the preemptor's priority may be nominated to a node
}

func (b Bound) String() string {
	text := fmt.Sprintf("≤ %d nodes, ≤ %d pods, %d priorities, sizes 1–%d, lack 1–%d, %d start times",
		b.Nodes, b.Pods, b.Ranks, b.Sizes, b.Lack, b.Starts)
	if b.NoStart {
		text += " or none"
	}
	if b.Lowest {
		text += ", one priority the lowest there is"
	}
	if b.Budgets > 0 {
		text += fmt.Sprintf(", ≤ %d budgets allowing 0–%d", b.Budgets, b.Allowed)
	}
	for _, extra := range []struct {
		on   bool
		name string
	}{{b.Staying, "staying"}, {b.Terminating, "terminating"}, {b.Nominated, "nominated"}} {
		if extra.on {
			text += ", " + extra.name + " pods"
		}
	}
	return text
}

// The limits of a Bound.
const (
	maxNodes   = 3
	maxSpace   = 6 // pods
	maxRanks   = 3 // with more, relabelling priorities changes which sums tie
	maxStarts  = 4
	maxBudgets = 2
)

func (b Bound) check() {
	in := func(v, low, high int) bool { return low <= v && v <= high }
	if !in(b.Nodes, 1, maxNodes) || !in(b.Pods, 0, maxSpace) || !in(b.Ranks, 1, maxRanks) || !in(b.Sizes, 1, 4) || !in(b.Lack, 1, 4) ||
		!in(b.Starts, 1, maxStarts) || !in(b.Budgets, 0, maxBudgets) || !in(b.Allowed, 0, maxSpace) {
		panic(fmt.Sprintf("generators: bound out of range: %v", b))
	}
}

// ordinaryRanks is how many of Ranks are not the lowest priority there is.
func (b Bound) ordinaryRanks() int { return b.Ranks - toInt(b.Lowest) }

// splitRanks takes the lowest priority there is out of a set of ranks.
func (b Bound) splitRanks(ranks uint8) (lowest bool, ordinary uint) {
	if !b.Lowest {
		return false, uint(ranks)
	}
	return ranks&1 != 0, uint(ranks >> 1)
}

// isPrefix tells whether the set bits are the lowest ones.
func isPrefix(set uint) bool { return set&(set+1) == 0 }

// MaxBound is the largest number that Bounds knows.
const MaxBound = 4

// Bounds are the bounds of a number from 1 to MaxBound, each of which adds to
// those before it: 1 takes seconds to check, 2 half a minute, 3 some minutes and
// 4 up to half an hour.
func Bounds(number int) []Bound {
	steps := [MaxBound][]Bound{
		{
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Lowest: true},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, NoStart: true},
			{Nodes: 2, Pods: 2, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 1},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Staying: true, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 3, Pods: 4, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, NoStart: true},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 3, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 2},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Staying: true, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 3, Pods: 5, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 5, Ranks: 2, Sizes: 3, Lack: 3, Starts: 1},
			{Nodes: 2, Pods: 4, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1, Lowest: true, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 2},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 1, Allowed: 1, Staying: true, Terminating: true, Nominated: true},
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 1},
			{Nodes: 1, Pods: 5, Ranks: 2, Sizes: 3, Lack: 4, Starts: 1, Budgets: 1, Allowed: 2},
		},
	}
	return slices.Concat(steps[:number]...)
}

// A kind is what one pod of a small cluster can be.
type kind struct {
	role role
	pod  pod // but for its size, which is:
	size int
	// rank numbers the priorities of possible victims from 0.
	rank int
	// budgets is the set of budgets that select it.
	budgets uint8
	// order numbers the kinds of which the mutual order in a node cannot matter:
	// pods of different order may change places.
	order int
}

type role int

const (
	victim         role = iota // bound, of lower priority than the preemptor
	staying                    // bound, of the preemptor's priority
	nominatedLower             // waiting, nominated to the node
	nominatedEqual
)

// A nodeKind is what one node of a small cluster can be, up to the order of pods
// that cannot matter. The numbers are its part in what complete needs to know.
type nodeKind struct {
	pods     int
	kinds    [maxSpace]uint8 // of the pods, by kind.order
	labelled uint64
	ranks    uint8            // used by possible victims
	starts   uint16           // used by them, maxStarts bits for each rank
	budgets  uint8            // that select one of them
	overlap  bool             // a pod is selected by two
	selects  [maxBudgets]int8 // how many each selects
	extent   extent
}

// extent is what a bound limits and the rest of nodeKind does not say.
type extent struct {
	size, lack                               int
	noStart, staying, terminating, nominated bool
}

func (n *nodeKind) startsOf(rank int) uint {
	return uint(n.starts>>(maxStarts*rank)) & (1<<maxStarts - 1)
}

// space is a bound with all its kinds of pods and of nodes.
type space struct {
	Bound
	kinds []kind
	nodes []nodeKind // by number of pods
	// first[n] is the index of the first of nodes with n pods.
	first [maxSpace + 2]int32
	// swapped gives for each of nodes the one with the budgets exchanged.
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
	if b.Budgets == maxBudgets {
		s.findSwapped()
	}
	return s
}

// podKinds lists the kinds by order.
func podKinds(b Bound) []kind {
	var kinds []kind
	order := 0
	firstStart := 0
	if b.NoStart {
		firstStart = -1
	}
	for rank := range b.Ranks {
		for start := firstStart; start < b.Starts; start++ {
			for size := 1; size <= b.Sizes; size++ {
				for budgets := range uint8(1) << b.Budgets {
					for _, e := range []end{alive, terminating}[:1+toInt(b.Terminating)] {
						k := kind{role: victim, size: size, rank: rank, budgets: budgets, order: order}
						// No labels, app=a, tier=x, and both.
						k.pod = pod{priority: int32(rank + 1), start: start, labels: []int{0, 1, 4, 3}[budgets], end: e}
						if b.Lowest && rank == 0 {
							k.pod.priority = math.MinInt32
						}
						kinds = append(kinds, k)
					}
				}
			}
			order++
		}
	}
	add := func(allowed bool, role role, priority, sizes int) {
		for size := 1; size <= sizes && allowed; size++ {
			kinds = append(kinds, kind{role: role, size: size, order: order, pod: pod{priority: int32(priority), start: -toInt(role != staying)}})
			order++
		}
	}
	add(b.Staying, staying, b.Ranks+1, b.Sizes)
	// The size of a pod that yields to the preemptor cannot matter.
	add(b.Nominated, nominatedLower, 1, 1)
	add(b.Nominated, nominatedEqual, b.Ranks+1, b.Sizes)
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
	n.labelled = 1
	used, alike := 0, uint64(0)
	for i, index := range n.kinds[:n.pods] {
		k := &s.kinds[index]
		// The number of orders of all pods, by the multinomial coefficient:
		// divided as it goes, so that it stays small.
		if i > 0 && s.kinds[n.kinds[i-1]].order == k.order {
			alike++
		} else {
			alike = 1
		}
		n.labelled = n.labelled * uint64(i+1) / alike
		n.extent.size = max(n.extent.size, k.size)
		switch k.role {
		case victim:
			used += k.size
			n.ranks |= 1 << k.rank
			if k.pod.start >= 0 {
				n.starts |= 1 << (maxStarts*k.rank + k.pod.start)
			} else {
				n.extent.noStart = true
			}
			n.budgets |= k.budgets
			n.overlap = n.overlap || k.budgets == 3
			n.selects[0] += int8(k.budgets & 1)
			n.selects[1] += int8(k.budgets >> 1)
			n.extent.terminating = n.extent.terminating || k.pod.end == terminating
		case staying:
			used += k.size
			n.extent.staying = true
		default:
			n.extent.nominated = true
		}
	}
	orders := n.labelled
	for lack := 1; lack <= min(s.Lack, used+1); lack++ {
		n.extent.lack, n.labelled = lack, orders
		if lack == used+1 {
			n.labelled *= uint64(s.Lack - used)
		}
		s.nodes = append(s.nodes, n)
	}
}

// together sums up the nodes of a cluster. Its labelled counts the ways to
// number the nodes, too.
func (s *space) together(nodes [maxNodes]int32) nodeKind {
	all := nodeKind{labelled: 1}
	alike := uint64(0)
	for i, index := range nodes {
		if index < 0 {
			break
		}
		n := &s.nodes[index]
		if i > 0 && nodes[i-1] == index {
			alike++
		} else {
			alike = 1
		}
		all.labelled = all.labelled * n.labelled * uint64(i+1) / alike
		all.pods += n.pods
		all.ranks |= n.ranks
		all.starts |= n.starts
		all.budgets |= n.budgets
		all.overlap = all.overlap || n.overlap
		for b := range all.selects {
			all.selects[b] = max(all.selects[b], n.selects[b])
		}
		e := &all.extent
		e.size, e.lack = max(e.size, n.extent.size), max(e.lack, n.extent.lack)
		e.noStart = e.noStart || n.extent.noStart
		e.staying = e.staying || n.extent.staying
		e.terminating = e.terminating || n.extent.terminating
		e.nominated = e.nominated || n.extent.nominated
	}
	return all
}

// findSwapped finds for each node the one with the two budgets exchanged. The
// nodes are in the order of compareNodes.
func (s *space) findSwapped() {
	s.swapped = make([]int32, len(s.nodes))
	other := make([]uint8, len(s.kinds))
	for i, k := range s.kinds {
		wanted := k
		wanted.budgets = k.budgets>>1 | k.budgets&1<<1
		other[i] = uint8(slices.IndexFunc(s.kinds, func(o kind) bool {
			return o.role == wanted.role && o.size == wanted.size && o.order == wanted.order && o.budgets == wanted.budgets && o.pod.end == wanted.pod.end
		}))
	}
	for i := range s.nodes {
		n := s.nodes[i]
		for p := range n.pods {
			n.kinds[p] = other[n.kinds[p]]
		}
		at, _ := slices.BinarySearchFunc(s.nodes, &n, func(m nodeKind, n *nodeKind) int { return compareNodes(&m, n) })
		s.swapped[i] = int32(at)
	}
}

func compareNodes(a, b *nodeKind) int {
	return cmp.Or(cmp.Compare(a.pods, b.pods), slices.Compare(a.kinds[:], b.kinds[:]), cmp.Compare(a.extent.lack, b.extent.lack))
}

// swapBudgets is the cluster's nodes with the two budgets exchanged.
func (s *space) swapBudgets(nodes [maxNodes]int32) [maxNodes]int32 {
	count := 0
	for count < maxNodes && nodes[count] >= 0 {
		nodes[count] = s.swapped[nodes[count]]
		count++
	}
	slices.Sort(nodes[:count])
	return nodes
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
