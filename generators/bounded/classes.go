package bounded

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

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
//   - how much a node lacks beyond all that runs on it;
//   - the numbering of pod groups. With groups, the order of a node's pods is told apart.
type Class struct {
	// Labelled is the number of clusters in the class.
	Labelled uint64

	space   *space
	indices [maxNodes]int32 // of space.nodes, ascending
	count   int8            // of nodes
	budgets int8
	allowed [maxBudgets]int8
	groups  [maxGroups]group
	gang    gang
}

// group is what a pod group of bound pods can be.
type group struct {
	there, whole bool
	rank         int8 // of its priority; Ranks is the preemptor's
}

func (g group) number() int { return toInt(g.there)<<8 | toInt(g.whole)<<4 | int(g.rank) }

// gang is what a group that is the preemptor can be, of which so many members have to be scheduled.
type gang struct{ members, minCount int8 }

func (c *Class) nodes() []int32 { return c.indices[:c.count] }

// Classes goes through every cluster within the bounds, each class once: the
// clusters with the fewest pods first, and of a later bound only the classes
// that are in no earlier one. It panics if a bound is out of range.
func Classes(bounds ...Bound) iter.Seq[Class] {
	return func(yield func(Class) bool) {
		for i, b := range bounds {
			for c := range newSpace(b).classes() {
				if !slices.ContainsFunc(bounds[:i], c.within) && !yield(c) {
					return
				}
			}
		}
	}
}

// Count is the number of classes that Classes goes through, and of the clusters
// that they stand for.
func Count(bounds ...Bound) (classes, clusters uint64) {
	for c := range Classes(bounds...) {
		classes++
		clusters += c.Labelled
	}
	return classes, clusters
}

// classes takes the nodes of a cluster in ascending order, which are those with
// the fewest pods first.
func (s *space) classes() iter.Seq[Class] {
	return func(yield func(Class) bool) {
		var add func(c Class, nodes, pods int) bool
		add = func(c Class, nodes, pods int) bool {
			if nodes == 0 {
				return s.complete(c, yield)
			}
			least, from := 0, int32(0)
			if nodes == 1 {
				least = pods
			}
			if c.count > 0 {
				from = c.indices[c.count-1]
			}
			c.count++
			for count := least; count*nodes <= pods; count++ {
				for i := max(from, s.first[count]); i < s.first[count+1]; i++ {
					c.indices[c.count-1] = i
					if !add(c, nodes-1, pods-count) {
						return false
					}
				}
			}
			return true
		}
		for pods := range s.Pods + 1 {
			for nodes := 1; nodes <= s.Nodes; nodes++ {
				if !add(Class{space: s}, nodes, pods) {
					return
				}
			}
		}
	}
}

// complete yields the classes with the nodes of c, one for each distinct way of
// setting the groups and the budgets, unless other nodes represent them.
func (s *space) complete(c Class, yield func(Class) bool) bool {
	all := s.together(c.nodes())
	if !isPrefix(uint(all.budgets)) || !isPrefix(uint(all.groups)) || s.Groups > 0 && all.groups == 0 {
		return true
	}
	for c.groups = range s.groupings(all.groups) {
		for c.gang = range s.gangs(int(c.count) - all.full) {
			if !s.allowing(c, all, yield) {
				return false
			}
		}
	}
	return true
}

// groupings are what the groups of a set can be.
func (s *space) groupings(set uint8) iter.Seq[[maxGroups]group] {
	return func(yield func([maxGroups]group) bool) {
		var each func(all [maxGroups]group, at int) bool
		each = func(all [maxGroups]group, at int) bool {
			if set>>at == 0 {
				return yield(all)
			}
			for rank := range s.Ranks + 1 {
				for _, whole := range []bool{false, true} {
					all[at] = group{true, whole, int8(rank)}
					if !each(all, at+1) {
						return false
					}
				}
			}
			return true
		}
		each([maxGroups]group{}, 0)
	}
}

// gangs are what the preemptor can be if so many of its members fit as it stands.
func (s *space) gangs(fit int) iter.Seq[gang] {
	return func(yield func(gang) bool) {
		if s.Gang == 0 {
			yield(gang{})
			return
		}
		for members := range s.Gang {
			for minCount := fit; minCount <= members; minCount++ {
				if !yield(gang{int8(members + 1), int8(minCount + 1)}) {
					return
				}
			}
		}
	}
}

// ranks are the ordinary ones that possible victims have, and their groups.
func (s *space) ranks(c *Class, all *nodeKind) uint8 {
	ranks := all.ranks
	for _, g := range c.groups {
		if g.there && int(g.rank) < s.Ranks {
			ranks |= 1 << g.rank
		}
	}
	return ranks
}

// allowing yields the classes with the nodes and groups of c, one for each distinct way of setting the budgets, unless
// others represent them.
func (s *space) allowing(c Class, all nodeKind, yield func(Class) bool) bool {
	if all.ranks = s.ranks(&c, &all); !isPrefix(uint(all.ranks)) {
		return true
	}
	labelled := all.labelled * binomial(s.ordinaryRanks(), bits.OnesCount8(all.ranks))
	for rank := range s.Ranks {
		used := all.startsOf(rank)
		if !isPrefix(used) {
			return true
		}
		labelled *= binomial(s.Starts, bits.OnesCount(used))
	}
	c.budgets = int8(bits.OnesCount8(all.budgets))
	twoGroups := bits.OnesCount8(all.groups) == maxGroups
	swapped, swaps := c, c.budgets == maxBudgets && all.traits&shared == 0
	if swaps || twoGroups {
		for i, n := range c.nodes() {
			swapped.indices[i] = s.swapped[n]
		}
		slices.Sort(swapped.nodes())
		if slices.Compare(swapped.nodes(), c.nodes()) < 0 {
			return true
		}
	}
	if twoGroups {
		switch order := cmp.Compare(c.groups[1].number(), c.groups[0].number()); {
		case swapped.indices == c.indices && order < 0:
			return true
		case swapped.indices != c.indices || order != 0:
			labelled *= 2
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
				switch same := swapped.indices == c.indices; {
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
	all := c.space.together(c.nodes())
	for rank := range c.space.Ranks {
		if bits.OnesCount(all.startsOf(rank)) > b.Starts {
			return false
		}
	}
	groups := bits.OnesCount8(all.groups)
	if groups > b.Groups || (b.Groups > 0) != (groups > 0) || int(c.gang.members) > b.Gang || (b.Gang > 0) != (c.gang.members > 0) {
		return false
	}
	return int(c.count) <= b.Nodes && all.pods <= b.Pods && bits.OnesCount8(c.space.ranks(c, &all)) <= b.ordinaryRanks() && all.size <= b.Sizes && all.lack <= b.Lack &&
		int(c.budgets) <= b.Budgets && int(max(c.allowed[0], c.allowed[1])) <= b.Allowed && all.traits&^b.traits() == 0
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
