package explanation_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// node is one of a cluster on which each node is a candidate: the priority of its
// victim, and whether that violates a budget.
type node struct {
	priority int32
	violates bool
}

// TestOddsOfScheduler: the odds are what kube-scheduler does, for each order of the
// nodes, and each start, once.
func TestOddsOfScheduler(t *testing.T) {
	system := checktest.System(t)
	for _, test := range []struct {
		name  string
		nodes []node
		want  int32
	}{
		{"each another", []node{{1, false}, {2, false}, {3, false}, {4, false}, {5, false}}, 2},
		{"ties", []node{{1, false}, {1, false}, {2, false}, {2, false}, {3, false}}, 3},
		{"some violate", []node{{1, true}, {2, false}, {1, true}, {3, false}, {4, true}}, 2},
		{"one does not violate", []node{{1, true}, {2, true}, {3, true}, {4, true}, {5, false}}, 3},
		{"late ones tie", []node{{1, true}, {2, true}, {3, false}, {3, false}, {4, false}}, 1},
		{"all violate", []node{{1, true}, {2, true}, {2, true}, {3, true}, {4, true}}, 2},
		{"all are compared", []node{{1, false}, {2, false}, {2, false}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := len(test.nodes)
			cluster := func(names []int, start int32) *model.Cluster {
				none := int32(0)
				c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Budget("b", 0, mk.ForApp("guarded")),
					model.Settings{MinCandidateNodesAbsolute: &test.want, MinCandidateNodesPercentage: &none, DryRunOffset: &start})
				for i, node := range test.nodes {
					name, victim := fmt.Sprint("n", names[i]), mk.Pod(fmt.Sprint("v", i), node.priority, mk.CPU("1"), mk.Started(0))
					mk.On(name)(victim)
					if node.violates {
						mk.App("guarded")(victim)
					}
					c.Nodes, c.Pods = append(c.Nodes, mk.Node(name, "1")), append(c.Pods, victim)
				}
				return c
			}
			picked, asked := make([]int64, n), int64(0)
			permutations(n, func(names []int) {
				for start := range n {
					o, err := system.Observe(t.Context(), cluster(names, int32(start)))
					require.NoError(t, err)
					picked[slices.Index(names, int(o.Pick.Node[1]-'0'))]++
					asked++
				}
			})
			var inOrder []int
			for i := range n {
				inOrder = append(inOrder, i)
			}
			d, err := answers.Decide(cluster(inOrder, 0), answers.Documented())
			require.NoError(t, err)
			odds, why := d.Odds()
			require.Empty(t, why)
			require.NotEmpty(t, odds)
			for _, l := range odds {
				times := int64(0)
				for _, name := range l.Nodes {
					times += picked[name[1]-'0']
				}
				require.Equal(t, big.NewRat(times, asked).String(), l.Probability.String(), l.Nodes)
			}
			require.Equal(t, nodesOf(odds), chosen(d))
		})
	}
}

// permutations calls visit with each order of 0 to n-1.
func permutations(n int, visit func([]int)) {
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == n {
			visit(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				extend(append(slices.Clip(order), i))
			}
		}
	}
	extend(nil)
}

// TestOddsOfGenerated: on generated clusters the odds sum up to one, and are those of
// the allowed answers, no more and no fewer.
func TestOddsOfGenerated(t *testing.T) {
	partial, unknown := 0, map[string]int{}
	for seed := range uint64(4000) {
		d, err := answers.Decide(generators.FromSeed(seed), answers.Documented())
		if err != nil || d.Orders() > 1000 {
			continue
		}
		odds, why := d.Odds()
		if why != "" {
			unknown[strings.Fields(why)[0]]++
			continue
		}
		if len(odds) > 1 {
			partial++
		}
		require.Equal(t, chosen(d), nodesOf(odds), "seed %d", seed)
		sum := new(big.Rat)
		for i, l := range odds {
			sum.Add(sum, l.Probability)
			require.True(t, i == 0 || odds[i-1].Probability.Cmp(l.Probability) >= 0)
		}
		if len(odds) > 0 {
			require.Equal(t, "1/1", sum.String(), "seed %d", seed)
		}
	}
	require.Greater(t, partial, 50, "clusters on which not all candidates are compared")
	require.NotEmpty(t, unknown)
}

func nodesOf(odds []answers.Likelihood) (nodes []string) {
	for _, l := range odds {
		nodes = append(nodes, l.Nodes...)
	}
	slices.Sort(nodes)
	return nodes
}

// chosen are the nodes of all allowed answers.
func chosen(d *answers.Set) (nodes []string) {
	for _, c := range d.Choices() {
		nodes = append(nodes, c.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}
