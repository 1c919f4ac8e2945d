package bounded

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
)

// labelled is a cluster as the bound counts it: everything has its place.
type labelled struct {
	nodes   []labelledNode
	allowed []int
	groups  []group
	gang    gang
}

type labelledNode struct {
	lack  int
	kinds []int // indices of space.kinds
}

func (l labelled) key() string { return fmt.Sprint(l) }

func (l labelled) clone() labelled {
	out := labelled{allowed: slices.Clone(l.allowed), groups: slices.Clone(l.groups), gang: l.gang}
	for _, n := range l.nodes {
		out.nodes = append(out.nodes, labelledNode{n.lack, slices.Clone(n.kinds)})
	}
	return out
}

// allLabelled lists the clusters of a bound without any regard to symmetry.
func allLabelled(s *space) (all []labelled) {
	var fill func(l labelled, left int)
	finish := func(l labelled) {
		selected := uint8(0)
		for _, n := range l.nodes {
			for _, k := range n.kinds {
				selected |= s.kinds[k].budgets
			}
		}
		for budgets := range s.Budgets + 1 {
			if selected != 1<<budgets-1 {
				continue
			}
			sets := []labelled{l}
			for range budgets {
				var longer []labelled
				for _, set := range sets {
					for allowed := range s.Allowed + 1 {
						next := set.clone()
						next.allowed = append(next.allowed, allowed)
						longer = append(longer, next)
					}
				}
				sets = longer
			}
			for _, set := range sets {
				all = append(all, withGroups(s, set)...)
			}
		}
	}
	fill = func(l labelled, left int) {
		if len(l.nodes) > 0 {
			finish(l)
			if left > 0 { // one more pod on the last node
				for k := range s.kinds {
					next := l.clone()
					n := &next.nodes[len(next.nodes)-1]
					n.kinds = append(n.kinds, k)
					fill(next, left-1)
				}
			}
		}
		if len(l.nodes) < s.Nodes { // one more node
			for lack := toInt(s.Gang < 2); lack <= s.Lack; lack++ {
				next := l.clone()
				next.nodes = append(next.nodes, labelledNode{lack: lack})
				fill(next, left)
			}
		}
	}
	fill(labelled{}, s.Pods)
	return all
}

// withGroups are l with its groups, and with its preemptor.
func withGroups(s *space, l labelled) (all []labelled) {
	members, fit := uint8(0), 0
	for _, n := range l.nodes {
		fit += toInt(n.lack == 0)
		for _, k := range n.kinds {
			members |= s.kinds[k].groups
		}
	}
	grouped := []labelled{l}
	if s.Groups > 0 && members == 0 || members == 1<<1 {
		return nil
	}
	for members != 0 {
		var longer []labelled
		for _, l := range grouped {
			for rank := range s.Ranks + 1 {
				for _, whole := range []bool{true, false} {
					next := l.clone()
					next.groups = append(next.groups, group{true, whole, int8(rank)})
					longer = append(longer, next)
				}
			}
		}
		grouped, members = longer, members>>1
	}
	if s.Gang == 0 {
		return grouped
	}
	for _, l := range grouped {
		for members := 1; members <= s.Gang; members++ {
			for minCount := fit + 1; minCount <= members; minCount++ {
				next := l.clone()
				next.gang = gang{int8(members), int8(minCount)}
				all = append(all, next)
			}
		}
	}
	return all
}

