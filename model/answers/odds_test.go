package answers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// victims is a cluster with a full node for each priority; from the number of unguarded ones on a budget protects the pods there. So many
// candidates are enough.
func victims(enough int32, unguarded int, priorities ...int32) *model.Cluster {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Budget("g", 0, mk.ForApp("guarded")),
		model.Settings{MinCandidateNodesAbsolute: &enough, MinCandidateNodesPercentage: new(int32(0))})
	for i, priority := range priorities {
		node := fmt.Sprint("n", i)
		victim := mk.Pod(fmt.Sprint("v", i), priority, mk.CPU("1"), mk.On(node))
		if i >= unguarded {
			mk.App("guarded")(victim)
		}
		c.Nodes, c.Pods = append(c.Nodes, mk.Node(node, "1")), append(c.Pods, victim)
	}
	return c
}

// Each order of the nodes is as likely, and the best of the first ones is picked.
func TestOdds(t *testing.T) {
	for _, tt := range []struct {
		c    *model.Cluster
		want []string
	}{
		{victims(2, 4, 0, 1, 2, 2), []string{"[n0] 1/2", "[n1] 1/3", "[n2 n3] 1/6"}},
		{victims(2, 2, 0, 1), []string{"[n0] 1/1"}},
		{victims(1, 3, 0, 1, 1), []string{"[n1 n2] 2/3", "[n0] 1/3"}},
		{victims(1, 2, 1, 2, 0), []string{"[n0] 1/2", "[n1] 1/2"}},
		{victims(2, 2, 1, 2, 0, 1), []string{"[n0] 7/12", "[n1] 5/12"}},
		{victims(1, 2, 1, 1, 0), []string{"[n0 n1] 1/1"}},
		{victims(1, 1, 5, 0, 1), []string{"[n0] 1/1"}},
		{victims(1, 0, 0, 1), []string{"[n0] 1/2", "[n1] 1/2"}},
		{victims(1, 1, 10), nil},
	} {
		d, err := answers.Decide(tt.c, answers.Documented())
		require.NoError(t, err)
		odds, why := d.Odds()
		require.Empty(t, why)
		var got []string
		for _, l := range odds {
			got = append(got, fmt.Sprintf("%v %v", l.Nodes, l.Probability))
		}
		require.Equal(t, tt.want, got)
	}
}

// There are no odds where something decides that has no probability.
func TestNoOdds(t *testing.T) {
	extended := victims(1, 2, 0, 1)
	extended.Settings.Extenders = []model.Extender{{Name: "e", Preempt: &model.ExtenderPreempt{}}}
	several := mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "4"),
		mk.Pod("x", 0, mk.CPU("2"), mk.On("n")), mk.Pod("y", 0, mk.CPU("1"), mk.On("n")), mk.Pod("z", 0, mk.CPU("1"), mk.On("n")))
	many := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "9"))
	for i := range 9 {
		name := string(rune('a' + i))
		many.Pods = append(many.Pods, mk.Pod(name, 1, mk.CPU("1"), mk.On("n"), mk.App(name)))
		many.PodDisruptionBudgets = append(many.PodDisruptionBudgets, mk.Budget(name, 1, mk.ForApp(name)))
	}
	other := answers.Documented()
	other.Criteria = other.Criteria[1:]
	guardedFirst := victims(2, 1, 2, 1) // n1 is guarded, and better by its priority
	for _, tt := range []struct {
		c     *model.Cluster
		rules *answers.Rules
		want  string
	}{
		{extended, answers.Documented(), "extenders may change the candidates"},
		{several, answers.Documented(), "how good node n is depends on the order of budgets, or of equally important pods"},
		{many, answers.Documented(), "node n has too many equally important pods to try all their orders"},
		{guardedFirst, other, "violations do not count most"},
	} {
		d, err := answers.Decide(tt.c, tt.rules)
		require.NoError(t, err)
		odds, why := d.Odds()
		require.Empty(t, odds)
		require.Equal(t, tt.want, why)
	}
}
