package hints_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/properties/lifetime/hints"
)

// Each reason of a plugin tells what has to go for it.
func TestMayGoneHelp(t *testing.T) {
	anti := func(app string) *v1.Affinity {
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: v1.LabelHostname,
		}}}}
	}
	port := func(n int32) []v1.Container {
		return []v1.Container{{Ports: []v1.ContainerPort{{ContainerPort: 80, HostPort: n}}}}
	}
	labelled := metav1.ObjectMeta{Labels: map[string]string{"app": "a"}}
	spread := func(app string) v1.PodSpec {
		return v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}}}
	}
	for _, test := range []struct {
		name, reasons string
		pod, gone     v1.Pod
		want          bool
	}{
		{name: "room", reasons: "2 Insufficient cpu", want: true},
		{name: "the number of pods", reasons: "2 Too many pods", want: true},
		{name: "a plugin that is not known", reasons: "1 no, thank you", want: true},
		{name: "node affinity", reasons: "2 node(s) didn't match Pod's node affinity/selector"},
		{name: "taints", reasons: "2 node(s) had untolerated taint(s)"},
		{name: "a taint with its name", reasons: "1 node(s) had untolerated taint {a: b}"},
		{name: "unschedulable nodes", reasons: "2 node(s) were unschedulable"},
		{name: "one of two reasons", reasons: "1 node(s) were unschedulable, 1 Insufficient cpu", want: true},
		{name: "a port, which it has not", reasons: "2 node(s) didn't have free ports for the requested pod ports", gone: v1.Pod{Spec: v1.PodSpec{Containers: port(0)}}},
		{name: "a port", reasons: "2 node(s) didn't have free ports for the requested pod ports", gone: v1.Pod{Spec: v1.PodSpec{Containers: port(80)}}, want: true},
		{name: "a port of a sidecar", reasons: "2 node(s) didn't have free ports for the requested pod ports", gone: v1.Pod{Spec: v1.PodSpec{InitContainers: port(80)}}, want: true},
		{name: "shunned by others", reasons: "2 node(s) didn't satisfy existing pods anti-affinity rules"},
		{name: "shunned by it", reasons: "2 node(s) didn't satisfy existing pods anti-affinity rules", gone: v1.Pod{Spec: v1.PodSpec{Affinity: anti("a")}}, want: true},
		{name: "shuns others", reasons: "2 node(s) didn't match pod anti-affinity rules", pod: v1.Pod{Spec: v1.PodSpec{Affinity: anti("b")}}, gone: v1.Pod{ObjectMeta: labelled}},
		{name: "shuns it", reasons: "2 node(s) didn't match pod anti-affinity rules", pod: v1.Pod{Spec: v1.PodSpec{Affinity: anti("a")}}, gone: v1.Pod{ObjectMeta: labelled}, want: true},
		{name: "counts others", reasons: "2 node(s) didn't match pod topology spread constraints", pod: v1.Pod{Spec: spread("b")}, gone: v1.Pod{ObjectMeta: labelled}},
		{name: "counts it", reasons: "2 node(s) didn't match pod topology spread constraints", pod: v1.Pod{Spec: spread("a")}, gone: v1.Pod{ObjectMeta: labelled}, want: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, hints.MayGoneHelp("0/2 nodes are available: "+test.reasons+".", &test.pod, &test.gone))
		})
	}
	require.True(t, hints.MayGoneHelp("something else", &v1.Pod{}, &v1.Pod{}), "what is no FitError")
}
