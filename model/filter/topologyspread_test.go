package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestTopologySpread(t *testing.T) {
	zone := func(name, value string, change ...func(*v1.Node)) *v1.Node {
		n := mk.Node(name, "9", change...)
		n.Labels = map[string]string{"zone": value, "host": name}
		return n
	}
	tainted := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "k", Effect: v1.TaintEffectNoSchedule}} }
	spread := func(skew int32, change ...func(*v1.TopologySpreadConstraint)) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := v1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: mk.ForApp("a")}
			for _, f := range change {
				f(&c)
			}
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
		}
	}
	minDomains := func(n int32) func(*v1.TopologySpreadConstraint) {
		return func(c *v1.TopologySpreadConstraint) { c.MinDomains = &n }
	}
	selects := func(s *metav1.LabelSelector) func(*v1.TopologySpreadConstraint) {
		return func(c *v1.TopologySpreadConstraint) { c.LabelSelector = s }
	}
	over := func(key string) func(*v1.TopologySpreadConstraint) {
		return func(c *v1.TopologySpreadConstraint) { c.TopologyKey = key }
	}
	byKey := func(c *v1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"version", "unknown"} }
	ignore, honor := v1.NodeInclusionPolicyIgnore, v1.NodeInclusionPolicyHonor
	honoured := func(c *v1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor }
	anyway := func(c *v1.TopologySpreadConstraint) { c.WhenUnsatisfiable = v1.ScheduleAnyway }
	labelled := func(pairs ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Labels = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				p.Labels[pairs[i]] = pairs[i+1]
			}
		}
	}
	inZoneA := func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "a"} }
	elsewhere := func(p *v1.Pod) { p.Namespace = "other" }
	n, m := zone("n", "a"), zone("m", "b")
	one := mk.Pod("x", 0, mk.On("n"), mk.App("a"))
	const fails, never = "PodTopologySpread", "PodTopologySpread (unresolvable)"

	tests := []struct {
		name      string
		preemptor *v1.Pod
		objects   []any
		want      string // of node n
	}{
		{"the emptiest domain", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, mk.Pod("x", 0, mk.On("m"), mk.App("a"))}, ""},
		{"as many as elsewhere", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, one, mk.Pod("y", 0, mk.On("m"), mk.App("a"))}, ""},
		{"one more than elsewhere", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, one}, fails},
		{"which a larger skew allows", mk.Pod("p", 9, mk.App("a"), spread(2)), []any{n, m, one}, ""},
		{"the only domain", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, one}, ""},
		{"two nodes of a domain add up", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, zone("o", "a"), mk.Pod("x", 0, mk.On("o"), mk.App("a"))}, fails},
		{"two empty nodes of a domain", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, zone("o", "a")}, ""},
		{"two pods of a node", mk.Pod("p", 9, mk.App("a"), spread(2)), []any{n, m, one, mk.Pod("y", 0, mk.On("n"), mk.App("a"))}, fails},
		{"too few domains", mk.Pod("p", 9, mk.App("a"), spread(1, minDomains(2))), []any{n, one}, fails},
		{"enough domains", mk.Pod("p", 9, mk.App("a"), spread(1, minDomains(2))), []any{n, m, one, mk.Pod("y", 0, mk.On("m"), mk.App("a"))}, ""},
		{"not one of those that it spreads", mk.Pod("p", 9, mk.App("b"), spread(1)), []any{n, m, one}, ""},
		{"another namespace", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, mk.Pod("x", 0, mk.On("n"), mk.App("a"), elsewhere)}, ""},
		{"terminating", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, mk.Pod("x", 0, mk.On("n"), mk.App("a"), mk.Terminating)}, ""},
		{"nominated", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, mk.Pod("x", 9, mk.Nominated("n"), mk.App("a"))}, fails},
		{"nominated elsewhere", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, m, one, mk.Pod("y", 9, mk.Nominated("m"), mk.App("a"))}, fails},
		{"nominated to the only domain", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, mk.Pod("x", 9, mk.Nominated("n"), mk.App("a"))}, ""},
		{"no selector", mk.Pod("p", 9, mk.App("a"), spread(1, selects(nil))), []any{n, m, one}, ""},
		{"empty selector", mk.Pod("p", 9, spread(1, selects(&metav1.LabelSelector{}))), []any{n, m, one}, fails},
		{"ScheduleAnyway", mk.Pod("p", 9, mk.App("a"), spread(1, anyway)), []any{n, m, one}, ""},
		{"ScheduleAnyway, and another constraint", mk.Pod("p", 9, mk.App("a"), spread(1, anyway), spread(1)), []any{n, m, one}, fails},
		{"a key of the same value", mk.Pod("p", 9, labelled("app", "a", "version", "1"), spread(1, byKey)), []any{n, m, mk.Pod("x", 0, mk.On("n"), labelled("app", "a", "version", "1"))}, fails},
		{"a key of another value", mk.Pod("p", 9, labelled("app", "a", "version", "1"), spread(1, byKey)), []any{n, m, mk.Pod("x", 0, mk.On("n"), labelled("app", "a", "version", "2"))}, ""},
		{"a key that the pod has not", mk.Pod("p", 9, mk.App("a"), spread(1, byKey)), []any{n, m, mk.Pod("x", 0, mk.On("n"), labelled("app", "a", "version", "2"))}, fails},
		{"a node that is not selected", mk.Pod("p", 9, mk.App("a"), spread(1), inZoneA), []any{n, m, one}, ""},
		{"counts if affinity is ignored", mk.Pod("p", 9, mk.App("a"), spread(1, func(c *v1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore }), inZoneA), []any{n, m, one}, fails},
		{"a tainted node counts", mk.Pod("p", 9, mk.App("a"), spread(1)), []any{n, zone("m", "b", tainted), one}, fails},
		{"but not if taints are honoured", mk.Pod("p", 9, mk.App("a"), spread(1, honoured)), []any{n, zone("m", "b", tainted), one}, ""},
		{"nor if it comes first", mk.Pod("p", 9, mk.App("a"), spread(1, honoured)), []any{zone("m", "b", tainted), n, one}, ""},
		{"while one without taints does", mk.Pod("p", 9, mk.App("a"), spread(1, honoured)), []any{n, m, one}, fails},
		{"no label", mk.Pod("p", 9, mk.App("a"), spread(1, over("rack"))), []any{n}, never},
		{"the first constraint that fails counts", mk.Pod("p", 9, mk.App("a"), spread(1), spread(1, over("host"))), []any{n, m, one}, fails},
		{"the second constraint fails", mk.Pod("p", 9, mk.App("a"), spread(9), spread(1, over("host"))), []any{n, m, one}, fails},
		{"a node without one of the keys is left out", mk.Pod("p", 9, mk.App("a"), spread(1), spread(9, over("host"))),
			[]any{n, mk.Node("m", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "b"} }), one}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, verdictOnN(tt.preemptor, tt.objects...))
		})
	}
}

