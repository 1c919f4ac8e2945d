package release

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// What releases before did in place of a step of today's algorithm. Each function
// is named after what is so in those releases; flags.go says in which.

// onPlugin changes one filter plugin, also where it is one of those that are judged
// together.
func onPlugin(name string, change variant.OfPlugin) func(*answers.Rules) {
	return func(r *answers.Rules) {
		r.Plugins = variant.On(r.Plugins, name, change)
		r.Plugins = variant.On(r.Plugins, predicates{}.Name(), func(p filter.Plugin) filter.Plugin {
			return predicates(variant.On(p.(predicates), name, change))
		})
	}
}

// withoutPlugin leaves out a filter plugin.
func withoutPlugin(name string) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Plugins = variant.Without(r.Plugins, name) }
}

// firstOf puts some filter plugins first, in that order.
func firstOf(names ...string) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Plugins = inOrderOf(r.Plugins, names...) }
}

// asGeneralPredicates has some filter plugins judged together.
func asGeneralPredicates(names ...string) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Plugins = generalPredicates(r.Plugins, names...) }
}

// selectedClaimOughtToBeBound: a claim for which a node was selected does not wait
// for the pod.
func selectedClaimOughtToBeBound(r *answers.Rules) {
	onPlugin("VolumeBinding", selectedDoesNotWait)(r)
	onPlugin("VolumeZone", selectedDoesNotWait)(r)
}

// unresolvableNominationHolds: a pod waits for terminating pods on its nominated
// node also if that has become unresolvable.
func unresolvableNominationHolds(r *answers.Rules) {
	eligible := r.Eligible
	r.Eligible = func(cy *model.Cycle, _ map[string]*model.Verdict) model.Eligibility { return eligible(cy, nil) }
}

// preFilterUnnamed: a rejection before any node is looked at names no plugin.
func preFilterUnnamed(r *answers.Rules) {
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := filterNodes(cy)
		if cy.PreFiltered.Rejection != nil {
			for _, v := range verdicts {
				v.Plugin = ""
			}
		}
		return verdicts, failure
	}
}

// leftOutNodesAreTried: preemption is tried on nodes without a status.
func leftOutNodesAreTried(r *answers.Rules) {
	leftOut := r.LeftOut
	r.LeftOut = func(cy *model.Cycle) *model.Verdict {
		v := leftOut(cy)
		v.Unresolvable = false
		return v
	}
}

// higherPriority: nothing but the priority makes a pod more important.
func higherPriority(a, b *filter.Pod) int { return cmp.Compare(b.Priority, a.Priority) }

// nodesWithoutVictimsAreFiltered: a node without pods of lower priority is filtered
// again, and fails as before.
func nodesWithoutVictimsAreFiltered(r *answers.Rules) {
	dryRun := r.DryRun
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		run := dryRun(cy, n, budgetOrder)
		if len(run.Possible) > 0 {
			return run
		}
		run.Failed = cy.Fits(cy, n, filter.View{Pods: run.Staying})
		if run.Failed == nil {
			run.Listed = cy.Reprieve(cy, run, nil, budgetOrder)
		}
		return run
	}
}

// nodesWithoutVictimsAreCandidates is not modelled where it could show.
func nodesWithoutVictimsAreCandidates(r *answers.Rules) {
	r.Unmodelled = append(slices.Clip(r.Unmodelled), func(c *model.Cluster, report filter.Report) {
		for i := range c.Settings.Extenders {
			if c.Settings.Extenders[i].Filter != nil {
				report("scheduler", extenderFilter(i), "a node that nothing but an extender rejects is a candidate without victims")
			}
		}
	})
}

// budgetsUndecremented: a budget with no disruptions left is violated by each of its
// victims, any other by none.
func budgetsUndecremented(r *answers.Rules) {
	r.TakeBudgets = func(left []int32, budgets []int) int {
		for _, b := range budgets {
			if left[b] <= 0 {
				return b
			}
		}
		return -1
	}
}

// everyBudgetIsTaken: a victim takes a disruption also from the budgets after the
// one that it violates.
func everyBudgetIsTaken(r *answers.Rules) {
	take := r.TakeBudgets
	r.TakeBudgets = func(left []int32, budgets []int) int {
		violated := -1
		for i := range budgets {
			if b := take(left, budgets[i:i+1]); violated < 0 {
				violated = b
			}
		}
		return violated
	}
}

// disruptedPodsCount: pods that the API server has counted as disrupted are pods
// like others.
func disruptedPodsCount(r *answers.Rules) {
	protects := r.Protects
	r.Protects = func(b *model.Budget, p *filter.Pod) bool {
		if _, disrupted := b.Status.DisruptedPods[p.Name]; disrupted {
			budget := *b.PodDisruptionBudget
			budget.Status.DisruptedPods = nil
			b = &model.Budget{PodDisruptionBudget: &budget, Selector: b.Selector}
		}
		return protects(b, p)
	}
}

// nominationStaysWithoutCandidates: a pod that preemption does not help keeps its
// nomination, unless there was no node to try.
func nominationStaysWithoutCandidates(r *answers.Rules) {
	noCandidate := r.NoCandidate
	r.NoCandidate = func(d *model.Decision) *model.Actuation {
		tried := d.Error != "" || len(d.Cycle.Nodes) == 0 || len(d.PotentialNodes) > 0
		if tried || d.Cycle.Preemptor.Status.NominatedNodeName == "" {
			return &model.Actuation{Nomination: model.NominationKept}
		}
		return noCandidate(d)
	}
	nothingLeftKeepsNomination(r)
}

// victimsUnmarked: victims are deleted, and nothing else.
func victimsUnmarked(r *answers.Rules) {
	actuate := r.Actuate
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		a := actuate(cy, n, victims)
		a.DisruptionTarget = nil
		return a
	}
}

// terminatingVictimsDeleted: victims that terminate already are deleted again.
func terminatingVictimsDeleted(r *answers.Rules) {
	actuate := r.Actuate
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		return actuate(cy, n, variant.Pods(victims, func(p *v1.Pod) { p.DeletionTimestamp = nil }))
	}
}
