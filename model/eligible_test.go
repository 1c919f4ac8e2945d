package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

func TestEligible(t *testing.T) {
	never := v1.PreemptNever
	ready := func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
	}
	full := mk.Pod("full", 20, mk.On("n"), mk.CPU("1"))
	tests := []struct {
		name      string
		preemptor *v1.Pod
		pods      []any
		want      bool
	}{
		{"plain", mk.Pod("p", 9, mk.CPU("1")), nil, true},
		{"never", mk.Pod("p", 9, mk.CPU("1"), func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), nil, false},
		{"waits for its victim", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption)}, false},
		{"waits for its victim behind other pods", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("high", 9, mk.On("n")), mk.Pod("low", 0, mk.On("n")), mk.Pod("v", 0, mk.On("n"), mk.ByPreemption)}, false},
		{"waits for a victim with other conditions", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), ready, mk.ByPreemption)}, false},
		{"waits for the second of a group", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.WithGroups(), mk.Group("g", 0, mk.AsAWhole),
			mk.Pod("v", 0, mk.On("n"), mk.Member("g")), mk.Pod("w", 0, mk.On("n"), mk.Member("g"), mk.ByPreemption)}, false},
		{"the mark is false", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption, func(p *v1.Pod) { p.Status.Conditions[0].Status = v1.ConditionFalse })}, true},
		{"marked for another reason", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption, func(p *v1.Pod) { p.Status.Conditions[0].Reason = "EvictionByEvictionAPI" })}, true},
		{"the victim has just been marked", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption, func(p *v1.Pod) { p.DeletionTimestamp = nil })}, true},
		{"terminating for another reason", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.Terminating)}, true},
		{"not its victim", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), []any{mk.Pod("v", 9, mk.On("n"), mk.ByPreemption)}, true},
		{"on another node", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("m")), []any{mk.Node("m", "1"), mk.Pod("m", 20, mk.On("m"), mk.CPU("1")), mk.Pod("v", 0, mk.On("n"), mk.ByPreemption)}, true},
		{"the nominated node is gone", mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("gone")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption)}, true},
		{"the nominated node became unresolvable", mk.Pod("p", 9, mk.CPU("2"), mk.Nominated("n")), []any{mk.Pod("v", 0, mk.On("n"), mk.ByPreemption)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := model.Documented().Decide(mk.Cluster(tt.preemptor, append(tt.pods, full, mk.Node("n", "1"))...))
			if assert.NotNil(t, d.Eligible) {
				assert.Equal(t, tt.want, d.Eligible.OK, d.Eligible.Reason)
			}
		})
	}
}
