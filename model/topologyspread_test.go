package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTopologySpread(t *testing.T) {
	zone := func(name, value string, change ...func(*v1.Node)) *v1.Node {
		n := aNode(name, "9", change...)
		n.Labels = map[string]string{"zone": value, "host": name}
		return n
	}
	tainted := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "k", Effect: v1.TaintEffectNoSchedule}} }
	spread := func(skew int32, change ...func(*v1.TopologySpreadConstraint)) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := v1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: forApp("a")}
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
	one := aPod("x", 0, on("n"), app("a"))
	const fails, never = "PodTopologySpread", "PodTopologySpread (unresolvable)"

	tests := []struct {
		name      string
		preemptor *v1.Pod
		objects   []any
		want      string // of node n
	}{
		{"the emptiest domain", aPod("p", 9, app("a"), spread(1)), []any{n, m, aPod("x", 0, on("m"), app("a"))}, ""},
		{"as many as elsewhere", aPod("p", 9, app("a"), spread(1)), []any{n, m, one, aPod("y", 0, on("m"), app("a"))}, ""},
		{"one more than elsewhere", aPod("p", 9, app("a"), spread(1)), []any{n, m, one}, fails},
		{"which a larger skew allows", aPod("p", 9, app("a"), spread(2)), []any{n, m, one}, ""},
		{"the only domain", aPod("p", 9, app("a"), spread(1)), []any{n, one}, ""},
		{"two nodes of a domain add up", aPod("p", 9, app("a"), spread(1)), []any{n, m, zone("o", "a"), aPod("x", 0, on("o"), app("a"))}, fails},
		{"too few domains", aPod("p", 9, app("a"), spread(1, minDomains(2))), []any{n, one}, fails},
		{"enough domains", aPod("p", 9, app("a"), spread(1, minDomains(2))), []any{n, m, one, aPod("y", 0, on("m"), app("a"))}, ""},
		{"not one of those that it spreads", aPod("p", 9, app("b"), spread(1)), []any{n, m, one}, ""},
		{"another namespace", aPod("p", 9, app("a"), spread(1)), []any{n, m, aPod("x", 0, on("n"), app("a"), elsewhere)}, ""},
		{"terminating", aPod("p", 9, app("a"), spread(1)), []any{n, m, aPod("x", 0, on("n"), app("a"), terminating)}, ""},
		{"nominated", aPod("p", 9, app("a"), spread(1)), []any{n, m, aPod("x", 9, nominated("n"), app("a"))}, fails},
		{"nominated elsewhere", aPod("p", 9, app("a"), spread(1)), []any{n, m, one, aPod("y", 9, nominated("m"), app("a"))}, fails},
		{"no selector", aPod("p", 9, app("a"), spread(1, selects(nil))), []any{n, m, one}, ""},
		{"empty selector", aPod("p", 9, spread(1, selects(&metav1.LabelSelector{}))), []any{n, m, one}, fails},
		{"ScheduleAnyway", aPod("p", 9, app("a"), spread(1, func(c *v1.TopologySpreadConstraint) { c.WhenUnsatisfiable = v1.ScheduleAnyway })), []any{n, m, one}, ""},
		{"a key of the same value", aPod("p", 9, labelled("app", "a", "version", "1"), spread(1, byKey)), []any{n, m, aPod("x", 0, on("n"), labelled("app", "a", "version", "1"))}, fails},
		{"a key of another value", aPod("p", 9, labelled("app", "a", "version", "1"), spread(1, byKey)), []any{n, m, aPod("x", 0, on("n"), labelled("app", "a", "version", "2"))}, ""},
		{"a key that the pod has not", aPod("p", 9, app("a"), spread(1, byKey)), []any{n, m, aPod("x", 0, on("n"), labelled("app", "a", "version", "2"))}, fails},
		{"a node that is not selected", aPod("p", 9, app("a"), spread(1), inZoneA), []any{n, m, one}, ""},
		{"counts if affinity is ignored", aPod("p", 9, app("a"), spread(1, func(c *v1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore }), inZoneA), []any{n, m, one}, fails},
		{"a tainted node counts", aPod("p", 9, app("a"), spread(1)), []any{n, zone("m", "b", tainted), one}, fails},
		{"but not if taints are honoured", aPod("p", 9, app("a"), spread(1, func(c *v1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor })), []any{n, zone("m", "b", tainted), one}, ""},
		{"no label", aPod("p", 9, app("a"), spread(1, over("rack"))), []any{n}, never},
		{"the first constraint that fails counts", aPod("p", 9, app("a"), spread(1), spread(1, over("host"))), []any{n, m, one}, fails},
		{"a node without one of the keys is left out", aPod("p", 9, app("a"), spread(1), spread(9, over("host"))),
			[]any{n, aNode("m", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "b"} }), one}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if failed := ask(Documented(), tt.preemptor, tt.objects...).verdicts()["n"]; failed != nil {
				got = failed.String()
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
