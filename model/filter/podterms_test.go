package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// A pod goes with another one that all its terms select, in the namespaces that they are about.
func TestGoesWith(t *testing.T) {
	about := func(selector *metav1.LabelSelector, namespaces ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			term := &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			term.NamespaceSelector, term.Namespaces = selector, namespaces
		}
	}
	odd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is", Values: []string{"a"}}}}
	near, a := mk.Near("zone", "a"), mk.App("a")
	for _, tt := range []struct {
		name     string
		p, other *v1.Pod
		want     bool
	}{
		{"no terms", mk.Pod("p", 9), mk.Pod("x", 0, a), false},
		{"selected", mk.Pod("p", 9, near), mk.Pod("x", 0, a), true},
		{"not selected", mk.Pod("p", 9, near), mk.Pod("x", 0, mk.App("b")), false},
		{"by one of two terms", mk.Pod("p", 9, near, mk.Near("zone", "b")), mk.Pod("x", 0, a), false},
		{"anti-affinity", mk.Pod("p", 9, mk.Away("zone", "a")), mk.Pod("x", 0, a), false},
		{"in another namespace", mk.Pod("p", 9, near), mk.Pod("x", 0, a, mk.In("other")), false},
		{"in the namespace that is named", mk.Pod("p", 9, near, about(nil, "third", "other")), mk.Pod("x", 0, a, mk.In("other")), true},
		{"in its own, which is not named", mk.Pod("p", 9, near, about(nil, "other")), mk.Pod("x", 0, a), false},
		{"in its own, of which no labels are known", mk.Pod("p", 9, near, about(mk.ForApp("red"))), mk.Pod("x", 0, a), false},
		{"in any namespace", mk.Pod("p", 9, near, about(&metav1.LabelSelector{})), mk.Pod("x", 0, a, mk.In("other")), true},
		{"in one that is named beside a selector", mk.Pod("p", 9, near, about(mk.ForApp("red"), "other")), mk.Pod("x", 0, a, mk.In("other")), true},
		{"by a term that cannot be read", mk.Pod("p", 9, near, about(odd)), mk.Pod("x", 0, a), false},
	} {
		require.Equal(t, tt.want, filter.GoesWith(tt.p, tt.other), tt.name)
	}
}
