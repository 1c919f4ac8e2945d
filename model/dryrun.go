package model

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// DryRunOnNode is what preemption on one node comes to.
type DryRunOnNode struct {
	Node *filter.Node
	// Failed says why preemption does not help; its Plugin is "" if the node has no
	// pod of lower priority.
	Failed *Verdict
	// Possible are the pods of lower priority, most important first, equally
	// important ones in the cluster's order. Staying are the others.
	Possible []*filter.Pod
	Staying  []*filter.Pod
	// Listed is the outcome when equally important pods are taken in the cluster's
	// order. It is nil if preemption does not help. An outcome without victims is an
	// error.
	Listed *Outcome
}

// IsCandidate tells whether the node may be picked.
func (run *DryRunOnNode) IsCandidate() bool {
	return run.Failed == nil && len(run.Listed.Pods) > 0
}

// Outcome is one way in which preemption on a node may turn out.
type Outcome struct {
	// Victims have to go, most important first. Pods are the same, as the Cycle has
	// them.
	Victims []string
	Pods    []*filter.Pod
	// Violations counts the victims whose eviction violates a budget.
	Violations int
	// Violates names the budget that a victim's eviction violates.
	Violates map[string]string
	// Reprieved could have been victims, but may stay: in the order in which
	// they were considered.
	Reprieved []string
}

// DryRunNode works out which pods of n would have to go. All pods that may be
// preempted are taken away; if the preemptor fits then, as many as possible are
// given back (docs: concepts/scheduling-eviction/pod-priority-preemption,
// "Preemption"; the doc comment of SelectVictimsOnNode,
// default_preemption.go:286@v1.37.1, promises a minimum set and leaves open how it
// is found). If no pod has to go, only an extender rejects the node. Extenders are
// not asked again during the dry run, so preemption does not help there.
func DryRunNode(cy *Cycle, n *filter.Node, budgetOrder []int) *DryRunOnNode {
	run := &DryRunOnNode{Node: n}
	for _, p := range n.Pods {
		if cy.MayPreempt(cy.Preemptor, p) {
			run.Possible = append(run.Possible, p)
		} else {
			run.Staying = append(run.Staying, p)
		}
	}
	if len(run.Possible) == 0 {
		run.Failed = filter.Unresolvable("No preemption victims found for incoming pod")
		return run
	}
	if run.Failed = cy.Fits(cy, n, run.emptied()); run.Failed != nil {
		return run
	}
	slices.SortStableFunc(run.Possible, cy.Importance)
	run.Listed = cy.Reprieve(cy, run, run.Possible, budgetOrder)
	if len(run.Listed.Pods) == 0 && cy.OnlyExtender[n.Name] {
		run.Failed = &Verdict{Plugin: ExtenderName, Reasons: []string{"the extender rejects the node, not the pods on it"}}
	}
	return run
}

// Reprieve gives back as many of the possible victims as it can, one after
// another, each if the preemptor still fits; the rest are the victims, most
// important first (the comments in the body of SelectVictimsOnNode,
// default_preemption.go:286@v1.37.1; docs: as above). possible is run.Possible with
// equally important pods in any order.
func Reprieve(cy *Cycle, run *DryRunOnNode, possible []*filter.Pod, budgetOrder []int) *Outcome {
	violated := cy.Violations(possible, budgetOrder)
	o := &Outcome{}
	v := run.emptied()
	var evicted []int // indices into possible
	for _, i := range cy.ReprieveOrder(violated) {
		p := possible[i]
		back := v.Back(p)
		if cy.Fits(cy, run.Node, back) == nil {
			v = back
			o.Reprieved = append(o.Reprieved, p.Key)
			continue
		}
		v = back.Away(p)
		evicted = append(evicted, i)
		if violated[i] >= 0 {
			o.Violations++
			if o.Violates == nil {
				o.Violates = map[string]string{}
			}
			o.Violates[p.Key] = Key(cy.Budgets[violated[i]])
		}
	}
	slices.Sort(evicted)
	for _, i := range evicted {
		o.Pods = append(o.Pods, possible[i])
	}
	o.Victims = keys(o.Pods)
	return o
}

// emptied is the node without its possible victims.
func (run *DryRunOnNode) emptied() filter.View {
	return filter.View{Pods: run.Node.Pods}.Away(run.Possible...)
}

// ReprieveOrder is the order in which pods are reprieved, as indices: first those
// whose eviction violates a budget, then the others, each from the most important
// one down (docs: pod-priority-preemption, "PodDisruptionBudget is supported, but
// not guaranteed"). violated is that of Cycle.Violations.
func ReprieveOrder(violated []int) []int {
	order := make([]int, 0, len(violated))
	for _, violating := range []bool{true, false} {
		for i, budget := range violated {
			if budget >= 0 == violating {
				order = append(order, i)
			}
		}
	}
	return order
}
