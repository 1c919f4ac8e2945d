package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestInterPodAffinity(t *testing.T) {
	const host, zone = v1.LabelHostname, "zone"
	n := mk.Node("n", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "n", zone: "z"} })
	neighbour := mk.Node("m", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "m", zone: "z"} })
	bare := mk.Node("bare", "2")
	first := mk.Node("first", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "first", zone: "z"} })
	const unmatched, matched = "InterPodAffinity (unresolvable)", "InterPodAffinity"
	everywhere := func(p *v1.Pod) {
		p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{}
	}
	nowhere := func(p *v1.Pod) {
		p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector = nil
	}

	tests := []struct {
		name      string
		preemptor *v1.Pod
		pods      []any
		want      string // on n
	}{
		{"near", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, ""},
		{"near nobody", mk.Pod("p", 9, mk.Near(host, "a")), nil, unmatched},
		{"near in another domain", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, unmatched},
		{"near in the same zone", mk.Pod("p", 9, mk.Near(zone, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, ""},
		{"near the second pod of the zone", mk.Pod("p", 9, mk.Near(zone, "a")), []any{mk.Pod("x", 0, mk.On("m")), mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, ""},
		{"near by a label that the node lacks", mk.Pod("p", 9, mk.Near("rack", "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"each term another pod", mk.Pod("p", 9, mk.Near(host, "a"), mk.Near(zone, "b")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a")), mk.Pod("b", 0, mk.On("m"), mk.App("b"))}, ""},
		{"one term nobody", mk.Pod("p", 9, mk.Near(host, "a"), mk.Near(host, "b")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"the first of its group", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), nil, ""},
		{"the first of its group, beside others", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{mk.Pod("b", 0, mk.On("n"), mk.App("b")), mk.Pod("c", 0, mk.On("m"), mk.App("b"))}, ""},
		{"the first without the label", mk.Pod("p", 9, mk.App("a"), mk.Near("rack", "a")), nil, unmatched},
		{"the first of its group, on the second node", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{first}, ""},
		{"not the first", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, unmatched},
		{"not the first, by a pod in no domain", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("bare"), mk.App("a"))}, unmatched},
		{"another namespace", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"), mk.In("other"))}, unmatched},
		{"all namespaces", mk.Pod("p", 9, mk.Near(host, "a"), everywhere), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"), mk.In("other"))}, ""},
		{"no selector", mk.Pod("p", 9, mk.Near(host, "a"), nowhere), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"near a nominated pod alone", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 9, mk.Nominated("n"), mk.App("a"))}, unmatched},

		{"away", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, matched},
		{"away from another domain", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, ""},
		{"away in the same zone", mk.Pod("p", 9, mk.Away(zone, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, matched},
		{"away in the same zone, beside one of no zone", mk.Pod("p", 9, mk.Away(zone, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a")), mk.Pod("b", 0, mk.On("bare"), mk.App("a"))}, matched},
		{"away by the second term", mk.Pod("p", 9, awayFrom("a", "b")), []any{mk.Pod("b", 0, mk.On("n"), mk.App("b"))}, matched},
		{"away by a label that the node lacks", mk.Pod("p", 9, mk.Away("rack", "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, ""},
		{"away from one on a node that comes first", mk.Pod("p", 9, mk.Away(zone, "a")), []any{first, mk.Pod("a", 0, mk.On("first"), mk.App("a"))}, matched},
		{"away by the second of two terms about one pod", mk.Pod("p", 9, awayFrom("a", "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, matched},
		{"away from itself", mk.Pod("p", 9, mk.App("a"), mk.Away(host, "a")), nil, ""},
		{"away from a nominated pod", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 9, mk.Nominated("n"), mk.App("a"))}, matched},

		{"shunned", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("n"), mk.Away(host, "a"))}, matched},
		{"shunned in the zone", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("m"), mk.Away(zone, "a"))}, matched},
		{"shunned elsewhere", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("m"), mk.Away(host, "a"))}, ""},
		{"shunned by the second term", mk.Pod("p", 9, mk.App("b")), []any{mk.Pod("a", 0, mk.On("n"), awayFrom("a", "b"))}, matched},
		{"shunned from another namespace", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("n"), mk.In("other"), mk.Away(host, "a"))}, ""},
		{"shunned by a nominated pod", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 9, mk.Nominated("n"), mk.Away(host, "a"))}, matched},
		{"shunned by a lower nominated pod", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 8, mk.Nominated("n"), mk.Away(host, "a"))}, ""},
		{"others' affinity is theirs", mk.Pod("p", 9), []any{mk.Pod("a", 0, mk.On("n"), mk.Near(host, "b"))}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, verdictOnN(tt.preemptor, append(tt.pods, n, neighbour, bare)...))
		})
	}
}

