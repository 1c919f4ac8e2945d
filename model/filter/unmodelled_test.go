package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// A selector that cannot be read is reported, wherever it is; one of all namespaces needs no labels of any.
func TestUnmodelledSelectors(t *testing.T) {
	odd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is", Values: []string{"a"}}}}
	spread := func(selectors ...*metav1.LabelSelector) func(*v1.Pod) {
		return func(p *v1.Pod) {
			for _, s := range selectors {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints,
					v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: s})
			}
		}
	}
	near := func(change ...func(*v1.PodAffinityTerm)) func(*v1.Pod) {
		return func(p *v1.Pod) {
			for _, f := range change {
				mk.Near("zone", "a")(p)
				terms := p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
				f(&terms[len(terms)-1])
			}
		}
	}
	away := func(change func(*v1.PodAffinityTerm)) func(*v1.Pod) {
		return func(p *v1.Pod) {
			mk.Away("zone", "a")(p)
			change(&p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
		}
	}
	plain := func(*v1.PodAffinityTerm) {}
	oddPods := func(t *v1.PodAffinityTerm) { t.LabelSelector = odd }
	oddNamespaces := func(t *v1.PodAffinityTerm) { t.NamespaceSelector = odd }
	everywhere := func(t *v1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} }
	red := func(t *v1.PodAffinityTerm) { t.NamespaceSelector = mk.ForApp("red") }
	known := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	const required = ".requiredDuringSchedulingIgnoredDuringExecution"
	for _, tt := range []struct {
		name   string
		plugin filter.Partial
		p      *v1.Pod
		bound  []any
		want   []string
	}{
		{"spread", filter.PodTopologySpread{}, mk.Pod("p", 9, spread(mk.ForApp("a"), odd)), nil, []string{"Pod default/p: spec.topologySpreadConstraints[1].labelSelector"}},
		{"spread, and it can be read", filter.PodTopologySpread{}, mk.Pod("p", 9, spread(mk.ForApp("a"), nil)), nil, nil},
		{"affinity", filter.InterPodAffinity{}, mk.Pod("p", 9, near(oddPods)), nil, []string{"Pod default/p: spec.affinity.podAffinity" + required + "[0]"}},
		{"affinity, the second term", filter.InterPodAffinity{}, mk.Pod("p", 9, near(plain, oddNamespaces)), nil, []string{"Pod default/p: spec.affinity.podAffinity" + required + "[1]"}},
		{"affinity, the term behind one of namespaces", filter.InterPodAffinity{}, mk.Pod("p", 9, near(red, oddPods)), []any{known}, []string{"Pod default/p: spec.affinity.podAffinity" + required + "[1]"}},
		{"affinity, both terms", filter.InterPodAffinity{}, mk.Pod("p", 9, near(oddPods, oddPods)), nil,
			[]string{"Pod default/p: spec.affinity.podAffinity" + required + "[0]", "Pod default/p: spec.affinity.podAffinity" + required + "[1]"}},
		{"anti-affinity", filter.InterPodAffinity{}, mk.Pod("p", 9, away(oddPods)), nil, []string{"Pod default/p: spec.affinity.podAntiAffinity" + required + "[0]"}},
		{"anti-affinity of the second pod", filter.InterPodAffinity{}, mk.Pod("p", 9), []any{mk.Pod("x", 0, mk.On("n"), away(plain)), mk.Pod("y", 0, mk.On("n"), away(oddNamespaces))},
			[]string{"Pod default/y: spec.affinity.podAntiAffinity" + required + "[0]"}},
		{"affinity of another pod", filter.InterPodAffinity{}, mk.Pod("p", 9), []any{mk.Pod("x", 0, mk.On("n"), near(oddPods))}, nil},
		{"a term of all namespaces", filter.InterPodAffinity{}, mk.Pod("p", 9, near(everywhere)), nil, nil},
		{"a term of its own namespace", filter.InterPodAffinity{}, mk.Pod("p", 9, near(plain)), nil, nil},
		{"a term of namespaces that are known", filter.InterPodAffinity{}, mk.Pod("p", 9, near(red)), []any{known, mk.Pod("x", 0, mk.On("n"))}, nil},
		{"a term of namespaces of which another pod's is not known", filter.InterPodAffinity{}, mk.Pod("p", 9, near(red)), []any{known, mk.Pod("x", 0, mk.On("n")), mk.Pod("y", 0, mk.In("other"))},
			[]string{"Pod default/p: spec.affinity.podAffinity" + required + "[0].namespaceSelector"}},
		{"a term of namespaces of which none is known is told once", filter.InterPodAffinity{}, mk.Pod("p", 9, near(red)), []any{mk.Pod("y", 0, mk.In("other"))},
			[]string{"Pod default/p: spec.affinity.podAffinity" + required + "[0].namespaceSelector"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			tt.plugin.Unmodelled(model.NewSnapshot(mk.Cluster(tt.p, append(tt.bound, mk.Node("n", "9"))...)), func(object, field, _ string) { got = append(got, object+": "+field) })
			require.Equal(t, tt.want, got)
		})
	}
}
