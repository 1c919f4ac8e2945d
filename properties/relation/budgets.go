package relation

import (
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

var addingIdleBudget = relation{
	name:    "adding-an-idle-budget",
	promise: "A PodDisruptionBudget that selects no pod, or is in a namespace without pods, changes nothing, also if it allows no disruption.",
	source:  "policy/v1 PodDisruptionBudgetSpec.selector (policy/v1/types.go:38@v0.37.1)",
	lies:    []string{"budgets are counted"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		namespace, selector := s.Cluster.Preemptor.Namespace, &metav1.LabelSelector{MatchLabels: map[string]string{"preemptcheck/idle": "true"}}
		if len(s.Cluster.Pods) > 0 {
			namespace = s.Cluster.Pods[random.IntN(len(s.Cluster.Pods))].Namespace
		}
		switch random.IntN(3) {
		case 0:
			selector = nil
		case 1:
			namespace, selector = "idle", &metav1.LabelSelector{}
		}
		idle := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "an-idle-budget"}}
		idle.Spec.Selector = selector
		if slices.ContainsFunc(s.Cluster.Pods, func(p *v1.Pod) bool { return protects(idle, p) }) {
			return nil
		}
		out := *s.Cluster
		out.PodDisruptionBudgets = slices.Insert(slices.Clone(out.PodDisruptionBudgets), random.IntN(len(out.PodDisruptionBudgets)+1), idle)
		return &variation{cluster: &out}
	},
}

// raisingBudget: a bigger budget does not mean fewer violations. Pods whose
// eviction violates a budget are reprieved first, and greedily: with room for 3,
// of protected pods of size 1, 3, 1 and 1 only the second has to go if none may be
// disrupted, a violation; if the first may be disrupted, its turn comes last,
// the second may stay and both after it have to go, two violations. With
// overlapping budgets it is the same without any sizes: a pod that violates
// one budget takes nothing from two others; once it does not, they are short.
// What is true: where all pods need the same, as many of them may stay in
// whatever order. One pod fewer violates, and one violation fewer remains, or none.
var raisingBudget = relation{
	name: "raising-a-budget",
	// Before, each pod violated a budget by itself, or none did.
	releases: ">=1.18.0",
	promise: "What one budget allows changes nothing on a node where it protects no more pods than it allows anyway, nor which nodes are candidates. " +
		"One disruption more leaves a node with as many violations as before, or one fewer, if no two budgets protect the same pod there and all pods need the same.",
	source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\"; SelectVictimsOnNode (default_preemption.go:286@v1.37.1)",
	lies:   []string{"bigger budgets are violated more", "violations grow with the budget", "every other budget rules candidates out"},
	vary:   raiseBudget,
}

func raiseBudget(s *properties.Subject, random *rand.Rand) *variation {
	c := s.Cluster
	if len(c.PodDisruptionBudgets) == 0 {
		return nil
	}
	at := random.IntN(len(c.PodDisruptionBudgets))
	budget := c.PodDisruptionBudgets[at]
	raised := *budget
	raised.Status.DisruptionsAllowed++
	out := *c
	out.PodDisruptionBudgets = slices.Clone(c.PodDisruptionBudgets)
	out.PodDisruptionBudgets[at] = &raised

	looser := map[string]bool{}
	for _, n := range c.Nodes {
		if protected(budget, s.Preemptable(n.Name)) > budget.Status.DisruptionsAllowed {
			looser[n.Name] = true
		}
	}
	return &variation{cluster: &out, looser: looser, also: (*comparison).violatesLess}
}

// violatesLess checks the nodes on which a budget that was raised was short.
func (c *comparison) violatesLess() []properties.Finding {
	allSimple := true // is the number of violations known not to grow on every candidate
	for _, node := range candidates(c.after) {
		before, tried := c.Observation.DryRuns[node]
		if !tried || !c.v.looser[node] {
			continue
		}
		if !uniform(c.Subject, node) || anyOverlap(c.Subject, node) {
			allSimple = false
			continue
		}
		after := c.after.DryRuns[node]
		if fewer := before.Violations - after.Violations; fewer < 0 || fewer > 1 || len(after.Victims) != len(before.Victims) {
			return properties.Found(model.StageDryRun, node, fmt.Sprintf("%v became %v with a budget raised by one", before, after))
		}
	}
	before, after := c.Observation.Pick, c.after.Pick
	if allSimple && c.sawAll() && c.Observation.DryRuns != nil && before != nil && after != nil && !c.anyOpen() && after.Violations > before.Violations {
		return changed(model.StagePick, after.Node, *before, fmt.Sprintf("%v, more violations with a budget raised by one", *after))
	}
	return nil
}

