// Package hints says what an event may help, by the words in which plugins have rejected a pod.
package hints

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// MayGoneHelp tells whether a pod that was rejected with a message, as that of a FitError, may fit when another one is gone from its node, as far
// as the plugins go that rejected it: each looks for what it rejects pods for (EnqueueExtensions, kube-scheduler/framework/interface.go:487@v0.37.1).
// It is true for what is not known here.
func MayGoneHelp(message string, pod, gone *v1.Pod) bool {
	_, reasons, found := strings.Cut(strings.TrimSuffix(message, "."), " nodes are available: ")
	return !found || slices.ContainsFunc(strings.Split(reasons, ", "), func(reason string) bool {
		_, reason, _ = strings.Cut(reason, " ") // the number of nodes
		switch {
		case strings.HasPrefix(reason, "node(s) had untolerated taint"), reason == "node(s) were unschedulable", reason == filter.NodeAffinityReason:
			return false // of nodes, whoever is there
		case reason == "node(s) didn't have free ports for the requested pod ports":
			return slices.ContainsFunc(slices.Concat(gone.Spec.InitContainers, gone.Spec.Containers), func(c v1.Container) bool {
				return slices.ContainsFunc(c.Ports, func(port v1.ContainerPort) bool { return port.HostPort > 0 })
			})
		case reason == "node(s) didn't satisfy existing pods anti-affinity rules":
			return len(filter.RequiredAntiAffinity(gone)) > 0
		case reason == "node(s) didn't match pod anti-affinity rules":
			return slices.ContainsFunc(filter.RequiredAntiAffinity(pod), func(t v1.PodAffinityTerm) bool { return selects(t.LabelSelector, gone) })
		case reason == "node(s) didn't match pod topology spread constraints":
			return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool { return selects(c.LabelSelector, gone) })
		}
		return true
	})
}

// selects tells whether a selector may select a pod, of whatever namespace.
func selects(selector *metav1.LabelSelector, p *v1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || s.Matches(labels.Set(p.Labels))
}
