package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// protects tells whether the documented rules have a budget protect a pod.
func protects(b *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
	mk.On("n")(p)
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("preemptor", 9), mk.Node("n", "1"), p, b))
	return cy.Protects(cy.Budgets[0], cy.Node("n").Pods[0])
}

func TestBudgetProtects(t *testing.T) {
	notIn := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}}}
	unknown := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is"}}}
	elsewhere := mk.Budget("b", 0, mk.ForApp("x"))
	elsewhere.Namespace = "other"
	processed := mk.Budget("b", 0, mk.ForApp("x"))
	processed.Status.DisruptedPods = map[string]metav1.Time{"p": metav1.Now()}

	assert.True(t, protects(mk.Budget("b", 0, mk.ForApp("x")), mk.Pod("p", 0, mk.App("x"))))
	assert.False(t, protects(mk.Budget("b", 0, mk.ForApp("x")), mk.Pod("p", 0, mk.App("y"))))
	assert.False(t, protects(elsewhere, mk.Pod("p", 0, mk.App("x"))), "another namespace")
	assert.False(t, protects(processed, mk.Pod("p", 0, mk.App("x"))), "disrupted already")
	assert.True(t, protects(processed, mk.Pod("other", 0, mk.App("x"))), "another pod was disrupted")
	assert.False(t, protects(mk.Budget("b", 0, nil), mk.Pod("p", 0, mk.App("x"))), "no selector")
	assert.True(t, protects(mk.Budget("b", 0, &metav1.LabelSelector{}), mk.Pod("p", 0, mk.App("x"))), "empty selector")
	assert.False(t, protects(mk.Budget("b", 0, unknown), mk.Pod("p", 0, mk.App("x"))), "a selector that nobody understands")
	assert.True(t, protects(mk.Budget("b", 0, notIn), mk.Pod("p", 0)), "NotIn matches a pod without labels")
}

// violations is what each of several equal pods of app x on node n violates.
func violations(t *testing.T, order []int, pods int, budgets ...any) []int {
	objects := append([]any{mk.Node("n", "1")}, budgets...)
	for i := range pods {
		objects = append(objects, mk.Pod(string(rune('a'+i)), 0, mk.On("n"), mk.App("x")))
	}
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), objects...))
	units := cy.Units.On(cy.Node("n"))
	counts, violated := cy.Violations(units, order)
	each := make([]int, len(units))
	for i, u := range units {
		each[i] = -1
		if b, violates := violated[u.Pods[0]]; violates {
			each[i] = b
		}
		assert.Equal(t, each[i] >= 0, counts[i] == 1)
	}
	return each
}

func TestViolations(t *testing.T) {
	assert.Equal(t, []int{-1, -1, 0}, violations(t, nil, 3, mk.Budget("b", 2, mk.ForApp("x"))))
	assert.Equal(t, []int{-1, -1}, violations(t, nil, 2), "no budget")

	// With two budgets over the same pods, a violation of the first leaves the
	// second untouched.
	tight, loose := mk.Budget("tight", 0, mk.ForApp("x")), mk.Budget("loose", 1, mk.ForApp("x"))
	assert.Equal(t, []int{0, 0}, violations(t, nil, 2, tight, loose))
	assert.Equal(t, []int{1, 0}, violations(t, nil, 2, loose, tight))
	assert.Equal(t, []int{0, 1}, violations(t, []int{1, 0}, 2, tight, loose), "listed the other way round")
}

// The rows are those of upstream's TestFilterVictimsWithPDBViolation (preemption/util_test.go:35@v1.37.1), in its order, but for the first, which has
// neither pods nor budgets: by what each unit violates budgets. Of an empty selector upstream says otherwise: see docs/findings/empty-selector.md.
func TestViolationsOfUpstream(t *testing.T) {
	pods := func(names ...string) (pods []any) {
		for _, name := range names {
			pods = append(pods, mk.Pod(name, 0, mk.On("n"), mk.App("x")))
		}
		return pods
	}
	group := []any{mk.Group("u", 0, mk.AsAWhole), mk.Pod("a", 0, mk.On("n"), mk.Member("u"), mk.App("x")), mk.Pod("b", 0, mk.On("n"), mk.Member("u"), mk.App("x"))}
	budget := func(name string, allowed int32, selector *metav1.LabelSelector, disrupted ...string) *policyv1.PodDisruptionBudget {
		b := mk.Budget(name, allowed, selector)
		b.Status.DisruptedPods = map[string]metav1.Time{}
		for _, pod := range disrupted {
			b.Status.DisruptedPods[pod] = metav1.Now()
		}
		return b
	}
	twice := mk.Pod("a", 0, mk.On("n"), mk.App("x"))
	twice.Labels["tier"] = "backend"
	for _, tt := range []struct {
		name    string
		objects []any
		want    []int
	}{
		{"no budget of it", append(pods("a"), budget("b", 0, mk.ForApp("y"))), []int{0}},
		{"a budget that is enough", append(pods("a"), budget("b", 1, mk.ForApp("x"))), []int{0}},
		{"one that is spent", append(pods("a"), budget("b", 0, mk.ForApp("x"))), []int{1}},
		{"two pods of a group", append(group, budget("b", 0, mk.ForApp("x"))), []int{2}},
		{"two, and a budget for both", append(group, budget("b", 2, mk.ForApp("x"))), []int{0}},
		{"two pods, and a budget for one", append(pods("a", "b"), budget("b", 1, mk.ForApp("x"))), []int{0, 1}},
		{"a pod that was disrupted", append(pods("a"), budget("b", 0, mk.ForApp("x"), "a")), []int{0}},
		{"an empty selector", append(pods("a"), budget("b", 0, &metav1.LabelSelector{})), []int{1}},
		{"two budgets", []any{twice, budget("b", 1, mk.ForApp("x")), budget("c", 0, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "backend"}})}, []int{1}},
	} {
		cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), append([]any{mk.WithGroups(), mk.Node("n", "1")}, tt.objects...)...))
		counts, _ := cy.Violations(cy.Units.On(cy.Node("n")), nil)
		assert.Equal(t, tt.want, counts, tt.name)
	}
}

// The pods of a group count one by one (the groups of upstream's
// TestFilterVictimsWithPDBViolation, preemption/util_test.go:35@v1.37.1, and two that
// are in part within their budget).
func TestViolationsOfGroups(t *testing.T) {
	for allowed, want := range [][]int{{2, 1}, {1, 1}, {0, 1}, {0, 0}} {
		c := mk.Cluster(mk.Pod("p", 9), mk.WithGroups(), mk.Node("n", "1"), mk.Node("m", "1"), mk.Group("u", 0, mk.AsAWhole), mk.Budget("b", int32(allowed), mk.ForApp("x")),
			mk.Pod("u1", 0, mk.On("n"), mk.Member("u"), mk.App("x")), mk.Pod("u2", 0, mk.On("m"), mk.Member("u"), mk.App("x")),
			mk.Pod("a", 0, mk.On("n"), mk.App("x")))
		cy := model.Documented().NewCycle(c)
		violations, violated := cy.Violations(cy.Units.On(cy.Node("n")), nil)
		assert.Equal(t, want, violations, "%d allowed", allowed)
		assert.Len(t, violated, want[0]+want[1])
	}
}