// moves are clusters that one step of a symmetry makes of l.
func moves(s *space, l labelled) (out []labelled) {
	try := func(change func(*labelled)) {
		next := l.clone()
		change(&next)
		out = append(out, next)
	}
	// changed is l with each kind of pod replaced; nil leaves it.
	changed := func(replace func(k kind) kind) {
		try(func(next *labelled) {
			for _, n := range next.nodes {
				for i, index := range n.kinds {
					k := replace(s.kinds[index])
					n.kinds[i] = slices.IndexFunc(s.kinds, func(o kind) bool {
						return o.groups == k.groups && o.role == k.role && o.size == k.size && o.rank == k.rank && o.budgets == k.budgets && o.start == k.start &&
							o.priority == k.priority && o.traits&terminating == k.traits&terminating
					})
				}
			}
		})
	}
	shared := false
	ranks, starts := map[int]bool{}, map[[2]int]bool{}
	most := make([]int, len(l.allowed)) // pods that a budget selects on one node
	for i, n := range l.nodes {
		if i > 0 {
			try(func(next *labelled) { next.nodes[i-1], next.nodes[i] = next.nodes[i], next.nodes[i-1] })
		}
		used := 0
		selects := make([]int, len(l.allowed))
		for j, index := range n.kinds {
			k := s.kinds[index]
			if k.role.bound() {
				used += k.size
			}
			if k.role == victim {
				ranks[k.rank], starts[[2]int{k.rank, k.start}] = true, true
				shared = shared || k.budgets == 3
				for b := range selects {
					selects[b] += int(k.budgets >> b & 1)
					most[b] = max(most[b], selects[b])
				}
			}
			if j == 0 {
				continue
			}
			before := s.kinds[n.kinds[j-1]]
			tied := before.role == victim && k.role == victim && before.rank == k.rank && before.start == k.start
			if !tied && s.Groups == 0 {
				try(func(next *labelled) {
					kinds := next.nodes[i].kinds
					kinds[j-1], kinds[j] = kinds[j], kinds[j-1]
				})
			}
		}
		if n.lack > used && n.lack < s.Lack {
			try(func(next *labelled) { next.nodes[i].lack++ })
		}
	}
	for b, allowed := range l.allowed {
		if allowed >= most[b] && allowed < s.Allowed {
			try(func(next *labelled) { next.allowed[b]++ })
		}
	}
	if len(l.allowed) == 2 && !shared {
		changed(func(k kind) kind {
			k.budgets = k.budgets>>1 | k.budgets&1<<1
			return k
		})
		last := &out[len(out)-1]
		slices.Reverse(last.allowed)
	}
	if len(l.groups) == 2 {
		changed(func(k kind) kind {
			k.groups = k.groups>>1 | k.groups&1<<1
			return k
		})
		last := &out[len(out)-1]
		slices.Reverse(last.groups)
	}
	for _, g := range l.groups {
		if int(g.rank) < s.Ranks {
			ranks[int(g.rank)] = true
		}
	}
	for rank := range s.Ranks {
		ordinary := len(ranks)
		if s.Lowest && ranks[0] {
			ordinary--
		}
		if ordinary <= 2 && !(s.Lowest && rank == 0) && ranks[rank] && !ranks[rank+1] && rank+1 < s.Ranks {
			changed(func(k kind) kind {
				if k.role == victim && k.rank == rank {
					k.rank, k.priority = rank+1, k.priority+1
				}
				return k
			})
			last := &out[len(out)-1]
			for i := range last.groups {
				last.groups[i].rank += int8(toInt(int(last.groups[i].rank) == rank))
			}
		}
		for start := range s.Starts - 1 {
			if starts[[2]int{rank, start}] && !starts[[2]int{rank, start + 1}] {
				changed(func(k kind) kind {
					if k.role == victim && k.rank == rank && k.start == start {
						k.start++
					}
					return k
				})
			}
		}
	}
	return out
}

var tiny = []Bound{
	{Nodes: 1, Pods: 3, Ranks: 3, Sizes: 1, Lack: 1, Starts: 1},
	{Nodes: 3, Pods: 3, Ranks: 1, Sizes: 2, Lack: 3, Starts: 1, Staying: true},
	{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 1, Lack: 2, Starts: 2, NoStart: true},
	{Nodes: 1, Pods: 3, Ranks: 1, Sizes: 1, Lack: 1, Starts: 4},
	{Nodes: 2, Pods: 3, Ranks: 3, Sizes: 1, Lack: 2, Starts: 1, Lowest: true, Budgets: 1, Allowed: 1},
	{Nodes: 2, Pods: 3, Ranks: 1, Sizes: 1, Lack: 2, Starts: 1, Budgets: 2, Allowed: 2, Nominated: true},
	{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 1, Lack: 2, Starts: 2, Budgets: 1, Allowed: 3, Terminating: true},
	{Nodes: 3, Pods: 2, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 1},
	{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 1, Lack: 1, Starts: 1, Groups: 2},
	{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Staying: true, Nominated: true},
	{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 1, Lack: 2, Starts: 1, Groups: 1, Gang: 2, Budgets: 2, Allowed: 1},
	{Nodes: 2, Pods: 2, Ranks: 1, Sizes: 1, Lack: 1, Starts: 1, Groups: 2, Gang: 1, Budgets: 1, Allowed: 1, Terminating: true},
	{Nodes: 3, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, NoStart: true, Gang: 2},
}

