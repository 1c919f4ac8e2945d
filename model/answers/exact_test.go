package answers

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	_ "github.com/preemptcheck/preemptcheck/internal/testsize" // for its seed
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// drawNode draws a full node n of 2..5 pods with many ties, and budgets.
func drawNode(t *rapid.T) *model.Cluster {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "preemptor"))), mk.Node("n", "6"))
	for i := range rapid.IntRange(2, 5).Draw(t, "pods") {
		p := mk.Pod(fmt.Sprintf("v%d", i), rapid.SampledFrom([]int32{0, 1}).Draw(t, "priority"), mk.On("n"),
			mk.CPU(rapid.SampledFrom([]string{"1", "2", "4"}).Draw(t, "cpu")),
			mk.App(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "app")))
		if rapid.Bool().Draw(t, "started") {
			mk.Started(rapid.IntRange(0, 1).Draw(t, "minute"))(p)
		}
		c.Pods = append(c.Pods, p)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "budgets") {
		b := mk.Budget(fmt.Sprintf("b%d", i), int32(rapid.IntRange(0, 1).Draw(t, "allowed")), mk.ForApp(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "for")))
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, b)
	}
	return c
}

// The outcomes of a node are those of its pods in every order in which it could
// list them: no more, no fewer.
func TestOutcomesAreThoseOfAllOrders(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawNode(t)
		cy := model.Documented().NewCycle(c)
		n := cy.Nodes[0]
		run := &run{DryRunOnNode: cy.DryRun(cy, n, nil)}
		run.begin(cy)
		run.enumerate(cy, nil)
		if run.Failed != nil {
			return
		}
		if len(run.outcomes) > 1 {
			several++
		}

		in := func(outcomes []*model.Outcome, o *model.Outcome) bool {
			return slices.ContainsFunc(outcomes, func(other *model.Outcome) bool { return run.same(cy, o, other) })
		}
		var all []*model.Outcome
		pods := n.Pods
		permutations(len(pods), func(order []int) {
			n.Pods = make([]*filter.Pod, len(order))
			for i, from := range order {
				n.Pods[i] = pods[from]
			}
			cy.Units = unit.Of(cy.Snapshot, (&model.Cluster{}).Groups())
			if o := cy.DryRun(cy, n, nil).Listed; !in(all, o) {
				all = append(all, o)
			}
		})
		for _, o := range all {
			if !in(run.outcomes, o) {
				t.Fatalf("missing: %v", o.Victims)
			}
		}
		if len(all) != len(run.outcomes) {
			t.Fatalf("%d outcomes, but the orders of the pods lead to %d", len(run.outcomes), len(all))
		}
	})
	if !testing.Short() { // a fifth of the draws may have none
		assert.Positive(t, several, "no node had several outcomes")
	}
}

// permutations calls visit with all orders of the numbers below n.
func permutations(n int, visit func(order []int)) {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	arrange(numbers, numbers, visit)
}

// drawCandidates draws nodes with up to three outcomes each. If extended,
// extenders drop some, fail over others and count violations as they like.
func drawCandidates(t *rapid.T, extended bool) []*candidate {
	candidates := make([]*candidate, rapid.IntRange(1, 4).Draw(t, "candidates"))
	for i := range candidates {
		c := &candidate{node: fmt.Sprintf("n%d", i)}
		fate := "stays"
		if extended {
			fate = rapid.SampledFrom([]string{"stays", "changed", "dropped", "aborts"}).Draw(t, "fate")
		}
		for range rapid.IntRange(1, 3).Draw(t, "outcomes") {
			o := &model.Outcome{Violations: rapid.IntRange(0, 2).Draw(t, "violations")}
			for range rapid.IntRange(1, 2).Draw(t, "victims") {
				o.Pods = append(o.Pods, &filter.Pod{Priority: int32(rapid.IntRange(0, 1).Draw(t, "priority"))})
			}
			slices.SortFunc(o.Pods, func(a, b *filter.Pod) int { return cmp.Compare(b.Priority, a.Priority) })
			after := o
			switch fate {
			case "changed":
				after = &model.Outcome{Violations: rapid.IntRange(0, 2).Draw(t, "counted"), Pods: o.Pods[:1]}
			case "dropped", "aborts":
				after = nil
			}
			c.ways = append(c.ways, way{o, after, fate == "aborts"})
		}
		candidates[i] = c
	}
	return candidates
}

