// Package hints says what the end of a pod helps, by the words in which plugins have rejected another one.
package hints

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// MayGoneHelp tells whether a pod that was rejected with a message, as that of a FitError, may fit when another one is gone from its node, as far
// as the plugins go that rejected it: each looks for what it rejects pods for (EnqueueExtensions, kube-scheduler/framework/interface.go:487@v0.37.1).
// It is true for what is not known here.
func MayGoneHelp(message string, pod, gone *v1.Pod) bool {
	all := reasons(message)
	return len(all) == 0 || slices.ContainsFunc(all, func(reason string) bool {
		switch {
		case ofNode(reason):
			return false
		case reason == "node(s) didn't have free ports for the requested pod ports":
			return filter.ShareHostPort(pod, gone)
		case slices.Contains([]string{filter.NoPeers, "node(s) didn't satisfy existing pods anti-affinity rules", "node(s) didn't match pod anti-affinity rules"}, reason):
			return shuns(pod, gone) || shuns(gone, pod) // whatever rejected it: the plugin is asked about both
		case strings.HasPrefix(reason, "node(s) didn't match pod topology spread constraints"):
			return pod.Namespace == gone.Namespace && slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
				return c.WhenUnsatisfiable == v1.DoNotSchedule && selects(c.LabelSelector, gone)
			})
		}
		return true
	})
}

// PodsInTheWay tells whether a pod was rejected, on some node, for what other pods have there: not as the pods that it goes with are missing.
func PodsInTheWay(message string) bool {
	return slices.ContainsFunc(reasons(message), func(reason string) bool { return !ofNode(reason) && reason != filter.NoPeers })
}

// ByNodesAlone tells whether a pod was rejected only for what nodes are, whoever is there.
func ByNodesAlone(message string) bool {
	all := reasons(message)
	return len(all) > 0 && !slices.ContainsFunc(all, func(reason string) bool { return !ofNode(reason) })
}

// reasons are those of a message, "0/2 nodes are available: 2 reason, 1 another reason. …"; none if it is not that of a FitError.
func reasons(message string) (all []string) {
	_, list, found := strings.Cut(message, " nodes are available: ")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, ". ")
	list = strings.TrimSuffix(list, ".")
	for reason := range strings.SplitSeq(list, ", ") {
		_, reason, _ = strings.Cut(reason, " ") // the number of nodes
		all = append(all, reason)
	}
	return all
}

// ofNode tells whether a reason is about nodes, whoever is there: its plugin looks for no end of pods.
func ofNode(reason string) bool {
	const leftOut = "node(s) didn't satisfy plugin(s) ["
	if plugins, ok := strings.CutPrefix(reason, leftOut); ok {
		return !slices.ContainsFunc(strings.Fields(strings.TrimSuffix(plugins, "]")), func(p string) bool { return p != filter.NodeAffinity{}.Name() })
	}
	return strings.HasPrefix(reason, "node(s) had untolerated taint") || slices.Contains([]string{
		filter.NodeAffinityReason,
		"node(s) didn't match scheduler-enforced node affinity",
		"node(s) didn't match the requested node name",
		"node(s) didn't match Pod's required features",
		"node(s) were unschedulable",
	}, reason)
}

// shuns tells whether a required term of a pod's anti-affinity may select another pod. Of namespaces it knows the names, and no labels.
func shuns(p, other *v1.Pod) bool {
	return slices.ContainsFunc(filter.RequiredAntiAffinity(p), func(t v1.PodAffinityTerm) bool {
		own := len(t.Namespaces) == 0 && p.Namespace == other.Namespace
		return (own || t.NamespaceSelector != nil || slices.Contains(t.Namespaces, other.Namespace)) && selects(t.LabelSelector, other)
	})
}

// selects tells whether a selector selects the labels of a pod; one that cannot be parsed may.
func selects(selector *metav1.LabelSelector, p *v1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || s.Matches(labels.Set(p.Labels))
}

// WithDefaultSpread is a pod that has its default topology spread constraints as its own. They select all pods here: which of them the
// default ones select is not asked.
func WithDefaultSpread(s model.Settings, p *v1.Pod) *v1.Pod {
	if !configuration.HasDefaults(s, p) {
		return p
	}
	out := p.DeepCopy()
	out.Spec.TopologySpreadConstraints = configuration.Spread(s, p)
	for i := range out.Spec.TopologySpreadConstraints {
		out.Spec.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{}
	}
	return out
}
