package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestFilters(t *testing.T) {
	small := mk.Node("n", "2")
	ports := func(ports ...v1.ContainerPort) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := mk.Container()
			c.Ports = ports
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
	}
	port := func(ip string, n int32) v1.ContainerPort {
		return v1.ContainerPort{HostIP: ip, HostPort: n, Protocol: v1.ProtocolTCP}
	}
	terms := func(terms ...v1.NodeSelectorTerm) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
	}
	label := func(key string, op v1.NodeSelectorOperator, values ...string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	tolerates := func(ts ...v1.Toleration) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.Tolerations = ts } }
	tainted := mk.Node("n", "2", func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "k", Value: "v", Effect: v1.TaintEffectNoSchedule}}
	})
	cordoned := mk.Node("n", "2", func(n *v1.Node) { n.Spec.Unschedulable = true })
	labelled := mk.Node("n", "2", func(n *v1.Node) { n.Labels = map[string]string{"size": "5", "zone": "a"} })

	tests := []struct {
		name      string
		preemptor *v1.Pod
		node      *v1.Node
		pods      []any
		want      string // Verdict as text; "" fits
	}{
		{"room", mk.Pod("p", 9, mk.CPU("1")), small, []any{mk.Pod("a", 0, mk.On("n"), mk.CPU("1"))}, ""},
		{"no room", mk.Pod("p", 9, mk.CPU("1500m")), small, []any{mk.Pod("a", 0, mk.On("n"), mk.CPU("1"))}, "NodeResourcesFit"},
		{"never room", mk.Pod("p", 9, mk.CPU("3")), small, nil, "NodeResourcesFit (unresolvable)"},
		{"no room beside two", mk.Pod("p", 9, mk.CPU("1")), small, []any{mk.Pod("a", 0, mk.On("n"), mk.CPU("1")), mk.Pod("b", 0, mk.On("n"), mk.CPU("1"))}, "NodeResourcesFit"},
		{"asking for nothing fits an over-committed node", mk.Pod("p", 9), small, []any{mk.Pod("a", 0, mk.On("n"), mk.CPU("5"))}, ""},
		{"too many pods", mk.Pod("p", 9), mk.Node("n", "2", func(n *v1.Node) { n.Status.Allocatable = mk.Resources("pods", "1") }), []any{mk.Pod("a", 0, mk.On("n"))}, "NodeResourcesFit"},
		{"no pods allowed at all", mk.Pod("p", 9), mk.Node("n", "2", func(n *v1.Node) { n.Status.Allocatable = nil }), nil, "NodeResourcesFit"},
		{"port taken", mk.Pod("p", 9, ports(port("", 80))), small, []any{mk.Pod("a", 0, mk.On("n"), ports(port("10.0.0.1", 80)))}, "NodePorts"},
		{"port of another address", mk.Pod("p", 9, ports(port("10.0.0.2", 80))), small, []any{mk.Pod("a", 0, mk.On("n"), ports(port("10.0.0.1", 80)))}, ""},
		{"port taken by the second pod", mk.Pod("p", 9, ports(port("", 80))), small, []any{mk.Pod("a", 0, mk.On("n")), mk.Pod("b", 0, mk.On("n"), ports(port("", 80)))}, "NodePorts"},
		{"the second port taken", mk.Pod("p", 9, ports(port("", 79), port("", 80))), small, []any{mk.Pod("a", 0, mk.On("n"), ports(port("", 80)))}, "NodePorts"},
		{"other protocol", mk.Pod("p", 9, ports(v1.ContainerPort{HostPort: 80, Protocol: v1.ProtocolUDP})), small, []any{mk.Pod("a", 0, mk.On("n"), ports(port("", 80)))}, ""},
		{"untolerated", mk.Pod("p", 9), tainted, nil, "TaintToleration (unresolvable)"},
		{"tolerated by value", mk.Pod("p", 9, tolerates(v1.Toleration{Key: "k", Value: "v"})), tainted, nil, ""},
		{"another value", mk.Pod("p", 9, tolerates(v1.Toleration{Key: "k", Value: "w"})), tainted, nil, "TaintToleration (unresolvable)"},
		{"another effect", mk.Pod("p", 9, tolerates(v1.Toleration{Key: "k", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute})), tainted, nil, "TaintToleration (unresolvable)"},
		{"everything tolerated", mk.Pod("p", 9, tolerates(v1.Toleration{Operator: v1.TolerationOpExists})), tainted, nil, ""},
		{"cordoned", mk.Pod("p", 9), cordoned, nil, "NodeUnschedulable (unresolvable)"},
		{"cordoned and tolerated", mk.Pod("p", 9, tolerates(v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists})), cordoned, nil, ""},
		{"In", mk.Pod("p", 9, terms(label("zone", v1.NodeSelectorOpIn, "b", "a"))), labelled, nil, ""},
		{"In without the label", mk.Pod("p", 9, terms(label("rack", v1.NodeSelectorOpIn, "a"))), labelled, nil, "NodeAffinity (unresolvable)"},
		{"NotIn without the label", mk.Pod("p", 9, terms(label("rack", v1.NodeSelectorOpNotIn, "a"))), labelled, nil, ""},
		{"NotIn", mk.Pod("p", 9, terms(label("zone", v1.NodeSelectorOpNotIn, "a"))), labelled, nil, "NodeAffinity (unresolvable)"},
		{"DoesNotExist", mk.Pod("p", 9, terms(label("zone", v1.NodeSelectorOpDoesNotExist))), labelled, nil, "NodeAffinity (unresolvable)"},
		{"Gt", mk.Pod("p", 9, terms(label("size", v1.NodeSelectorOpGt, "4"))), labelled, nil, ""},
		{"Gt of the same", mk.Pod("p", 9, terms(label("size", v1.NodeSelectorOpGt, "5"))), labelled, nil, "NodeAffinity (unresolvable)"},
		{"Lt of no number", mk.Pod("p", 9, terms(label("zone", v1.NodeSelectorOpLt, "5"))), labelled, nil, "NodeAffinity (unresolvable)"},
		{"one of two terms", mk.Pod("p", 9, terms(label("rack", v1.NodeSelectorOpExists), label("zone", v1.NodeSelectorOpExists))), labelled, nil, ""},
		{"an empty term matches nothing", mk.Pod("p", 9, terms(v1.NodeSelectorTerm{})), labelled, nil, "NodeAffinity (unresolvable)"},
		{"nodeSelector", mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "b"} }), labelled, nil, "NodeAffinity (unresolvable)"},
		{"room held for an equal pod", mk.Pod("p", 9, mk.CPU("2")), small, []any{mk.Pod("a", 9, mk.Nominated("n"), mk.CPU("1"))}, "NodeResourcesFit"},
		{"room not held for a lower pod", mk.Pod("p", 9, mk.CPU("2")), small, []any{mk.Pod("a", 8, mk.Nominated("n"), mk.CPU("1"))}, ""},
		{"another scheduler's nomination is not known", mk.Pod("p", 9, mk.CPU("2")), small,
			[]any{mk.Pod("a", 9, mk.Nominated("n"), mk.CPU("1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, verdictOnN(tt.preemptor, append(tt.pods, tt.node)...))
		})
	}
}

