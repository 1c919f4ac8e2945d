package answers

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
