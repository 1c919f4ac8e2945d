package variant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Node n is full: as it is the preemptor fails there, and removing pods can help.
func TestVariantsOfPlugin(t *testing.T) {
	none := func(p *v1.Pod) { p.Spec.Containers = nil }
	final := variant.Rejudge(func(_ filter.State, _ *filter.Node, _ filter.View, v *filter.Verdict) *filter.Verdict {
		return filter.Unresolvable(v.Reasons[0])
	})
	larger := variant.MisreadNodes(func(n *v1.Node) { n.Status.Allocatable = mk.Resources("cpu", "2", "pods", "9") })
	sees := variant.Rejudge(func(_ filter.State, _ *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
		if len(v.Pods[0].Spec.Containers) == 0 {
			return filter.Unresolvable("the pod on the node has no containers")
		}
		return failed
	})
	pods := func(n int) func(*filter.Snapshot) bool {
		return func(s *filter.Snapshot) bool { return s.Size() == n }
	}
	const fits, fails, never = "fits", "fails", "never fits"
	for _, test := range []struct {
		name   string
		change variant.OfPlugin
		want   string
	}{
		{"documented", func(p filter.Plugin) filter.Plugin { return p }, fails},
		{"Misread", variant.Misread(func(s *filter.Snapshot) { s.Preemptor.Pod = mk.Pod("p", 9) }), fits},
		{"MisreadPods", variant.MisreadPods(none), fits},
		{"MisreadPreemptor", variant.MisreadPreemptor(none), fits},
		{"MisreadPlaced", variant.MisreadPlaced(none), fits},
		{"MisreadNodes", larger, fits},
		{"MisreadObjects of another kind", variant.MisreadObjects(none), fails},
		{"Rejudge", final, never},
		{"Where it means something", variant.Where(pods(2), final), never},
		{"Where it means nothing", variant.Where(pods(3), final), fails},
		{"what is within sees what is misread", func(p filter.Plugin) filter.Plugin { return variant.MisreadPlaced(none)(sees(p)) }, never},
		{"what is around does not", func(p filter.Plugin) filter.Plugin { return sees(variant.MisreadPlaced(func(*v1.Pod) {})(p)) }, fails},
		{"one around another", func(p filter.Plugin) filter.Plugin { return final(variant.MisreadPlaced(func(*v1.Pod) {})(p)) }, never},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 0, mk.CPU("1"), mk.On("n"))))
			judge := func(p filter.Plugin) string {
				st, answer := p.PreFilter(s)
				require.Zero(t, answer)
				_, is := filter.As[*filter.ResourcesState](st)
				assert.True(t, is, "the plugin's own State is within")
				assert.True(t, st.Alike(s.Nodes[0].Pods[0], s.Nodes[0].Pods[0]))
				switch v := st.Fits(s.Nodes[0], filter.View{Pods: s.Nodes[0].Pods}); {
				case v == nil:
					return fits
				case v.Unresolvable:
					return never
				}
				return fails
			}
			changed := test.change(filter.NodeResourcesFit{})
			assert.Equal(t, "NodeResourcesFit", changed.Name())
			assert.Equal(t, test.want, judge(changed))
			assert.Equal(t, fails, judge(filter.NodeResourcesFit{}), "the snapshot is as before")
		})
	}
}

func TestRework(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "a"} }), mk.Node("n", "1")))
	rejects := variant.Rework(func(_ *filter.Snapshot, st filter.State, _ filter.Answer) (filter.State, filter.Answer) {
		return st, filter.Rejected("no")
	})(filter.NodeAffinity{})
	st, answer := rejects.PreFilter(s)
	assert.NotNil(t, st)
	assert.Equal(t, filter.Rejected("no"), answer)
	st, answer = variant.WithoutPreFilter()(rejects).PreFilter(s)
	assert.Zero(t, answer)
	assert.NotNil(t, st.Fits(s.Nodes[0], filter.View{}))
	s.Preemptor.Spec.NodeSelector = nil
	st, _ = variant.Rejudge[filter.State](nil)(filter.NodeAffinity{}).PreFilter(s)
	assert.Nil(t, st, "a plugin without a State has no verdicts to change")
}

func TestOnAndWithout(t *testing.T) {
	a, b, changed := filter.Plugin(filter.NodeName{}), filter.Plugin(filter.NodePorts{}), filter.Plugin(filter.NodeAffinity{})
	plugins := []filter.Plugin{a, b}
	assert.Equal(t, []filter.Plugin{a, changed}, variant.On(plugins, "NodePorts", func(filter.Plugin) filter.Plugin { return changed }))
	assert.Equal(t, plugins, variant.On(plugins, "NodeAffinity", variant.WithoutPreFilter()))
	assert.Equal(t, []filter.Plugin{b}, variant.Without(plugins, "NodeName"))
	assert.Equal(t, []filter.Plugin{a, b}, plugins, "they are copies")
}