func TestNodeAffinityPreFilter(t *testing.T) {
	term := func(op v1.NodeSelectorOperator, names ...string) v1.NodeSelectorTerm {
		t := v1.NodeSelectorTerm{}
		for _, name := range names {
			t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: op, Values: []string{name}})
		}
		return t
	}
	nodes := func(names ...string) filter.Answer {
		out := map[string]bool{}
		for _, n := range names {
			out[n] = true
		}
		return filter.Answer{Nodes: out}
	}
	tests := []struct {
		name  string
		terms []v1.NodeSelectorTerm
		want  filter.Answer
	}{
		{"one name", []v1.NodeSelectorTerm{term(v1.NodeSelectorOpIn, "a")}, nodes("a")},
		{"terms are ORed", []v1.NodeSelectorTerm{term(v1.NodeSelectorOpIn, "a"), term(v1.NodeSelectorOpIn, "b")}, nodes("a", "b")},
		{"requirements are ANDed", []v1.NodeSelectorTerm{term(v1.NodeSelectorOpIn, "a", "b")}, filter.Rejected(filter.NodeAffinityReason)},
		{"a term without a name leaves all", []v1.NodeSelectorTerm{term(v1.NodeSelectorOpIn, "a"), term(v1.NodeSelectorOpNotIn, "b")}, filter.Answer{}},
		{"no terms", nil, filter.Answer{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := mk.Pod("p", 0)
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: tt.terms},
			}}
			_, got := filter.NodeAffinity{}.PreFilter(model.NewSnapshot(mk.Cluster(p)))
			assert.Equal(t, tt.want, got)
		})
	}
}
