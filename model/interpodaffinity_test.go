package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// near and away are a required term of affinity, or of anti-affinity, to pods of
// that app.
func near(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &v1.Affinity{}
		}
		if p.Spec.Affinity.PodAffinity == nil {
			p.Spec.Affinity.PodAffinity = &v1.PodAffinity{}
		}
		terms := &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, v1.PodAffinityTerm{TopologyKey: key, LabelSelector: forApp(value)})
	}
}

func away(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: key, LabelSelector: forApp(value)}}}}
	}
}

func in(namespace string) func(*v1.Pod) { return func(p *v1.Pod) { p.Namespace = namespace } }

func TestInterPodAffinity(t *testing.T) {
	const host, zone = v1.LabelHostname, "zone"
	n := aNode("n", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "n", zone: "z"} })
	neighbour := aNode("m", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "m", zone: "z"} })
	bare := aNode("bare", "2")
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
		{"near", aPod("p", 9, near(host, "a")), []any{aPod("a", 0, on("n"), app("a"))}, ""},
		{"near nobody", aPod("p", 9, near(host, "a")), nil, unmatched},
		{"near in another domain", aPod("p", 9, near(host, "a")), []any{aPod("a", 0, on("m"), app("a"))}, unmatched},
		{"near in the same zone", aPod("p", 9, near(zone, "a")), []any{aPod("a", 0, on("m"), app("a"))}, ""},
		{"near by a label that the node lacks", aPod("p", 9, near("rack", "a")), []any{aPod("a", 0, on("n"), app("a"))}, unmatched},
		{"each term another pod", aPod("p", 9, near(host, "a"), near(zone, "b")), []any{aPod("a", 0, on("n"), app("a")), aPod("b", 0, on("m"), app("b"))}, ""},
		{"one term nobody", aPod("p", 9, near(host, "a"), near(host, "b")), []any{aPod("a", 0, on("n"), app("a"))}, unmatched},
		{"the first of its group", aPod("p", 9, app("a"), near(host, "a")), nil, ""},
		{"the first without the label", aPod("p", 9, app("a"), near("rack", "a")), nil, unmatched},
		{"not the first", aPod("p", 9, app("a"), near(host, "a")), []any{aPod("a", 0, on("m"), app("a"))}, unmatched},
		{"not the first, by a pod in no domain", aPod("p", 9, app("a"), near(host, "a")), []any{aPod("a", 0, on("bare"), app("a"))}, unmatched},
		{"another namespace", aPod("p", 9, near(host, "a")), []any{aPod("a", 0, on("n"), app("a"), in("other"))}, unmatched},
		{"all namespaces", aPod("p", 9, near(host, "a"), everywhere), []any{aPod("a", 0, on("n"), app("a"), in("other"))}, ""},
		{"no selector", aPod("p", 9, near(host, "a"), nowhere), []any{aPod("a", 0, on("n"), app("a"))}, unmatched},
		{"near a nominated pod alone", aPod("p", 9, near(host, "a")), []any{aPod("a", 9, nominated("n"), app("a"))}, unmatched},

		{"away", aPod("p", 9, away(host, "a")), []any{aPod("a", 0, on("n"), app("a"))}, matched},
		{"away from another domain", aPod("p", 9, away(host, "a")), []any{aPod("a", 0, on("m"), app("a"))}, ""},
		{"away in the same zone", aPod("p", 9, away(zone, "a")), []any{aPod("a", 0, on("m"), app("a"))}, matched},
		{"away by a label that the node lacks", aPod("p", 9, away("rack", "a")), []any{aPod("a", 0, on("n"), app("a"))}, ""},
		{"away from itself", aPod("p", 9, app("a"), away(host, "a")), nil, ""},
		{"away from a nominated pod", aPod("p", 9, away(host, "a")), []any{aPod("a", 9, nominated("n"), app("a"))}, matched},

		{"shunned", aPod("p", 9, app("a")), []any{aPod("a", 0, on("n"), away(host, "a"))}, matched},
		{"shunned in the zone", aPod("p", 9, app("a")), []any{aPod("a", 0, on("m"), away(zone, "a"))}, matched},
		{"shunned elsewhere", aPod("p", 9, app("a")), []any{aPod("a", 0, on("m"), away(host, "a"))}, ""},
		{"shunned from another namespace", aPod("p", 9, app("a")), []any{aPod("a", 0, on("n"), in("other"), away(host, "a"))}, ""},
		{"shunned by a nominated pod", aPod("p", 9, app("a")), []any{aPod("a", 9, nominated("n"), away(host, "a"))}, matched},
		{"shunned by a lower nominated pod", aPod("p", 9, app("a")), []any{aPod("a", 8, nominated("n"), away(host, "a"))}, ""},
		{"others' affinity is theirs", aPod("p", 9), []any{aPod("a", 0, on("n"), near(host, "b"))}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if failed := ask(Documented(), tt.preemptor, append(tt.pods, n, neighbour, bare)...).verdicts()["n"]; failed != nil {
				got = failed.String()
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// Of namespaces selected by their labels, the labels have to be known.
func TestUnmodelledNamespaces(t *testing.T) {
	p := aPod("p", 9, near("zone", "a"))
	p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = forApp("red")
	red := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"app": "red"}}}
	zoned := aNode("n", "2", func(n *v1.Node) { n.Labels = map[string]string{"zone": "z"} })
	c := aCluster(p, zoned, aPod("a", 0, on("n"), app("a"), in("other")))
	c.Extra = append(c.Extra, red)
	_, err := Decide(c, Documented())
	require.ErrorContains(t, err, "requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector: the labels of namespace default")

	c.Extra = append(c.Extra, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	d, err := Decide(c, Documented())
	require.NoError(t, err)
	assert.Equal(t, []string{"n"}, d.Fits)
}
