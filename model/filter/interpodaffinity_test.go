package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

func TestInterPodAffinity(t *testing.T) {
	const host, zone = v1.LabelHostname, "zone"
	n := mk.Node("n", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "n", zone: "z"} })
	neighbour := mk.Node("m", "2", func(n *v1.Node) { n.Labels = map[string]string{host: "m", zone: "z"} })
	bare := mk.Node("bare", "2")
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
		{"near by a label that the node lacks", mk.Pod("p", 9, mk.Near("rack", "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"each term another pod", mk.Pod("p", 9, mk.Near(host, "a"), mk.Near(zone, "b")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a")), mk.Pod("b", 0, mk.On("m"), mk.App("b"))}, ""},
		{"one term nobody", mk.Pod("p", 9, mk.Near(host, "a"), mk.Near(host, "b")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"the first of its group", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), nil, ""},
		{"the first without the label", mk.Pod("p", 9, mk.App("a"), mk.Near("rack", "a")), nil, unmatched},
		{"not the first", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, unmatched},
		{"not the first, by a pod in no domain", mk.Pod("p", 9, mk.App("a"), mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("bare"), mk.App("a"))}, unmatched},
		{"another namespace", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"), mk.In("other"))}, unmatched},
		{"all namespaces", mk.Pod("p", 9, mk.Near(host, "a"), everywhere), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"), mk.In("other"))}, ""},
		{"no selector", mk.Pod("p", 9, mk.Near(host, "a"), nowhere), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, unmatched},
		{"near a nominated pod alone", mk.Pod("p", 9, mk.Near(host, "a")), []any{mk.Pod("a", 9, mk.Nominated("n"), mk.App("a"))}, unmatched},

		{"away", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, matched},
		{"away from another domain", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, ""},
		{"away in the same zone", mk.Pod("p", 9, mk.Away(zone, "a")), []any{mk.Pod("a", 0, mk.On("m"), mk.App("a"))}, matched},
		{"away by a label that the node lacks", mk.Pod("p", 9, mk.Away("rack", "a")), []any{mk.Pod("a", 0, mk.On("n"), mk.App("a"))}, ""},
		{"away from itself", mk.Pod("p", 9, mk.App("a"), mk.Away(host, "a")), nil, ""},
		{"away from a nominated pod", mk.Pod("p", 9, mk.Away(host, "a")), []any{mk.Pod("a", 9, mk.Nominated("n"), mk.App("a"))}, matched},

		{"shunned", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("n"), mk.Away(host, "a"))}, matched},
		{"shunned in the zone", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("m"), mk.Away(zone, "a"))}, matched},
		{"shunned elsewhere", mk.Pod("p", 9, mk.App("a")), []any{mk.Pod("a", 0, mk.On("m"), mk.Away(host, "a"))}, ""},
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
