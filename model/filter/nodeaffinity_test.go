package filter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// What each operator makes of a label that a node has, and of one that it has not.
func TestRequirementMatches(t *testing.T) {
	const in, notIn, exists, absent, gt, lt = v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt
	for _, tt := range []struct {
		operator      v1.NodeSelectorOperator
		values        []string
		value         string
		with, without bool // the label
	}{
		{in, []string{"a", "b"}, "b", true, false},
		{in, []string{"a", ""}, "b", false, false},
		{notIn, []string{"a", "b"}, "b", false, true},
		{notIn, []string{"a", "b"}, "c", true, true},
		{notIn, []string{"a", "b c"}, "d", true, true},
		{exists, nil, "a", true, false},
		{absent, nil, "a", false, true},
		{gt, []string{"9"}, "10", true, false},
		{gt, []string{"10"}, "10", false, false},
		{gt, []string{"-1"}, "a", false, false},
		{gt, []string{"a"}, "10", false, false},
		{gt, []string{"1", "2"}, "10", false, false},
		{gt, nil, "10", false, false},
		{lt, []string{"11"}, "10", true, false},
		{lt, []string{"10"}, "10", false, false},
		{lt, []string{"9"}, "10", false, false},
		{lt, []string{"11"}, "a", false, false},
		{lt, []string{"99"}, "", false, false},
		{"Is", []string{"a"}, "a", false, false},
	} {
		r := &v1.NodeSelectorRequirement{Key: "k", Operator: tt.operator, Values: tt.values}
		require.Equal(t, tt.with, requirementMatches(r, tt.value, true), "%+v", tt)
		require.Equal(t, tt.without, requirementMatches(r, "", false), "%+v", tt)
	}
}

// All that a term asks for has to be so: of labels and of the name.
func TestTermMatches(t *testing.T) {
	label := func(key string) v1.NodeSelectorRequirement {
		return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpExists}
	}
	name := func(op v1.NodeSelectorOperator, name string) v1.NodeSelectorRequirement {
		return v1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: op, Values: []string{name}}
	}
	type all = []v1.NodeSelectorRequirement
	const in, notIn = v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn
	zone := func(op v1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirement {
		return v1.NodeSelectorRequirement{Key: "zone", Operator: op, Values: values}
	}
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a", "rack": "b"}}}
	for _, tt := range []struct {
		labels, fields all
		want           bool
	}{
		{nil, nil, false},
		{all{label("zone")}, nil, true},
		{all{label("zone"), label("rack")}, nil, true},
		{all{label("zone"), label("disk")}, nil, false},
		{nil, all{name(in, "n")}, true},
		{nil, all{name(notIn, "m"), name(in, "m")}, false},
		{all{label("zone")}, all{name(in, "n")}, true},
		{all{label("zone")}, all{name(in, "m")}, false},
		{all{label("disk")}, all{name(in, "n")}, false},
		// What no label can be makes nothing of a term, but names of nodes are longer.
		{all{zone(in, "a", "b c")}, nil, false},
		{all{zone(notIn, "b", "b c")}, nil, false},
		{all{label("zone")}, all{name(notIn, strings.Repeat("m", 64))}, true},
	} {
		require.Equal(t, tt.want, termMatches(&v1.NodeSelectorTerm{MatchExpressions: tt.labels, MatchFields: tt.fields}, n), "%+v", tt)
	}
}

// A node has to have all labels of the node selector, with their values.
func TestNodeSelector(t *testing.T) {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a", "rack": "b"}}}
	for _, tt := range []struct {
		selector map[string]string
		want     bool
	}{
		{nil, true},
		{map[string]string{"zone": "a"}, true},
		{map[string]string{"zone": "a", "rack": "b"}, true},
		{map[string]string{"zone": "a", "rack": "c"}, false},
		{map[string]string{"zone": "c", "rack": "b"}, false},
		{map[string]string{"zone": "a", "disk": ""}, false},
	} {
		for range 20 { // labels come in no order
			require.Equal(t, tt.want, MatchesNodeAffinity(&v1.Pod{Spec: v1.PodSpec{NodeSelector: tt.selector}}, n), "%+v", tt)
		}
	}
}
