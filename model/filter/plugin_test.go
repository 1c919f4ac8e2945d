package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Two pods of a node can stand in for each other if all that a plugin sees of them is the same.
func TestAlike(t *testing.T) {
	port := func(n int32) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.Containers = []v1.Container{{Ports: []v1.ContainerPort{{HostPort: n}}}} }
	}
	requests := func(pairs ...string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(pairs...)} }
	}
	spread := func(values ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			for _, value := range values {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints,
					v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: mk.ForApp(value)})
			}
		}
	}
	type with = []func(*v1.Pod)
	for _, tt := range []struct {
		name      string
		plugin    filter.Plugin
		preemptor func(*v1.Pod)
		a, b      with
		want      bool
	}{
		{"one port", filter.NodePorts{}, port(80), with{port(80)}, with{port(80)}, true},
		{"two ports", filter.NodePorts{}, port(80), with{port(80)}, with{port(81)}, false},
		{"a port, and none", filter.NodePorts{}, port(80), with{port(80)}, nil, false},
		{"the same requests", filter.NodeResourcesFit{}, mk.CPU("1"), with{mk.CPU("1")}, with{mk.CPU("1000m")}, true},
		{"more CPU", filter.NodeResourcesFit{}, mk.CPU("1"), with{mk.CPU("1")}, with{mk.CPU("2")}, false},
		{"another resource", filter.NodeResourcesFit{}, mk.CPU("1"), with{mk.CPU("1")}, with{requests("cpu", "1", "memory", "1")}, false},
		{"nothing of another resource", filter.NodeResourcesFit{}, mk.CPU("1"), with{mk.CPU("1")}, with{requests("cpu", "1", "memory", "0")}, true},
		{"both count", filter.PodTopologySpread{}, spread("a"), with{mk.App("a")}, with{mk.App("a")}, true},
		{"one counts", filter.PodTopologySpread{}, spread("a"), with{mk.App("a")}, with{mk.App("b")}, false},
		{"one terminates", filter.PodTopologySpread{}, spread("a"), with{mk.App("a")}, with{mk.App("a"), mk.Terminating}, false},
		{"neither counts, but one is selected", filter.PodTopologySpread{}, spread("a"), with{mk.App("b")}, with{mk.App("a"), mk.Terminating}, false},
		{"one counts for the second constraint", filter.PodTopologySpread{}, spread("a", "b"), with{mk.App("b")}, with{mk.App("c")}, false},
		{"both are wanted", filter.InterPodAffinity{}, mk.Near("zone", "a"), with{mk.App("a")}, with{mk.App("a")}, true},
		{"one is wanted", filter.InterPodAffinity{}, mk.Near("zone", "a"), with{mk.App("a")}, with{mk.App("b")}, false},
		{"one is avoided", filter.InterPodAffinity{}, mk.Away("zone", "a"), with{mk.App("a")}, with{mk.App("b")}, false},
		{"both shun", filter.InterPodAffinity{}, mk.App("p"), with{mk.Away("zone", "p")}, with{mk.Away("zone", "p")}, true},
		{"one shuns", filter.InterPodAffinity{}, mk.App("p"), with{mk.Away("zone", "p")}, nil, false},
		{"pods play no part", filter.TaintToleration{}, mk.App("p"), with{mk.App("a")}, with{mk.App("b")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, tt.preemptor), mk.Node("n", "9"), mk.Pod("a", 0, append(tt.a, mk.On("n"))...), mk.Pod("b", 0, append(tt.b, mk.On("n"))...)))
			st, _ := tt.plugin.PreFilter(s)
			a, b := s.Nodes[0].Pods[0], s.Nodes[0].Pods[1]
			require.Equal(t, tt.want, st.Alike(a, b))
			require.Equal(t, tt.want, st.Alike(b, a))
		})
	}
	require.True(t, filter.Verdicts{}.Alike(nil, nil))
}

// A State is found behind all that are around it.
func TestAs(t *testing.T) {
	ports := &filter.PortsState{}
	for _, st := range []filter.State{ports, variant.Judge{State: ports}, variant.Judge{State: variant.Judge{State: ports}}} {
		found, ok := filter.As[*filter.PortsState](st)
		require.True(t, ok)
		require.Same(t, ports, found)
		_, ok = filter.As[*filter.ResourcesState](st)
		require.False(t, ok)
	}
	_, ok := filter.As[*filter.PortsState](nil)
	require.False(t, ok)
}

// Who is told a verdict may name the plugin in it, and what is told next is as before.
func TestVerdicts(t *testing.T) {
	failed := filter.Unresolvable("full")
	st, n := filter.Verdicts{nil, failed}, &filter.Node{Index: 1}
	require.Nil(t, st.Fits(&filter.Node{}, filter.View{}))
	told := st.Fits(n, filter.View{})
	require.Equal(t, failed, told)
	told.Plugin = "VolumeBinding"
	require.Equal(t, filter.Unresolvable("full"), st.Fits(n, filter.View{}))
}