// splittingBudget: a budget in between, that allows some but not all, splits into
// two that allow different things in sum: no such relation holds.
var splittingBudget = relation{
	name: "splitting-a-budget",
	promise: "A budget that allows no disruption, or as many as it protects pods, can be replaced by two that select, of the same pods, those with and those without a label, " +
		"and allow the same each: a pod violates either or none, just as before.",
	source: "policy/v1 PodDisruptionBudgetSpec.selector; docs: concepts/overview/working-with-objects/labels, \"Set-based requirement\"",
	lies:   []string{"label by label, the most victims win", "budgets are counted"},
	vary:   splitBudget,
}

func splitBudget(s *properties.Subject, random *rand.Rand) *variation {
	c := s.Cluster
	var splittable []int
	for i, b := range c.PodDisruptionBudgets {
		if s.Assumes("empty-selector") && properties.SelectsAll(b) {
			continue
		}
		if b.Spec.Selector != nil && (b.Status.DisruptionsAllowed == 0 || b.Status.DisruptionsAllowed >= protected(b, c.Pods)) {
			splittable = append(splittable, i)
		}
	}
	if len(splittable) == 0 {
		return nil
	}
	at := splittable[random.IntN(len(splittable))]
	key, value := labelOf(c, random)
	part := func(name string, operator metav1.LabelSelectorOperator) *policyv1.PodDisruptionBudget {
		b := c.PodDisruptionBudgets[at].DeepCopy()
		b.Name += name
		b.Spec.Selector.MatchExpressions = append(b.Spec.Selector.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		return b
	}
	out := *c
	// In the place of the original: the order of overlapping budgets matters.
	out.PodDisruptionBudgets = slices.Replace(slices.Clone(c.PodDisruptionBudgets), at, at+1,
		part("-with", metav1.LabelSelectorOpIn), part("-without", metav1.LabelSelectorOpNotIn))
	return &variation{cluster: &out}
}

// labelOf is a label that some pod has, if any has one.
func labelOf(c *model.Cluster, random *rand.Rand) (key, value string) {
	var all [][2]string
	for _, p := range c.Pods {
		for k, v := range p.Labels {
			all = append(all, [2]string{k, v})
		}
	}
	if len(all) == 0 {
		return "part", "one"
	}
	slices.SortFunc(all, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	chosen := all[random.IntN(len(all))]
	return chosen[0], chosen[1]
}

// protects tells whether evicting a pod takes a disruption from a budget: see
// PodDisruptionBudgetSpec.selector and PodDisruptionBudgetStatus.disruptedPods.
func protects(b *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
	_, disrupted := b.Status.DisruptedPods[p.Name]
	return !disrupted && b.Namespace == p.Namespace && properties.Selects(b, p)
}

// protected counts the pods that a budget protects.
func protected(b *policyv1.PodDisruptionBudget, pods []*v1.Pod) int32 {
	count := int32(0)
	for _, p := range pods {
		if protects(b, p) {
			count++
		}
	}
	return count
}

// protectedBy counts the budgets that protect a pod.
func protectedBy(s *properties.Subject, p *v1.Pod) int {
	count := 0
	for _, b := range s.Cluster.PodDisruptionBudgets {
		if protects(b, p) {
			count++
		}
	}
	return count
}

// anyProtected tells whether a budget protects a possible victim of the node,
// anyOverlap whether two protect the same.
func anyProtected(s *properties.Subject, node string) bool {
	return slices.ContainsFunc(s.Preemptable(node), func(p *v1.Pod) bool { return protectedBy(s, p) > 0 })
}

func anyOverlap(s *properties.Subject, node string) bool {
	return slices.ContainsFunc(s.Preemptable(node), func(p *v1.Pod) bool { return protectedBy(s, p) > 1 })
}
