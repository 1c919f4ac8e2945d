package filter

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Report notes that a field of an object could matter and is not modelled.
// object is its kind and name ("Pod default/web-0"), field its path
// ("spec.volumes[0].persistentVolumeClaim"), why what would have to be modelled.
type Report func(object, field, why string)

// Partial is a Plugin that does not model all that it looks at.
type Partial interface {
	Plugin
	// Unmodelled reports what of the cluster could change the plugin's verdicts and
	// is not modelled.
	Unmodelled(s *Snapshot, report Report)
}

// Undecided is a State of a plugin for which the scheduler draws lots, where the
// outcome would decide whether the preemptor fits, or of which it is not known.
type Undecided interface {
	State
	// Undecided reports what depends on lots or is not known, if anything is.
	Undecided(report Report)
}

// Unmodelled implements Partial: it reports selectors that cannot be parsed.
func (PodTopologySpread) Unmodelled(s *Snapshot, report Report) {
	p := s.Preemptor.Pod
	for i := range p.Spec.TopologySpreadConstraints {
		if _, err := metav1.LabelSelectorAsSelector(p.Spec.TopologySpreadConstraints[i].LabelSelector); err != nil {
			report("Pod "+Key(p), fmt.Sprintf("spec.topologySpreadConstraints[%d].labelSelector", i), "a selector that cannot be parsed")
		}
	}
}

// Unmodelled implements Partial.
func (InterPodAffinity) Unmodelled(s *Snapshot, report Report) {
	p := s.Preemptor.Pod
	unmodelledTerms(s, p, "podAffinity", RequiredAffinity(p), report)
	unmodelledTerms(s, p, "podAntiAffinity", RequiredAntiAffinity(p), report)
	for _, other := range s.Known {
		unmodelledTerms(s, other, "podAntiAffinity", RequiredAntiAffinity(other), report)
	}
}

// unmodelledTerms reports the terms of p that cannot be read, or that select
// namespaces by labels that are not known: those of a namespace with pods in it
// that is not part of the cluster.
func unmodelledTerms(s *Snapshot, p *v1.Pod, field string, terms []v1.PodAffinityTerm, report Report) {
	for i := range terms {
		path := fmt.Sprintf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", field, i)
		t, err := newPodTerm(p, &terms[i])
		if err != nil {
			report("Pod "+Key(p), path, err.Error())
			continue
		}
		if terms[i].NamespaceSelector == nil || t.ofLabels.Empty() {
			continue
		}
		known := namespaceLabels(s)
		for _, other := range append([]*v1.Pod{s.Preemptor.Pod}, s.Pods...) {
			if _, ok := known[other.Namespace]; !ok {
				report("Pod "+Key(p), path+".namespaceSelector", "the labels of namespace "+other.Namespace)
				break
			}
		}
	}
}
