package filter

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

// Taints are compared as whole numbers, by the feature gate only (KEP-5471).
func TestComparedTaints(t *testing.T) {
	for _, tt := range []struct {
		operator        v1.TolerationOperator
		tolerated, has  string
		withGate, plain bool
	}{
		{v1.TolerationOpGt, "5", "6", true, false},
		{v1.TolerationOpGt, "5", "5", false, false},
		{v1.TolerationOpGt, "5", "4", false, false},
		{v1.TolerationOpGt, "-5", "-4", true, false},
		{v1.TolerationOpGt, "5", "10", true, false},
		{v1.TolerationOpLt, "5", "4", true, false},
		{v1.TolerationOpLt, "5", "5", false, false},
		{v1.TolerationOpLt, "5", "6", false, false},
		{v1.TolerationOpGt, "5", "high", false, false},
		{v1.TolerationOpLt, "5", "04", false, false},
		{v1.TolerationOpGt, "+5", "6", false, false},
		{v1.TolerationOpEqual, "5", "5", true, true},
		{"", "5", "6", false, false},
		{v1.TolerationOpExists, "", "6", true, true},
	} {
		toleration := &v1.Toleration{Key: "k", Operator: tt.operator, Value: tt.tolerated}
		taint := &v1.Taint{Key: "k", Value: tt.has, Effect: v1.TaintEffectNoSchedule}
		require.Equal(t, tt.withGate, tolerations{compares: true}.matches(toleration, taint), "%+v", tt)
		require.Equal(t, tt.plain, tolerations{}.matches(toleration, taint), "%+v", tt)
	}
}

// Each taint that keeps pods away has to be tolerated, by any toleration.
func TestTolerateAll(t *testing.T) {
	taints := func(effects ...v1.TaintEffect) (out []v1.Taint) {
		for _, effect := range effects {
			out = append(out, v1.Taint{Key: "k", Value: "v", Effect: effect})
		}
		return out
	}
	const keeps, evicts, prefers = v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule
	exists := v1.Toleration{Key: "k", Operator: v1.TolerationOpExists}
	ofKeeps := v1.Toleration{Key: "k", Operator: v1.TolerationOpExists, Effect: keeps}
	another := v1.Toleration{Key: "l", Operator: v1.TolerationOpExists}
	strange := v1.Toleration{Key: "k", Operator: "In", Value: "v"}
	for _, tt := range []struct {
		name   string
		taints []v1.Taint
		list   []v1.Toleration
		want   bool
	}{
		{"none", nil, nil, true},
		{"only preferred", taints(prefers), nil, true},
		{"NoSchedule", taints(keeps), nil, false},
		{"NoExecute", taints(evicts), nil, false},
		{"the second", taints(prefers, evicts), nil, false},
		{"all effects", taints(keeps, evicts), []v1.Toleration{exists}, true},
		{"one effect", taints(keeps), []v1.Toleration{ofKeeps}, true},
		{"one effect of two", taints(keeps, evicts), []v1.Toleration{ofKeeps}, false},
		{"another key", taints(keeps), []v1.Toleration{another}, false},
		{"by the second toleration", taints(evicts), []v1.Toleration{another, exists}, true},
		{"an operator that there is not", taints(keeps), []v1.Toleration{strange}, false},
	} {
		require.Equal(t, tt.want, tolerations{list: tt.list}.tolerateAll(&v1.Node{Spec: v1.NodeSpec{Taints: tt.taints}}), tt.name)
	}
}