// Every labelled cluster is in just one class, and the classes have the sizes
// that they say. What belongs together is worked out from single steps of each
// symmetry, without any canonical form.
func TestHasEachClassOnce(t *testing.T) {
	for _, b := range tiny {
		t.Run(b.String(), func(t *testing.T) {
			s := newSpace(b)
			all := allLabelled(s)
			byKey := map[string]int{}
			for i, l := range all {
				byKey[l.key()] = i
			}
			require.Len(t, byKey, len(all))
			root := make([]int, len(all))
			for i := range root {
				root[i] = i
			}
			find := func(i int) int {
				for root[i] != i {
					root[i] = root[root[i]]
					i = root[i]
				}
				return i
			}
			for i, l := range all {
				for _, m := range moves(s, l) {
					j, ok := byKey[m.key()]
					if !ok {
						t.Fatalf("%v leads out of the bound, to %v", l, m)
					}
					root[find(i)] = find(j)
				}
			}
			size := map[int]uint64{}
			for i := range all {
				size[find(i)]++
			}

			for c := range Classes(b) {
				var l labelled
				for _, index := range c.nodes() {
					n := labelledNode{lack: s.nodes[index].lack}
					for _, k := range s.nodes[index].kinds[:s.nodes[index].pods] {
						n.kinds = append(n.kinds, int(k))
					}
					l.nodes = append(l.nodes, n)
				}
				for _, a := range c.allowed[:c.budgets] {
					l.allowed = append(l.allowed, int(a))
				}
				for _, g := range c.groups {
					if g.there {
						l.groups = append(l.groups, g)
					}
				}
				l.gang = c.gang
				i, ok := byKey[l.key()]
				require.True(t, ok, l)
				require.Equalf(t, size[find(i)], c.Labelled, "the class of %v", l)
				size[find(i)] = 0 // a second time fails
			}
			for i, n := range size {
				if n != 0 {
					t.Fatalf("no class for %v", all[i])
				}
			}
			classes, clusters := Count(b)
			require.EqualValues(t, len(size), classes)
			require.EqualValues(t, len(all), clusters)
			t.Logf("%d clusters, %d classes", clusters, classes)
		})
	}
}

// The classes of several bounds are those of the first, then those of the
// second that the first lacks, and so on: clusters that are told apart by what
// they render to.
func TestLeavesOutWhatAnEarlierBoundHas(t *testing.T) {
	small := Bound{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 1, Lack: 2, Starts: 1, Budgets: 1, Allowed: 1}
	lowest := Bound{Nodes: 2, Pods: 2, Ranks: 3, Sizes: 1, Lack: 2, Starts: 1, Lowest: true}
	other := Bound{Nodes: 1, Pods: 3, Ranks: 1, Sizes: 2, Lack: 2, Starts: 2, Budgets: 2, Allowed: 1, Staying: true}
	render := func(bounds ...Bound) map[string]bool {
		seen := map[string]bool{}
		for c := range Classes(bounds...) {
			cluster := c.Cluster()
			top := *cluster.Preemptor.Spec.Priority
			text := fmt.Sprint(cluster.Preemptor.Spec.Containers[0].Resources)
			for _, n := range cluster.Nodes {
				text += fmt.Sprintf(" %s:%v", n.Name, n.Status.Allocatable.Cpu())
			}
			for _, p := range cluster.Pods {
				priority := fmt.Sprint(*p.Spec.Priority)
				if *p.Spec.Priority == top {
					priority = "top"
				}
				text += fmt.Sprintf(" %s %s %v %v %v", p.Spec.NodeName, priority, p.Spec.Containers[0].Resources.Requests.Cpu(), p.Labels, p.Status.StartTime)
			}
			for _, b := range cluster.PodDisruptionBudgets {
				text += fmt.Sprint(" budget ", b.Status.DisruptionsAllowed)
			}
			require.False(t, seen[text], text)
			seen[text] = true
		}
		return seen
	}
	union := render(small)
	maps.Copy(union, render(other))
	require.Equal(t, union, render(small, other))
	again, _ := Count(small, other, small)
	require.EqualValues(t, len(union), again)
	first, _ := Count(small)
	both, _ := Count(small, lowest)
	reversed, _ := Count(lowest, small)
	require.Equal(t, both, reversed)
	require.Greater(t, both, first)
	require.Less(t, len(union), len(render(small))+len(render(other)))
}

// No cluster is one that the API server would store otherwise. The largest
// clusters, which come last, hold everything that the others do.
func TestClustersAreAsTheAPIServerStoresThem(t *testing.T) {
	for _, b := range tiny {
		classes := slices.Collect(Classes(b))
		for _, c := range classes[max(0, len(classes)-100):] {
			made, admitted := c.Cluster(), c.Cluster()
			require.NoError(t, apiserver.Admit(admitted))
			require.Empty(t, cmp.Diff(made, admitted))
		}
	}
}

func TestRefusesWhatIsOutOfRange(t *testing.T) {
	require.Panics(t, func() { Count(Bound{}) })
	require.Panics(t, func() { Count(Bound{Nodes: 1, Pods: 1, Ranks: 4, Sizes: 1, Lack: 1, Starts: 1}) })
	require.Panics(t, func() { Count(Bound{Nodes: 1, Pods: 1, Ranks: 1, Sizes: 1, Lack: 1, Starts: 2, Groups: 1}) })
	require.Panics(t, func() { Count(Bound{Nodes: 1, Pods: 1, Ranks: 1, Sizes: 1, Lack: 1, Starts: 1, Groups: 2, Budgets: 2}) })
}
