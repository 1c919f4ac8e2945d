package model

import (
	"fmt"
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

func requiredAffinity(p *v1.Pod) []v1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func requiredAntiAffinity(p *v1.Pod) []v1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// podTerms leaves out what cannot be read: unmodelled reports that.
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
func (c *Cluster) namespaceLabels() map[string]labels.Set {
	var out map[string]labels.Set
	for _, o := range c.Extra {
		if ns, ok := o.(*v1.Namespace); ok {
			if out == nil {
				out = map[string]labels.Set{}
			}
			out[ns.Name] = ns.Labels
		}
	}
	return out
}

// unmodelledTerms reports the terms of p that cannot be read, or that select
// namespaces by labels that are not known: those of a namespace with pods in it
// that is not part of the cluster.
func (c *Cluster) unmodelledTerms(p *v1.Pod, field string, terms []v1.PodAffinityTerm, add func(object, field, why string)) {
	for i := range terms {
		path := fmt.Sprintf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", field, i)
		t, err := newPodTerm(p, &terms[i])
		if err != nil {
			add("Pod "+Key(p), path, err.Error())
			continue
		}
		if terms[i].NamespaceSelector == nil || t.ofLabels.Empty() {
			continue
		}
		known := c.namespaceLabels()
		for _, other := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
			if _, ok := known[other.Namespace]; !ok {
				add("Pod "+Key(p), path+".namespaceSelector", "the labels of namespace "+other.Namespace)
				break
			}
		}
	}
}
