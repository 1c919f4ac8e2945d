package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Known bugs of upstream outside of filter plugins, each as a change of a step.
// quirks.go says what each comes to.

func emptySelectorMatchesNothing(r *answers.Rules) {
	protects := r.Protects
	r.Protects = func(b *model.Budget, p *filter.Pod) bool { return !b.Selector.Empty() && protects(b, p) }
}

func unlabelledPodsUnprotected(r *answers.Rules) {
	protects := r.Protects
	r.Protects = func(b *model.Budget, p *filter.Pod) bool { return len(p.Labels) > 0 && protects(b, p) }
}

func terminatingVictimsKeepNominations(r *answers.Rules) {
	actuate := r.Actuate
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		a := actuate(cy, n, victims)
		if len(a.Deleted) == 0 && cy.Settings.AsyncPreemption() {
			a.Cleared = nil
		}
		return a
	}
}

func zeroCandidates(r *answers.Rules) {
	enough := r.NumCandidates
	r.NumCandidates = func(percentage, absolute int32, nodes, potential int) int {
		if absolute <= 0 && nodes*int(percentage)/100 <= 0 {
			return 0
		}
		return enough(percentage, absolute, nodes, potential)
	}
}

func percentageOfPotentialNodes(r *answers.Rules) {
	enough := r.NumCandidates
	r.NumCandidates = func(percentage, absolute int32, _, potential int) int {
		return enough(percentage, absolute, potential, potential)
	}
}

func nominatedNodeBlamesOthers(r *answers.Rules) {
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := filterNodes(cy)
		first, pre := cy.NominatedFirst(cy), &cy.PreFiltered
		if first == nil || pre.Nodes == nil {
			return verdicts, failure
		}
		if v := verdicts[first.Name]; v != nil && !slices.Contains(pre.Blamed, v.Plugin) {
			pre.Blamed = append(slices.Clip(pre.Blamed), v.Plugin)
			for name := range cy.Absent {
				verdicts[name] = cy.LeftOut(cy)
			}
		}
		return verdicts, failure
	}
}

func preFilterRejectionIsError(r *answers.Rules) {
	then(r, func(d *model.Decision) {
		pre := &d.Cycle.PreFiltered
		// The state that DynamicResources has when it has been asked itself is missing.
		if d.Eligible == nil || !pre.Stopped || pre.Rejection != nil && pre.Rejection.Plugin == "DynamicResources" {
			return
		}
		*d = model.Decision{Cycle: d.Cycle, Verdicts: d.Verdicts, PostFilterError: "a plugin has no state, as it was not asked"}
	})
}

func extenderRejectionIsError(r *answers.Rules) {
	dryRun := r.DryRun
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		run := dryRun(cy, n, budgetOrder)
		if run.Failed != nil && run.Failed.Plugin == model.ExtenderName {
			run.Failed = nil
		}
		return run
	}
}

func nothingLeftKeepsNomination(r *answers.Rules) {
	r.NoneLeft = func(bool) *model.Actuation {
		return &model.Actuation{Nomination: model.NominationKept}
	}
}

func firstVictimIsHighest(r *answers.Rules) {
	r.Criteria = slices.Clone(r.Criteria)
	for i := range r.Criteria {
		if r.Criteria[i].Name == model.DefaultCriteria()[1].Name {
			r.Criteria[i].Compare = func(a, b *model.Outcome) int { return cmp.Compare(a.Pods[0].Priority, b.Pods[0].Priority) }
		}
	}
}

func victimsUnsorted(r *answers.Rules) {
	reprieve := r.Reprieve
	r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*filter.Pod, budgetOrder []int) *model.Outcome {
		o := reprieve(cy, run, possible, budgetOrder)
		later := func(p *filter.Pod) int {
			if _, violates := o.Violates[p.Key]; violates {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(o.Pods, func(a, b *filter.Pod) int { return cmp.Compare(later(a), later(b)) })
		for i, p := range o.Pods {
			o.Victims[i] = p.Key
		}
		return o
	}
	firstVictimIsHighest(r) // the criteria take the first victim for the highest
}

func victimStatusOverwritten(r *answers.Rules) {
	actuate := r.Actuate
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		// Whether the condition is there already is asked of the preemptor.
		a := actuate(cy, n, variant.Pods(victims, func(p *v1.Pod) { p.Status.Conditions = nil }))
		if cy.MarkedAlready(cy.Preemptor.Pod) {
			a.DisruptionTarget = nil
		}
		return a
	}
	r.Seen = func(o *model.Observation) *model.Observation {
		seen, a := *o, *o.Actuation
		seen.Actuation = &a
		a.Other = slices.DeleteFunc(slices.Clone(a.Other), func(write string) bool {
			return slices.ContainsFunc(a.DisruptionTarget, func(key string) bool { return strings.HasPrefix(write, "patch "+key+" [status]: ") })
		})
		if len(a.Other) == 0 {
			a.Other = nil
		}
		return &seen
	}
}

func missingNodeIsError(r *answers.Rules) {
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := filterNodes(cy)
		if first := cy.NominatedFirst(cy); failure != "" || first != nil && verdicts[first.Name] == nil {
			return verdicts, failure
		}
		for _, name := range slices.Sorted(maps.Keys(cy.PreFiltered.Nodes)) {
			if cy.Node(name) == nil {
				return nil, "there is no node " + name
			}
		}
		return verdicts, ""
	}
}

func noNodeLeftIsTried(r *answers.Rules) {
	preFilter, dryRun := r.PreFilter, r.DryRun
	r.PreFilter = func(cy *model.Cycle) model.PreFiltered {
		pre := preFilter(cy)
		if pre.Nodes != nil && len(pre.Nodes) == 0 {
			pre.Rejection.Unresolvable = false
		}
		return pre
	}
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		run := dryRun(cy, n, budgetOrder)
		if cy.PreFiltered.Stopped && len(run.Possible) > 0 {
			run.Failed = &model.Verdict{Error: "a plugin has no state, as it was not asked before any node was looked at"}
		}
		return run
	}
}

func allocatedClaimFailsScore(r *answers.Rules) {
	then(r, func(d *model.Decision) {
		if len(d.Fits) > 1 && opensBesideAllocated(d.Cycle.State("DynamicResources")) {
			*d = model.Decision{Cycle: d.Cycle, Error: "scoring fails"}
		}
	})
}

func unknownDomainPanics(r *answers.Rules) {
	const panics = "the scheduler panics"
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		comes := func(n *filter.Node) bool { return unknownDomain(cy.State("PodTopologySpread"), n, cy.Respected(n)) }
		if cy.PreFiltered.Rejection == nil && cy.PreFiltered.Error == "" && slices.ContainsFunc(cy.Nodes, comes) {
			return nil, panics
		}
		return filterNodes(cy)
	}
	then(r, func(d *model.Decision) {
		cy := d.Cycle
		goes := func(name string) bool {
			n := cy.Node(name)
			possible := slices.DeleteFunc(slices.Clone(n.Pods), func(p *filter.Pod) bool { return !cy.MayPreempt(cy.Preemptor, p) })
			return unknownDomain(cy.State("PodTopologySpread"), n, possible)
		}
		if slices.ContainsFunc(d.PotentialNodes, goes) {
			*d = model.Decision{Cycle: cy, Error: panics}
		}
	})
}

// then has a Decision changed once it is made.
func then(r *answers.Rules, change func(*model.Decision)) {
	r.Then = append(slices.Clip(r.Then), change)
}

func extenderFilter(i int) string { return fmt.Sprintf("extenders[%d].filter", i) }
