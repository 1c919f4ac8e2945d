package hints_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/hints"
	"github.com/preemptcheck/preemptcheck/reference/contract"
)

// plugins are what each says of a node, and whether other pods are in the way there then.
var plugins = map[string]map[string]bool{
	"NodeResourcesFit":  {"Insufficient cpu": true, "Too many pods": true},
	"NodePorts":         {"node(s) didn't have free ports for the requested pod ports": true},
	"PodTopologySpread": {"node(s) didn't match pod topology spread constraints": true, "node(s) didn't match pod topology spread constraints (missing required label)": true},
	"InterPodAffinity": {
		"node(s) didn't match pod affinity rules": false, "node(s) didn't match pod anti-affinity rules": true, "node(s) didn't satisfy existing pods anti-affinity rules": true,
	},
	"NodeAffinity": {
		"node(s) didn't match Pod's node affinity/selector": false, "node(s) didn't match scheduler-enforced node affinity": false, "node(s) didn't satisfy plugin(s) [NodeAffinity]": false,
	},
	"NodeName":             {"node(s) didn't match the requested node name": false},
	"NodeDeclaredFeatures": {"node(s) didn't match Pod's required features": false},
	"NodeUnschedulable":    {"node(s) were unschedulable": false},
	"TaintToleration":      {"node(s) had untolerated taint(s)": false},
}

// What a reason says of the end of a pod is what the queue does about a pod that its plugin has rejected.
func TestMayGoneHelp(t *testing.T) {
	scheduler := contract.New()
	t.Cleanup(func() { require.NoError(t, scheduler.Close()) })
	seen := map[string]map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		pod, gone := drawPod(t, "pod"), drawPod(t, "gone")
		gone.Spec.NodeName = "node"
		c := &model.Cluster{
			Nodes: []*v1.Node{{
				ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{v1.LabelHostname: "node"}},
				Status:     v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourcePods: resource.MustParse("10")}},
			}},
			Pods:      []*v1.Pod{gone},
			Preemptor: pod,
		}
		for plugin, reasons := range plugins {
			answers, err := scheduler.Ask(t.Context(), c, []calls.Call{
				{Op: calls.Park, Plugin: plugin},
				{Op: calls.Delete, Object: &calls.Object{APIVersion: "v1", Kind: "Pod", Namespace: gone.Namespace, Name: gone.Name}},
				{Op: calls.Waits},
			})
			require.NoError(t, err)
			require.True(t, answers[0].Yes, "it has to be among those that wait")
			wakes := !answers[2].Yes
			if seen[plugin] == nil {
				seen[plugin] = map[bool]int{}
			}
			seen[plugin][wakes]++
			for reason, pods := range reasons {
				message := "0/1 nodes are available: 1 " + reason + "."
				require.Equal(t, wakes, hints.MayGoneHelp(message, pod, gone), "%s: %s: %s, %s", plugin, reason, text(pod), text(gone))
				require.Equal(t, pods, hints.PodsInTheWay(message))
			}
		}
	})
	for _, plugin := range []string{"NodePorts", "PodTopologySpread", "InterPodAffinity"} {
		require.Len(t, seen[plugin], 2, plugin)
	}
}

func text(p *v1.Pod) string {
	data, _ := json.Marshal(p.Spec)
	return p.Namespace + " " + p.Labels["app"] + " " + string(data)
}

// drawPod draws a pod of what these plugins look at.
func drawPod(t *rapid.T, name string) *v1.Pod {
	draw := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name+" "+what) }
	selector := func(what string) *metav1.LabelSelector {
		switch draw("selector of "+what, "none", "all", "a", "b") {
		case "none":
			return nil
		case "all":
			return &metav1.LabelSelector{}
		case "a":
			return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		}
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "b"}}
	}
	ports := func(what string) (ports []v1.ContainerPort) {
		if draw("port of "+what, "none", "one") == "one" {
			ports = []v1.ContainerPort{{
				ContainerPort: 1, HostPort: rapid.SampledFrom([]int32{0, 80, 81}).Draw(t, name+" host port"),
				Protocol: v1.Protocol(draw("protocol", "TCP", "UDP")), HostIP: draw("IP", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
			}}
		}
		return ports
	}
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: draw("namespace", "default", "other"), UID: types.UID(name), Labels: map[string]string{"app": draw("label", "a", "b")}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Ports: ports("container")}}},
	}
	if draw("init container", "no", "yes") == "yes" {
		c := v1.Container{Name: "i", Ports: ports("init container")}
		if draw("is a sidecar", "no", "yes") == "yes" {
			c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = []v1.Container{c}
	}
	if draw("anti-affinity", "no", "yes") == "yes" {
		term := v1.PodAffinityTerm{LabelSelector: selector("anti-affinity"), TopologyKey: v1.LabelHostname}
		switch draw("namespaces", "own", "default", "all") {
		case "default":
			term.Namespaces = []string{"default"}
		case "all":
			term.NamespaceSelector = &metav1.LabelSelector{}
		}
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
	}
	if draw("spread", "no", "yes") == "yes" {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, LabelSelector: selector("spread"),
			WhenUnsatisfiable: v1.UnsatisfiableConstraintAction(draw("when unsatisfiable", "DoNotSchedule", "ScheduleAnyway")),
		}}
	}
	return p
}

// What is not known here may help.
func TestMayGoneHelpUnknown(t *testing.T) {
	for _, message := range []string{"something else", "0/1 nodes are available: 1 no, thank you.", "0/2 nodes are available: 1 node(s) were unschedulable, 1 Insufficient cpu.",
		"0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity Another]."} {
		require.True(t, hints.MayGoneHelp(message, &v1.Pod{}, &v1.Pod{}), message)
	}
	unparseable := v1.TopologySpreadConstraint{WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "!"}}}
	require.True(t, hints.MayGoneHelp("0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.",
		&v1.Pod{Spec: v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{unparseable}}}, &v1.Pod{}))
	require.False(t, hints.PodsInTheWay("something else"))
	require.False(t, hints.ByNodesAlone("something else"))
}

// What follows a FitError, as of preemption, is no reason of it.
func TestByNodesAlone(t *testing.T) {
	const then = " pod group preemption: No preemption victims found, 1 Insufficient cpu."
	for message, want := range map[string]bool{
		"0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) had untolerated taint(s).":        true,
		"0/2 nodes are available: 2 node(s) were unschedulable." + then:                                     true,
		"0/2 nodes are available: 1 node(s) were unschedulable, 1 Insufficient cpu." + then:                 false,
		"0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't match pod affinity rules.": false,
	} {
		require.Equal(t, want, hints.ByNodesAlone(message), message)
	}
}
