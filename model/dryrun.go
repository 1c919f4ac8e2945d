package model

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// PossibleVictim is a pod that preemption on a node may take.
type PossibleVictim struct {
	Pod *v1.Pod
	// Budgets protect it.
	Budgets []*policyv1.PodDisruptionBudget
	// Violates is the budget that evicting it violates, after everything more
	// important on the node has taken from the budgets; nil if there is none.
	Violates *policyv1.PodDisruptionBudget
}

// PossibleVictims are the pods of a potential node that DryRunOn chooses the
// victims from, most important first; equally important pods, and budgets, in the
// cluster's order. There are none if preemption does not help there.
func (d *Decision) PossibleVictims(node string) []PossibleVictim {
	if len(d.worlds) == 0 || d.worlds[0].runs[node] == nil {
		return nil
	}
	var possible []*pod
	for _, group := range d.worlds[0].runs[node].groups {
		possible = append(possible, group...)
	}
	violates := d.q.split(possible, nil)
	out := make([]PossibleVictim, len(possible))
	for i, p := range possible {
		out[i].Pod = p.Pod
		for _, b := range p.budgets {
			out[i].Budgets = append(out[i].Budgets, d.q.budgets[b].PodDisruptionBudget)
		}
		if b := violates[i]; b >= 0 {
			out[i].Violates = d.q.budgets[b].PodDisruptionBudget
		}
	}
	return out
}

// HeldFor are the pods nominated to a node that keep the preemptor from it: with
// the node's pods as they are it would fit, but not beside these too. None if it
// fits, or would not fit anyway.
func (d *Decision) HeldFor(node string) []*v1.Pod {
	n := d.q.byName[node]
	if n == nil || d.Verdicts[node] == nil || d.q.pre.rejection != nil {
		return nil
	}
	return d.q.held(n, view{pods: n.pods})
}

// DryRunHeldFor are the pods nominated to a node that keep the preemptor from it
// even after everything that may be preempted is gone. None if there is nothing to
// preempt.
func (d *Decision) DryRunHeldFor(node string) []*v1.Pod {
	if len(d.worlds) == 0 {
		return nil
	}
	run := d.worlds[0].runs[node]
	if run == nil || run.failed == nil || run.failed.Plugin == "" {
		return nil
	}
	return d.q.held(run.node, view{pods: run.staying})
}

// held are the pods that n is held for, which fails the preemptor with them.
func (q *question) held(n *node, v view) []*v1.Pod {
	yielded := q.yieldsTo(n)
	if len(yielded) == 0 || q.runFilters(n, v) != nil {
		return nil
	}
	pods := make([]*v1.Pod, len(yielded))
	for i, p := range yielded {
		pods[i] = p.Pod
	}
	return pods
}

// PreFilterRejects tells whether a plugin rejects the preemptor before any node
// is looked at: every verdict is then that one.
func (d *Decision) PreFilterRejects() bool { return d.q.pre.rejection != nil }

// PreFilterNarrows tells whether the node names that the preemptor requires leave
// some of the cluster's nodes, but not all.
func (d *Decision) PreFilterNarrows() bool {
	left := 0
	for _, n := range d.q.nodes {
		if !d.q.pre.excludes(n) {
			left++
		}
	}
	return 0 < left && left < len(d.q.nodes)
}

// RetriesUnresolvable tells whether the preemptor would have to wait for its
// victims on its nominated node, had that not become unresolvable.
func (d *Decision) RetriesUnresolvable() bool {
	return d.Eligible != nil && d.Eligible.OK && !d.q.eligible(nil).OK
}
