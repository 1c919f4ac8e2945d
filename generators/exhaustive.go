package generators

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
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

// Class is a set of clusters that differ only in what cannot matter:
//
//   - the numbering of the nodes;
//   - the order of a node's pods, but for the mutual order of equally important
//     ones (same priority and start), which upstream's choice depends on;
//   - which priorities are used, if at most two are besides the lowest there is
//     (with three, sums of priorities can tie), and which start times, for each priority by itself:
//     start times are only ever compared between pods of one priority;
//   - the order of two budgets that share no pod. Where they share one,
//     upstream's answer depends on the order;
//   - how much a budget allows beyond the pods that it selects on any one node;
//   - how much a node lacks beyond all that runs on it.
type Class struct {
	// Labelled is the number of clusters in the class.
	Labelled uint64

	space   *space
	nodes   [maxNodes]int32 // indices of space.nodes, ascending; -1 is none
	allowed [maxBudgets]int8
	budgets int8
}

// Exhaustive goes through every cluster within the bounds, each class once: the
// clusters with the fewest pods first, and of a later bound only the classes
// that are in no earlier one. It panics if a bound is out of range.
func Exhaustive(bounds ...Bound) iter.Seq[Class] {
	return func(yield func(Class) bool) {
		for i, b := range bounds {
			s := newSpace(b)
			for c := range s.classes() {
				if slices.ContainsFunc(bounds[:i], func(earlier Bound) bool { return c.within(earlier) }) {
					continue
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Count is the number of classes that Exhaustive goes through, and of the
// clusters that they stand for.
func Count(bounds ...Bound) (classes, clusters uint64) {
	for c := range Exhaustive(bounds...) {
		classes++
		clusters += c.Labelled
	}
	return classes, clusters
}

// classes takes the nodes of a cluster in ascending order, which are those with
// the fewest pods first.
func (s *space) classes() iter.Seq[Class] {
	return func(yield func(Class) bool) {
		var c Class
		var add func(at, nodes, pods int) bool
		add = func(at, nodes, pods int) bool {
			if at == nodes {
				return s.complete(c, yield)
			}
			left := nodes - at
			for count := 0; count*left <= pods; count++ {
				if left == 1 && count < pods {
					continue
				}
				from := s.first[count]
				if at > 0 {
					from = max(from, c.nodes[at-1])
				}
				for i := from; i < s.first[count+1]; i++ {
					c.nodes[at] = i
					if !add(at+1, nodes, pods-count) {
						return false
					}
				}
			}
			return true
		}
		for pods := range s.Pods + 1 {
			for nodes := 1; nodes <= s.Nodes; nodes++ {
				c = Class{space: s, nodes: [maxNodes]int32{-1, -1, -1}}
				if !add(0, nodes, pods) {
					return
				}
			}
		}
	}
}

// complete yields the classes with the nodes of c, one for each distinct way of
// setting the budgets, unless other nodes represent them.
func (s *space) complete(c Class, yield func(Class) bool) bool {
	all := s.together(c.nodes)
	_, ordinary := s.splitRanks(all.ranks)
	if !isPrefix(ordinary) || !isPrefix(uint(all.budgets)) {
		return true
	}
	labelled := all.labelled * binomial(s.ordinaryRanks(), bits.OnesCount(ordinary))
	for rank := range s.Ranks {
		used := all.startsOf(rank)
		if !isPrefix(used) {
			return true
		}
		labelled *= binomial(s.Starts, bits.OnesCount(used))
	}
	c.budgets = int8(bits.OnesCount8(all.budgets))
	swapped, swaps := c, c.budgets == 2 && !all.overlap
	if swaps {
		swapped.nodes = s.swapBudgets(c.nodes)
		if slices.Compare(swapped.nodes[:], c.nodes[:]) < 0 {
			return true
		}
	}
	for first := range allowances(s.Allowed, all.selects[0], c.budgets > 0) {
		for second := range allowances(s.Allowed, all.selects[1], c.budgets > 1) {
			c.allowed = [maxBudgets]int8{int8(first), int8(second)}
			c.Labelled = labelled
			for b := range int(c.budgets) {
				if c.allowed[b] == all.selects[b] {
					c.Labelled *= uint64(s.Allowed - int(c.allowed[b]) + 1)
				}
			}
			if swaps {
				switch same := swapped.nodes == c.nodes; {
				case same && second < first:
					continue
				case !same || second != first:
					c.Labelled *= 2
				}
			}
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// allowances is the number of allowances to try for a budget that selects at
// most so many pods of a node: to allow more of them changes nothing.
func allowances(most int, selects int8, used bool) int {
	if !used {
		return 1
	}
	return min(most, int(selects)) + 1
}

// within tells whether a bound holds the class, too.
func (c *Class) within(b Bound) bool {
	all := c.space.together(c.nodes)
	nodes := 0
	for nodes < maxNodes && c.nodes[nodes] >= 0 {
		nodes++
	}
	for rank := range c.space.Ranks {
		if bits.OnesCount(all.startsOf(rank)) > b.Starts {
			return false
		}
	}
	lowest, ordinary := c.space.splitRanks(all.ranks)
	e := all.extent
	return nodes <= b.Nodes && all.pods <= b.Pods && (!lowest || b.Lowest) && bits.OnesCount(ordinary) <= b.ordinaryRanks() && e.size <= b.Sizes && e.lack <= b.Lack &&
		int(c.budgets) <= b.Budgets && int(max(c.allowed[0], c.allowed[1])) <= b.Allowed &&
		(!e.noStart || b.NoStart) && (!e.staying || b.Staying) && (!e.terminating || b.Terminating) && (!e.nominated || b.Nominated)
}

// Cluster makes the cluster that represents the class.
func (c Class) Cluster() *model.Cluster { return c.space.render(&c) }

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

func binomial(n, k int) uint64 {
	result := uint64(1)
	for i := range k {
		result = result * uint64(n-i) / uint64(i+1)
	}
	return result
}

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
