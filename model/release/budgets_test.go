package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Budgets that protect a pod, and by a quirk do not.
func TestQuirksOfProtection(t *testing.T) {
	protects := func(rules *answers.Rules, b *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
		cy := rules.NewCycle(mk.Cluster(mk.Pod("preemptor", 9), mk.Node("n", "1"), p, b))
		return cy.Protects(cy.Budgets[0], cy.Node("n").Pods[0])
	}
	notIn := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}}}
	everything := &metav1.LabelSelector{}
	for _, test := range []struct {
		quirk    release.Quirk
		selector *metav1.LabelSelector
		pod      *v1.Pod
	}{
		{release.EmptySelector, everything, mk.Pod("p", 0, mk.On("n"), mk.App("x"))},
		{release.UnlabelledPod, notIn, mk.Pod("p", 0, mk.On("n"))},
	} {
		b := mk.Budget("b", 0, test.selector)
		assert.True(t, protects(answers.Documented(), b, test.pod), test.quirk)
		assert.False(t, protects(release.With(answers.Documented(), test.quirk), b, test.pod), test.quirk)
	}
}
