package podgroups

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// TestOrderWithOverlappingBudgets: pods of units in mode All are protected by two budgets, so that they may be charged in many orders. Most
// come to the same for the units after them, so that it is always decided whether an order of many units is allowed.
func TestOrderWithOverlappingBudgets(t *testing.T) {
	either := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}
	parts := []any{mk.WithGroups(), mk.Node("n", "1"), mk.Group("g", 9), mk.Budget("of-a", 0, mk.ForApp("a")), mk.Budget("of-both", 1, either)}
	for _, group := range []string{"u", "v"} {
		parts = append(parts, mk.Group(group, 1, mk.AsAWhole))
		for i, app := range []string{"a", "a", "a", "b"} {
			parts = append(parts, mk.Pod(fmt.Sprint(group, i), 1, mk.On("n"), mk.Member(group), mk.App(app)))
		}
	}
	const single = 14
	for i := range single {
		parts = append(parts, mk.Pod(fmt.Sprint("s", i), 1, mk.On("n"), mk.App("b"), mk.Started(i+1)))
	}
	c := mk.Cluster(nil, append(parts, mk.Pod("p", 9, mk.Member("g"), mk.CPU("1")))...)
	c.PreemptorGroup = "podgroup/default/g"
	s, err := Decide(c, release.Linked.Rules())
	require.NoError(t, err)
	possible, failure := s.Domain(s.Cycle)
	require.Empty(t, failure)
	require.Len(t, possible, single+2)
	victims := possible[2:] // each violates the budget that the first unit has used up

	check := func(violations int) (allowed, decided bool) {
		dis := s.admitsOrder(&model.GroupCycle{Violations: violations}, possible, victims)
		return dis == nil, dis == nil || !dis.Undecided
	}
	allowed, _ := check(single)
	assert.True(t, allowed)
	allowed, decided := check(single - 1)
	assert.False(t, allowed, "all violate")
	assert.True(t, decided)
}
