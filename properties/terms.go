package properties

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// RequiresPods tells whether a pod has required terms of affinity or anti-affinity.
func RequiresPods(p *v1.Pod) bool { return len(PodTerms(p)) > 0 }

// PodTerms are the terms by which a pod requires others near it, or away.
func PodTerms(p *v1.Pod) []*v1.PodAffinityTerm {
	if p.Spec.Affinity == nil {
		return nil
	}
	var required [2][]v1.PodAffinityTerm
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		required[0] = a.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		required[1] = a.RequiredDuringSchedulingIgnoredDuringExecution
	}
	var terms []*v1.PodAffinityTerm
	for _, list := range required {
		for i := range list {
			terms = append(terms, &list[i])
		}
	}
	return terms
}

// NodeTerms are the terms by which a pod requires or prefers nodes.
func NodeTerms(p *v1.Pod) []*v1.NodeSelectorTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var terms []*v1.NodeSelectorTerm
	a := p.Spec.Affinity.NodeAffinity
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			terms = append(terms, &required.NodeSelectorTerms[i])
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		terms = append(terms, &a.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
	}
	return terms
}

// Selects tells whether the selector of a budget matches the labels of a pod, in
// whatever namespace. A selector that cannot be read matches none. To read one takes
// far longer than to see that a label is missing, which comes first.
func Selects(b *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
	if b.Spec.Selector != nil {
		for key, want := range b.Spec.Selector.MatchLabels {
			if got, labelled := p.Labels[key]; !labelled || got != want {
				return false
			}
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// SelectsAll tells whether the selector of a budget is there and empty.
func SelectsAll(b *policyv1.PodDisruptionBudget) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Empty()
}