// searched is what searches end in.
type searched struct {
	picks          map[[2]int]bool // candidate, outcome
	nothing, fails bool
}

// mayPick and mayPickNone allow just what a search can come to that tries the
// nodes one after another, in any order, with any of their outcomes, and stops as
// upstream does.
func TestMayPickIsWhatAnySearchFinds(t *testing.T) {
	limited, nothing := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		extended := rapid.Bool().Draw(t, "extended")
		candidates := drawCandidates(t, extended)
		shortlist := rapid.IntRange(1, len(candidates)).Draw(t, "shortlist")
		if shortlist < len(candidates) {
			limited++
		}
		cy := &model.Cycle{Algorithm: model.Documented()}
		if extended {
			cy.Extenders = []*model.Extender{{Preempt: &model.ExtenderPreempt{}}}
		}
		s := &Set{Decision: &model.Decision{Cycle: cy, NumCandidates: shortlist}}

		found := searched{picks: map[[2]int]bool{}}
		permutations(len(candidates), func(order []int) { search(cy.Algorithm, candidates, order, shortlist, &found) })
		for i, c := range candidates {
			for j, turnsOut := range c.ways {
				if _, ok := s.mayPick(c, turnsOut, candidates); ok != found.picks[[2]int{i, j}] {
					t.Fatalf("mayPick says %v for an outcome of %s, the search %v", ok, c.node, !ok)
				}
			}
		}
		none, fails := s.mayPickNone(candidates)
		if none != found.nothing || fails != found.fails {
			t.Fatalf("mayPickNone says %v and %v, the search %v and %v", none, fails, found.nothing, found.fails)
		}
		if none && shortlist < len(candidates) {
			nothing++
		}
	})
	assert.Positive(t, limited, "no shortlist was shorter than the candidates")
	if !testing.Short() {
		assert.Positive(t, nothing, "no search of several ended with nothing")
	}
}

// search tries candidates in order with every combination of their outcomes and
// records in found what may be picked.
func search(algorithm *model.Algorithm, candidates []*candidate, order []int, shortlist int, found *searched) {
	var lists [2][][2]int // without violations, and with
	var try func(at int)
	try = func(at int) {
		tried := len(lists[0]) + len(lists[1])
		if at == len(order) || len(lists[0]) > 0 && tried >= shortlist {
			byNode, id := map[string]*model.Outcome{}, map[string][2]int{}
			for _, list := range lists {
				for _, at := range list[:min(len(list), shortlist)] {
					c := candidates[at[0]]
					turnsOut := c.ways[at[1]]
					if turnsOut.aborts {
						found.fails = true
						return
					}
					if turnsOut.after != nil {
						byNode[c.node], id[c.node] = turnsOut.after, at
					}
				}
			}
			found.nothing = found.nothing || len(byNode) == 0
			best, _ := algorithm.Pick(byNode)
			for _, name := range best {
				found.picks[id[name]] = true
			}
			return
		}
		for j, turnsOut := range candidates[order[at]].ways {
			kind := min(turnsOut.before.Violations, 1)
			lists[kind] = append(lists[kind], [2]int{order[at], j})
			try(at + 1)
			lists[kind] = lists[kind][:len(lists[kind])-1]
		}
	}
	try(0)
}

func TestExactUpToTheBound(t *testing.T) {
	tied := func(n int) *Set {
		c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"))
		for i := range n {
			c.Pods = append(c.Pods, mk.Pod(fmt.Sprintf("v%d", i), 0, mk.On("n"), mk.CPU(fmt.Sprintf("%dm", i+1))))
		}
		c.Pods = append(c.Pods, mk.Pod("rest", 0, mk.On("n"), mk.CPU("900m"), mk.Started(1)))
		d, err := Decide(c, Documented())
		require.NoError(t, err)
		return d
	}
	exact, _ := tied(7).Exact()
	assert.True(t, exact, "7 pods can be ordered in 5,040 ways")
	exact, why := tied(8).Exact()
	assert.False(t, exact)
	assert.Contains(t, why, "node n")

	same := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"))
	for i := range 50 {
		same.Pods = append(same.Pods, mk.Pod(fmt.Sprintf("v%d", i), 0, mk.On("n"), mk.CPU("20m")))
	}
	d, err := Decide(same, Documented())
	require.NoError(t, err)
	exact, _ = d.Exact()
	assert.True(t, exact, "pods that can stand in for each other are not told apart")
}
