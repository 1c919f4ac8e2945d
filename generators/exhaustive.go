package generators

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/model"
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

func binomial(n, k int) uint64 {
	result := uint64(1)
	for i := range k {
		result = result * uint64(n-i) / uint64(i+1)
	}
	return result
}

// render makes the cluster of a class. The preemptor requests as much as a node
// can lack.
func (s *space) render(class *Class) *model.Cluster {
	var g generator
	c := &model.Cluster{Preemptor: &v1.Pod{}}
	g.render(c.Preemptor, "preemptor", &pod{size: sizes{cpu: s.Lack}, priority: int32(s.Ranks + 1), start: -1})
	for i := 0; i < maxNodes && class.nodes[i] >= 0; i++ {
		n := &s.nodes[class.nodes[i]]
		room := s.Lack - n.extent.lack
		for _, index := range n.kinds[:n.pods] {
			k := &s.kinds[index]
			plan := k.pod
			plan.size[cpu] = k.size
			p := &v1.Pod{}
			g.render(p, podNames[len(c.Pods)], &plan)
			switch k.role {
			case victim, staying:
				p.Spec.NodeName = nodeNames[i]
				room += k.size
			default:
				p.Status.NominatedNodeName = nodeNames[i]
			}
			c.Pods = append(c.Pods, p)
		}
		c.Nodes = append(c.Nodes, renderNode(i, &node{room: sizes{cpu: room}, maxPods: 110}))
	}
	one := intstr.FromInt32(1)
	for b := range int(class.budgets) {
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "budget-" + strconv.Itoa(b), Namespace: metav1.NamespaceDefault},
			// app=a, and tier=x: see podKinds.
			Spec:   policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: selectors[[]int{0, 4}[b]].DeepCopy()},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(class.allowed[b])},
		})
	}
	return c
}
