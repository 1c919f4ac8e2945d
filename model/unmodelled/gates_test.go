package unmodelled_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// All gates that are modelled are ones that some release does not know.
func TestGatesHaveReleases(t *testing.T) {
	for gate := range unmodelled.ModelledGates {
		c := mk.Cluster(mk.Pod("p", 9), model.Settings{FeatureGates: map[string]bool{gate: true}})
		assert.NotEmpty(t, vocabulary.Unknown(release.Releases()[0], c), gate)
	}
}

// With the gate by which room is made for pods whose resize is deferred, such pods are not modelled, and others are.
func TestDeferredResizes(t *testing.T) {
	on := model.Settings{FeatureGates: map[string]bool{filter.GateResizePreemption: true}}
	pending := func(reason string) func(p *v1.Pod) {
		return func(p *v1.Pod) {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Reason: v1.PodReasonDeferred}, {Type: v1.PodResizePending, Reason: reason}}
		}
	}
	for _, tt := range []struct {
		name      string
		preemptor func(p *v1.Pod)
		bound     func(p *v1.Pod)
		settings  model.Settings
		want      string
	}{
		{"of one that waits", pending(v1.PodReasonDeferred), nil, on,
			"Pod default/p: status.conditions: a deferred resize, with the feature gate InPlacePodVerticalScalingSchedulerPreemption"},
		{"of one that is bound", nil, pending(v1.PodReasonDeferred), on,
			"Pod default/a: status.conditions: a deferred resize, with the feature gate InPlacePodVerticalScalingSchedulerPreemption"},
		{"never possible", pending(v1.PodReasonInfeasible), pending(v1.PodReasonInfeasible), on, ""},
		{"no resize", nil, nil, on, ""},
		{"the gate is off", pending(v1.PodReasonDeferred), pending(v1.PodReasonDeferred), model.Settings{}, ""},
		{"the gate is off, and it is said", pending(v1.PodReasonDeferred), nil, model.Settings{FeatureGates: map[string]bool{filter.GateResizePreemption: false}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := func(p *v1.Pod, change func(p *v1.Pod)) *v1.Pod {
				if change != nil {
					change(p)
				}
				return p
			}
			c := mk.Cluster(change(mk.Pod("p", 9), tt.preemptor), tt.settings, mk.Node("n", "1"), change(mk.Pod("a", 0, mk.On("n")), tt.bound))
			got := ""
			for _, f := range unmodelled.In(c, model.NewSnapshot(c)) {
				got += f.String()
			}
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.want != "", unmodelled.MakesRoomForResizes(c))
		})
	}
}
