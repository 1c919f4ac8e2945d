package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBudgetProtects(t *testing.T) {
	notIn := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}}}
	elsewhere := aBudget("b", 0, forApp("x"))
	elsewhere.Namespace = "other"
	processed := aBudget("b", 0, forApp("x"))
	processed.Status.DisruptedPods = map[string]metav1.Time{"p": metav1.Now()}

	assert.True(t, newBudget(aBudget("b", 0, forApp("x")), Documented()).protects(aPod("p", 0, app("x"))))
	assert.False(t, newBudget(aBudget("b", 0, forApp("x")), Documented()).protects(aPod("p", 0, app("y"))))
	assert.False(t, newBudget(elsewhere, Documented()).protects(aPod("p", 0, app("x"))), "another namespace")
	assert.False(t, newBudget(processed, Documented()).protects(aPod("p", 0, app("x"))), "disrupted already")
	assert.True(t, newBudget(processed, Documented()).protects(aPod("other", 0, app("x"))), "another pod was disrupted")
	assert.False(t, newBudget(aBudget("b", 0, nil), Documented()).protects(aPod("p", 0, app("x"))), "no selector")

	everything := aBudget("b", 0, &metav1.LabelSelector{})
	assert.True(t, newBudget(everything, Documented()).protects(aPod("p", 0, app("x"))), "empty selector")
	assert.False(t, newBudget(everything, Documented().With(EmptySelector)).protects(aPod("p", 0, app("x"))))
	assert.True(t, newBudget(aBudget("b", 0, notIn), Documented()).protects(aPod("p", 0)), "NotIn matches a pod without labels")
	assert.False(t, newBudget(aBudget("b", 0, notIn), Documented().With(UnlabelledPod)).protects(aPod("p", 0)))
}

// violations is what each of several equal pods of app x on node n violates.
func violations(t *testing.T, order []int, pods int, budgets ...any) []int {
	t.Helper()
	objects := append([]any{aNode("n", "1")}, budgets...)
	for i := range pods {
		objects = append(objects, aPod(string(rune('a'+i)), 0, on("n"), app("x")))
	}
	q := ask(Documented(), aPod("p", 9), objects...)
	return q.split(q.byName["n"].pods, order)
}

func TestSplit(t *testing.T) {
	assert.Equal(t, []int{-1, -1, 0}, violations(t, nil, 3, aBudget("b", 2, forApp("x"))))
	assert.Equal(t, []int{-1, -1}, violations(t, nil, 2), "no budget")

	// With two budgets over the same pods, a violation of the first leaves the
	// second untouched.
	tight, loose := aBudget("tight", 0, forApp("x")), aBudget("loose", 1, forApp("x"))
	assert.Equal(t, []int{0, 0}, violations(t, nil, 2, tight, loose))
	assert.Equal(t, []int{1, 0}, violations(t, nil, 2, loose, tight))
	assert.Equal(t, []int{0, 1}, violations(t, []int{1, 0}, 2, tight, loose), "listed the other way round")
}

func TestBudgetOrders(t *testing.T) {
	orders := func(budgets ...any) int {
		objects := append(budgets, aNode("n", "1"), aPod("a", 0, on("n"), app("x")), aPod("b", 0, on("n"), app("y")))
		got, exact := ask(Documented(), aPod("p", 9), objects...).budgetOrders()
		assert.True(t, exact)
		return len(got)
	}
	assert.Equal(t, 1, orders(aBudget("1", 0, forApp("x"))))
	assert.Equal(t, 1, orders(aBudget("1", 0, forApp("x")), aBudget("2", 0, forApp("y"))), "they protect different pods")
	assert.Equal(t, 2, orders(aBudget("1", 0, forApp("x")), aBudget("2", 0, forApp("x"))))
	assert.Equal(t, 4, orders(aBudget("1", 0, forApp("x")), aBudget("2", 0, forApp("x")), aBudget("3", 0, forApp("y")), aBudget("4", 0, forApp("y"))))
	assert.Equal(t, 1, orders(aBudget("1", 0, forApp("z")), aBudget("2", 0, forApp("z"))), "they protect nobody")

	many := []any{aNode("n", "1"), aPod("a", 0, on("n"), app("x"))}
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		many = append(many, aBudget(name, 0, forApp("x")))
	}
	_, exact := ask(Documented(), aPod("p", 9), many...).budgetOrders()
	assert.False(t, exact, "720 orders are too many")
	_, exact = ask(Documented(), aPod("p", -1), many...).budgetOrders()
	assert.True(t, exact, "no pod of lower priority: the order does not matter")
}

func TestEligible(t *testing.T) {
	never := v1.PreemptNever
	full := aPod("full", 20, on("n"), cpu("1"))
	tests := []struct {
		name      string
		preemptor *v1.Pod
		pods      []any
		want      bool
	}{
		{"plain", aPod("p", 9, cpu("1")), nil, true},
		{"never", aPod("p", 9, cpu("1"), func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), nil, false},
		{"waits for its victim", aPod("p", 9, cpu("1"), nominated("n")), []any{aPod("v", 0, on("n"), byPreemption)}, false},
		{"the victim has just been marked", aPod("p", 9, cpu("1"), nominated("n")), []any{aPod("v", 0, on("n"), byPreemption, func(p *v1.Pod) { p.DeletionTimestamp = nil })}, true},
		{"terminating for another reason", aPod("p", 9, cpu("1"), nominated("n")), []any{aPod("v", 0, on("n"), terminating)}, true},
		{"not its victim", aPod("p", 9, cpu("1"), nominated("n")), []any{aPod("v", 9, on("n"), byPreemption)}, true},
		{"on another node", aPod("p", 9, cpu("1"), nominated("m")), []any{aNode("m", "1"), aPod("m", 20, on("m"), cpu("1")), aPod("v", 0, on("n"), byPreemption)}, true},
		{"the nominated node is gone", aPod("p", 9, cpu("1"), nominated("gone")), []any{aPod("v", 0, on("n"), byPreemption)}, true},
		{"the nominated node became unresolvable", aPod("p", 9, cpu("2"), nominated("n")), []any{aPod("v", 0, on("n"), byPreemption)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Decide(aCluster(tt.preemptor, append(tt.pods, full, aNode("n", "1"))...), Documented())
			assert.NoError(t, err)
			if assert.NotNil(t, d.Eligible) {
				assert.Equal(t, tt.want, d.Eligible.OK, d.Eligible.Reason)
			}
		})
	}
}
