package answers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

func TestBudgetOrders(t *testing.T) {
	orders := func(budgets ...any) int {
		objects := append(budgets, mk.Node("n", "1"), mk.Pod("a", 0, mk.On("n"), mk.App("x")), mk.Pod("b", 0, mk.On("n"), mk.App("y")))
		got, exact := budgetOrders(model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), objects...)))
		assert.True(t, exact)
		return len(got)
	}
	assert.Equal(t, 1, orders(mk.Budget("1", 0, mk.ForApp("x"))))
	assert.Equal(t, 1, orders(mk.Budget("1", 0, mk.ForApp("x")), mk.Budget("2", 0, mk.ForApp("y"))), "they protect different pods")
	assert.Equal(t, 2, orders(mk.Budget("1", 0, mk.ForApp("x")), mk.Budget("2", 0, mk.ForApp("x"))))
	assert.Equal(t, 4, orders(mk.Budget("1", 0, mk.ForApp("x")), mk.Budget("2", 0, mk.ForApp("x")), mk.Budget("3", 0, mk.ForApp("y")), mk.Budget("4", 0, mk.ForApp("y"))))
	assert.Equal(t, 1, orders(mk.Budget("1", 0, mk.ForApp("z")), mk.Budget("2", 0, mk.ForApp("z"))), "they protect nobody")

	many := []any{mk.Node("n", "1"), mk.Pod("a", 0, mk.On("n"), mk.App("x"))}
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		many = append(many, mk.Budget(name, 0, mk.ForApp("x")))
	}
	_, exact := budgetOrders(model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), many...)))
	assert.False(t, exact, "720 orders are too many")
	_, exact = budgetOrders(model.Documented().NewCycle(mk.Cluster(mk.Pod("p", -1), many...)))
	assert.True(t, exact, "no pod of lower priority: the order does not matter")
}

// Nobody promises which pod of a group takes from the budgets first.
func TestOrdersOfPods(t *testing.T) {
	both := func(p *v1.Pod) { p.Labels = map[string]string{"app": "x", "also": "y"} }
	y := &metav1.LabelSelector{MatchLabels: map[string]string{"also": "y"}}
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.WithGroups(), mk.Group("u", 0, mk.AsAWhole), mk.Node("n", "1"),
		mk.Budget("x", 1, mk.ForApp("x")), mk.Budget("y", 0, y),
		mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.CPU("1"), mk.App("x")), mk.Pod("u2", 0, mk.On("n"), mk.Member("u"), both))
	violations := func() (all []int) {
		s, err := Decide(c, Documented())
		require.NoError(t, err)
		outcomes, _ := s.DryRunOn("n")
		for _, o := range outcomes {
			all = append(all, o.Violations)
		}
		assert.Equal(t, len(outcomes), s.run("n").orders(s.Cycle))
		return all
	}
	assert.Equal(t, []int{1, 2}, violations())
	c.PodDisruptionBudgets = c.PodDisruptionBudgets[:1]
	assert.Equal(t, []int{1}, violations(), "both take from the same budget")
}
