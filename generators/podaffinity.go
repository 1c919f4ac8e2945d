package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

func affinityOf(spec *v1.PodSpec) *v1.Affinity {
	if spec.Affinity == nil {
		spec.Affinity = &v1.Affinity{}
	}
	return spec.Affinity
}

// attach requires the pod to be where others are.
func (g *generator) attach(p *v1.Pod) {
	affinityOf(&p.Spec).PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.podTerms(p)}
}

// shun requires the pod to be where others are not.
func (g *generator) shun(p *v1.Pod) {
	affinityOf(&p.Spec).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.podTerms(p)}
}

func (g *generator) podTerms(p *v1.Pod) []v1.PodAffinityTerm {
	terms := make([]v1.PodAffinityTerm, 1+draw.Weighted(g.Source, 75, 25))
	for i := range terms {
		terms[i] = g.podTerm(p)
	}
	return terms
}

// related are the pods that terms select. nil selects none.
var related = []*metav1.LabelSelector{
	{MatchLabels: map[string]string{"app": "a"}},
	{MatchLabels: map[string]string{"app": "b"}},
	{MatchLabels: map[string]string{"tier": "x"}},
	{MatchLabels: map[string]string{"app": "a", "tier": "x"}},
	{},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist}}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a"}}}},
	nil,
}

// Namespaces that terms select. Two of them are selected by the labels that they lack.
var (
	ofRed           = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}
	ofNobody        = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	ofOthersThanRed = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"red"}}}}
)

func (g *generator) podTerm(p *v1.Pod) v1.PodAffinityTerm {
	term := v1.PodAffinityTerm{
		TopologyKey:   draw.Pick(g.Source, "zone", v1.LabelHostname),
		LabelSelector: related[draw.Weighted(g.Source, 26, 22, 18, 12, 6, 6, 6, 4)],
	}
	if g.namespaces {
		switch draw.Weighted(g.Source, 40, 15, 9, 3, 3, 15, 15) {
		case 1:
			term.Namespaces = []string{otherNamespace}
		case 2:
			term.NamespaceSelector = ofRed
		case 3:
			term.NamespaceSelector = ofNobody
		case 4:
			term.NamespaceSelector = ofOthersThanRed
		case 5:
			term.NamespaceSelector = &metav1.LabelSelector{}
		case 6:
			term.Namespaces = []string{metav1.NamespaceDefault}
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}
		}
	}
	if g.Chance(30) {
		mergeKey(&term, p)
	}
	return term
}

// mergeKey has the term match, or mismatch, the pod's own value of a label, as the
// API server stores it.
func mergeKey(term *v1.PodAffinityTerm, p *v1.Pod) {
	const key = "app"
	value, ok := p.Labels[key]
	selector := term.LabelSelector
	if !ok || selector == nil || selector.MatchLabels[key] != "" || len(selector.MatchExpressions) > 0 {
		return
	}
	operator := metav1.LabelSelectorOpIn
	if len(selector.MatchLabels) == 0 {
		operator, term.MismatchLabelKeys = metav1.LabelSelectorOpNotIn, []string{key}
	} else {
		term.MatchLabelKeys = []string{key}
	}
	merged := *selector
	merged.MatchExpressions = append(slices.Clone(selector.MatchExpressions), metav1.LabelSelectorRequirement{
		Key: key, Operator: operator, Values: []string{value}})
	term.LabelSelector = &merged
}

// drawNamespaces draws the objects of both namespaces.
func (g *generator) drawNamespaces() []runtime.Object {
	var namespaces []runtime.Object
	for _, name := range []string{metav1.NamespaceDefault, otherNamespace} {
		ns := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelMetadataName: name}}}
		if team := draw.Pick(g.Source, "", "red", "blue"); team != "" {
			ns.Labels["team"] = team
		}
		ns.Status.Phase = v1.NamespaceActive
		namespaces = append(namespaces, ns)
	}
	return namespaces
}
