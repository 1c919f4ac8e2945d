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