// awayFrom keeps a pod from hosts with pods of one App, and from zones with those of another.
func awayFrom(onHosts, inZones string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		mk.Away(v1.LabelHostname, onHosts)(p)
		terms := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, v1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: mk.ForApp(inZones)})
	}
}

// What counts are the pods that are left on the node, and those of all others.
func TestInterPodAffinityOnceVictimsAreGone(t *testing.T) {
	const host = v1.LabelHostname
	labelled := func(name string) *v1.Node {
		return mk.Node(name, "2", func(n *v1.Node) { n.Labels = map[string]string{host: name, "zone": "z"} })
	}
	const away, shunned = "node(s) didn't match pod anti-affinity rules", "node(s) didn't satisfy existing pods anti-affinity rules"
	a, b := mk.Pod("a", 0, mk.On("n"), mk.App("a")), mk.Pod("b", 0, mk.On("m"), mk.App("b"))
	for _, tt := range []struct {
		name         string
		preemptor    *v1.Pod
		pods         []any
		before, left string // the reason; "" fits
	}{
		{"away", mk.Pod("p", 9, mk.Away(host, "a")), []any{a}, away, ""},
		{"away from another node's, too", mk.Pod("p", 9, awayFrom("a", "b")), []any{a, b}, away, away},
		{"away from both kinds, of which one is on another host", mk.Pod("p", 9, awayFrom("a", "b")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a")), b}, away, away},
		{"shunned", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("x", 0, mk.On("n"), mk.Away(host, "a"))}, shunned, ""},
		{"near", mk.Pod("p", 9, mk.Near(host, "a")), []any{a}, "", filter.NoPeers},
		{"near, and the first once it is gone", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{a}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := model.NewSnapshot(mk.Cluster(tt.preemptor, append(tt.pods, labelled("n"), labelled("m"))...))
			st, _ := filter.InterPodAffinity{}.PreFilter(s)
			n, reason := s.Nodes[0], func(failed *filter.Verdict) string {
				if failed == nil {
					return ""
				}
				return failed.Reasons[0]
			}
			for range 20 { // terms are counted in no order
				require.Equal(t, tt.before, reason(st.Fits(n, n.View())))
				st.(*filter.InterPodAffinityState).Count()
				require.Equal(t, tt.left, reason(st.Fits(n, filter.View{})))
			}
			require.Len(t, st.(*filter.InterPodAffinityState).AntiAffinity, len(filter.RequiredAntiAffinity(tt.preemptor)))
		})
	}
}

// Of namespaces selected by their labels, the labels have to be known.
func TestUnmodelledNamespaces(t *testing.T) {
	p := mk.Pod("p", 9, mk.Near("zone", "a"))
	p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = mk.ForApp("red")
	red := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"app": "red"}}}
	zoned := mk.Node("n", "2", func(n *v1.Node) { n.Labels = map[string]string{"zone": "z"} })
	c := mk.Cluster(p, zoned, mk.Pod("a", 0, mk.On("n"), mk.App("a"), mk.In("other")))
	c.Extra = append(c.Extra, red)
	_, err := answers.Decide(c, answers.Documented())
	require.ErrorContains(t, err, "requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector: the labels of namespace default")

	c.Extra = append(c.Extra, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	d, err := answers.Decide(c, answers.Documented())
	require.NoError(t, err)
	assert.Equal(t, []string{"n"}, d.Fits)
}

// Neither is what they are where a pod that runs selects them.
func TestUnmodelledNamespacesOfBoundPods(t *testing.T) {
	bound := mk.Pod("a", 0, mk.On("n"), mk.Away("zone", "a"))
	bound.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = mk.ForApp("red")
	_, err := answers.Decide(mk.Cluster(mk.Pod("p", 9, mk.App("a")), mk.Node("n", "2"), bound), answers.Documented())
	require.ErrorContains(t, err, "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector: the labels of namespace default")
}
