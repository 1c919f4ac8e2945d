package filter

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

// Each field of a term that says In leaves those of the names that are left, whatever comes before it; others leave all.
func TestNamedNodes(t *testing.T) {
	name := func(op v1.NodeSelectorOperator, names ...string) v1.NodeSelectorRequirement {
		return v1.NodeSelectorRequirement{Key: "metadata.name", Operator: op, Values: names}
	}
	for _, tt := range []struct {
		fields  []v1.NodeSelectorRequirement
		want    []string
		narrows bool
	}{
		{nil, nil, false},
		{[]v1.NodeSelectorRequirement{name(v1.NodeSelectorOpNotIn, "a")}, nil, false},
		{[]v1.NodeSelectorRequirement{name(v1.NodeSelectorOpIn, "a", "b")}, []string{"a", "b"}, true},
		{[]v1.NodeSelectorRequirement{name(v1.NodeSelectorOpNotIn, "a"), name(v1.NodeSelectorOpIn, "a", "b")}, []string{"a", "b"}, true},
		{[]v1.NodeSelectorRequirement{name(v1.NodeSelectorOpIn, "a", "b"), name(v1.NodeSelectorOpIn, "b", "c")}, []string{"b"}, true},
		{[]v1.NodeSelectorRequirement{name(v1.NodeSelectorOpIn, "a"), name(v1.NodeSelectorOpIn, "b")}, []string{}, true},
	} {
		names, narrows := NamedNodes(&v1.NodeSelectorTerm{MatchFields: tt.fields})
		require.Equal(t, tt.want, names, "%+v", tt.fields)
		require.Equal(t, tt.narrows, narrows, "%+v", tt.fields)
	}
}