// Keys narrow a selector to pods with the values of the pod itself, and make no selector of none.
func TestSpreadSelector(t *testing.T) {
	odd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is", Values: []string{"a"}}}}
	own := map[string]string{"app": "a", "version": "1", "track": "x"}
	for _, tt := range []struct {
		name     string
		selector *metav1.LabelSelector
		keys     []string
		matches  []bool // itself, one of another version, one of another track, one of another app
	}{
		{"no selector", nil, nil, []bool{false, false, false, false}},
		{"no selector, but a key", nil, []string{"version"}, []bool{false, false, false, false}},
		{"a selector that cannot be read", odd, []string{"version"}, []bool{false, false, false, false}},
		{"an empty selector", &metav1.LabelSelector{}, nil, []bool{true, true, true, true}},
		{"an empty selector, and a key", &metav1.LabelSelector{}, []string{"version"}, []bool{true, false, true, true}},
		{"two keys", mk.ForApp("a"), []string{"version", "track"}, []bool{true, false, false, false}},
		{"a key behind one that the pod has not", mk.ForApp("a"), []string{"unknown", "version"}, []bool{true, false, true, false}},
	} {
		selector := filter.SpreadSelector(&v1.TopologySpreadConstraint{LabelSelector: tt.selector, MatchLabelKeys: tt.keys}, own)
		var got []bool
		for _, of := range []labels.Set{own, {"app": "a", "version": "2", "track": "x"}, {"app": "a", "version": "1", "track": "y"}, {"app": "b", "version": "1", "track": "x"}} {
			got = append(got, selector.Matches(of))
		}
		require.Equal(t, tt.matches, got, tt.name)
	}
}
