package properties

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// podIndex finds the pods of a cluster: properties ask for those of a node, or of
// a name, once for each of a thousand nodes.
type podIndex struct {
	byKey   map[string]*v1.Pod
	onNode  map[string][]*v1.Pod
	waiting []*v1.Pod // not bound to a node
	// elsewhere: whether the preemptor fits on a node depends on the pods of other
	// nodes, by its volumes or spread constraints, or by affinity or anti-affinity of some pod.
	elsewhere bool
}

func (s *Subject) index() *podIndex {
	if s.indexed != nil {
		return s.indexed
	}
	s.indexed = &podIndex{byKey: make(map[string]*v1.Pod, len(s.Cluster.Pods)), onNode: map[string][]*v1.Pod{}}
	for _, p := range s.Cluster.Pods {
		s.indexed.byKey[model.Key(p)] = p
		if node := p.Spec.NodeName; node != "" {
			s.indexed.onNode[node] = append(s.indexed.onNode[node], p)
		} else {
			s.indexed.waiting = append(s.indexed.waiting, p)
		}
	}
	s.indexed.elsewhere = spreads(s.Cluster.Preemptor) || model.MountsVolumes(s.Cluster.Preemptor) || requiresPods(s.Cluster.Preemptor) || slices.ContainsFunc(s.Cluster.Pods, requiresPods)
	return s.indexed
}

// spreads tells whether a pod has to be spread over nodes.
func spreads(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == v1.DoNotSchedule })
}

// requiresPods tells whether a pod requires affinity or anti-affinity to others.
func requiresPods(p *v1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0)
}

// severalShunned tells whether a pod has several required terms of anti-affinity.
func severalShunned(p *v1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 1
}

// pod is the pod of that name, or nil.
func (s *Subject) pod(key string) *v1.Pod { return s.index().byKey[key] }
