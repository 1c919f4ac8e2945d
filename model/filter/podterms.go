package filter

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// podTerm is a required term of affinity or anti-affinity: which pods it is
// about, and by which label nodes are told apart. matchLabelKeys and
// mismatchLabelKeys are part of the selector: the API server merges them into it
// when it creates the pod (registry/core/pod/strategy.go:910@v1.37.1,
// mutatePodAffinity; KEP-3633), and nobody reads them afterwards.
type podTerm struct {
	topologyKey string
	selector    labels.Selector // nil selects nothing (API reference, PodAffinityTerm.labelSelector)
	namespaces  []string
	ofLabels    labels.Selector // namespaces by their labels
}

// newPodTerm: neither namespaces nor a selector for them means the namespace of
// the pod that has the term; both mean either (API reference,
// PodAffinityTerm.namespaces and namespaceSelector).
func newPodTerm(p *v1.Pod, t *v1.PodAffinityTerm) (*podTerm, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return nil, err
	}
	ofLabels, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	term := &podTerm{topologyKey: t.TopologyKey, selector: selector, namespaces: t.Namespaces, ofLabels: ofLabels}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		term.namespaces = []string{p.Namespace}
	}
	return term, nil
}

func (t *podTerm) selects(p *v1.Pod, namespaces map[string]labels.Set) bool {
	return (slices.Contains(t.namespaces, p.Namespace) || t.ofLabels.Matches(namespaces[p.Namespace])) &&
		t.selector.Matches(labels.Set(p.Labels))
}

// GoesWith tells whether all required terms of p's affinity select another pod, which may be
// p itself. It knows no labels of namespaces.
func GoesWith(p, other *v1.Pod) bool {
	terms := podTerms(p, RequiredAffinity(p))
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t *podTerm) bool { return !t.selects(other, nil) })
}

// RequiredAffinity are the required terms of p's affinity to other pods.
func RequiredAffinity(p *v1.Pod) []v1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// RequiredAntiAffinity are the required terms of p's anti-affinity to other pods.
func RequiredAntiAffinity(p *v1.Pod) []v1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// podTerms leaves out what cannot be read: Unmodelled reports that.
func podTerms(p *v1.Pod, terms []v1.PodAffinityTerm) []*podTerm {
	var out []*podTerm
	for i := range terms {
		if t, err := newPodTerm(p, &terms[i]); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// namespaceLabels are the labels of the namespaces that are part of the cluster.
func namespaceLabels(s *Snapshot) map[string]labels.Set {
	var out map[string]labels.Set
	for _, o := range s.Objects {
		if ns, ok := o.(*v1.Namespace); ok {
			if out == nil {
				out = map[string]labels.Set{}
			}
			out[ns.Name] = ns.Labels
		}
	}
	return out
}
