package podgroup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// With its gate the preemption policy of a group is its own, without that of its pods.
func TestPolicyOfGroup(t *testing.T) {
	meek := mk.Pod("meek", 1, func(p *v1.Pod) { p.Spec.PreemptionPolicy = new(v1.PreemptNever) })
	never := func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptNever) }
	of := func(policy schedulingv1alpha3.PreemptionPolicy) func(*schedulingv1alpha3.CompositePodGroup) {
		return func(g *schedulingv1alpha3.CompositePodGroup) { g.Spec.PreemptionPolicy = &policy }
	}
	group, composite := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "g")
	for _, tt := range []struct {
		name     string
		group    any
		key      string
		gate     bool
		pod      *v1.Pod
		eligible bool
	}{
		{"of a pod", mk.Group("g", 1), group, false, mk.Pod("p", 1), true},
		{"of a meek pod", mk.Group("g", 1), group, false, meek, false},
		{"its own does not count without the gate", mk.Group("g", 1, never), group, false, mk.Pod("p", 1), true},
		{"that of its pods does not count with the gate", mk.Group("g", 1), group, true, meek, true},
		{"its own", mk.Group("g", 1, never), group, true, mk.Pod("p", 1), false},
		{"of a composite group", mk.Composite("g", "", 1, false, of(schedulingv1alpha3.PreemptNever)), composite, true, mk.Pod("p", 1), false},
		{"of a composite group that preempts", mk.Composite("g", "", 1, false, of(schedulingv1alpha3.PreemptLowerPriority)), composite, true, meek, true},
		{"of a composite group that does not say", mk.Composite("g", "", 1, false), composite, true, meek, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(nil, tt.group)
			c.PreemptorGroup, c.Settings.FeatureGates = tt.key, map[string]bool{podgroup.GatePolicy: tt.gate}
			assert.Equal(t, tt.eligible, podgroup.Eligible(&podgroup.Cycle{Cluster: c, Members: []*v1.Pod{tt.pod}}).OK)
		})
	}
}
