package mutant

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofCriteria drop and reverse each criterion by which a node is picked.
func ofCriteria() []breaks {
	var all []breaks
	for i, criterion := range model.DefaultCriteria() {
		all = append(all,
			breaks{"criterion dropped: " + criterion.Name, func(r *answers.Rules) { r.Criteria = slices.Delete(r.Criteria, i, i+1) }},
			breaks{"criterion reversed: " + criterion.Name, func(r *answers.Rules) {
				r.Criteria[i].Compare = func(a, b *model.Outcome) int { return criterion.Compare(b, a) }
			}})
	}
	return all
}

var ofBudgets = []breaks{
	{"budget: namespaces ignored", protects(func(b *model.Budget, p *filter.Pod) { b.Namespace = p.Namespace })},
	{"budget: disrupted pods counted again", protects(func(b *model.Budget, _ *filter.Pod) { b.Status.DisruptedPods = nil })},
	{"budget: never decremented", charges(0, 0)},
	{"budget: the last disruption is a violation", charges(1, 1)},
	{"budget: one violation more is allowed", charges(1, -1)},
	{"budget: taken from all after a violation", asBefore("a victim takes nothing from the budgets after the one that it violates")},
}

// protects is the documented rule for a budget and a pod that are changed.
func protects(change func(b *model.Budget, p *filter.Pod)) func(*answers.Rules) {
	return func(r *answers.Rules) {
		r.Protects = func(b *model.Budget, p *filter.Pod) bool {
			pdb, pod := *b.PodDisruptionBudget, *p
			read := &model.Budget{PodDisruptionBudget: &pdb, Selector: b.Selector}
			change(read, &pod)
			return model.Protects(read, &pod)
		}
	}
}

// charges is the documented rule, but for how often a budget is decremented, and
// when it is violated.
func charges(by, least int32) func(*answers.Rules) {
	return func(r *answers.Rules) {
		r.TakeBudgets = func(left []int32, budgets []int) int {
			for _, b := range budgets {
				if left[b] -= by; left[b] < least {
					return b
				}
			}
			return -1
		}
	}
}

var ofEligibility = []breaks{
	{"eligible: preemptionPolicy Never ignored", func(r *answers.Rules) {
		r.Eligible = func(cy *model.Cycle, verdicts map[string]*model.Verdict) model.Eligibility {
			read, snapshot := *cy, *cy.Snapshot
			snapshot.Preemptor = variant.Pods([]*filter.Pod{cy.Preemptor}, func(p *v1.Pod) { p.Spec.PreemptionPolicy = nil })[0]
			read.Snapshot = &snapshot
			return model.Eligible(&read, verdicts)
		}
	}},
	{"eligible: an unresolvable nominated node holds the pod", asBefore("a pod whose nominated node has become unresolvable may preempt again")},
	{"eligible: every terminating pod is waited for", asBefore("only pods that terminate by preemption are waited for")},
	{"eligible: nothing is waited for", func(r *answers.Rules) { r.Awaited = func(*filter.Pod) bool { return false } }},
}

var ofVictims = []breaks{
	{"victims: equal priority is preempted", func(r *answers.Rules) {
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool { return u.Priority <= cy.Preemptor.Priority }
	}},
	{"victims: nobody is reprieved", func(r *answers.Rules) {
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *model.Outcome {
			full, algorithm := *cy, *cy.Algorithm
			algorithm.Fits = func(*model.Cycle, *filter.Node, filter.View) *model.Verdict { return filter.Resolvable() }
			full.Algorithm = &algorithm
			return model.Reprieve(&full, run, possible, budgetOrder)
		}
	}},
	{"victims: violating pods are reprieved last", func(r *answers.Rules) {
		r.ReprieveOrder = func(violations []int) []int {
			order := model.ReprieveOrder(violations)
			first := max(0, slices.IndexFunc(order, func(i int) bool { return violations[i] == 0 }))
			return slices.Concat(order[first:], order[:first])
		}
	}},
	{"victims: not sorted again after the reprieve", func(r *answers.Rules) {
		r.Reprieve = release.With(r, release.VictimsUnsorted).Reprieve
	}},
	{"victims: names matter, start times do not", func(r *answers.Rules) {
		r.Importance = func(a, b *unit.Unit) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Key, b.Key))
		}
	}},
	{"victims: younger pods matter more", func(r *answers.Rules) {
		r.Importance = func(a, b *unit.Unit) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), b.Start.Compare(a.Start))
		}
	}},
	{"victims: lower priorities matter more", func(r *answers.Rules) {
		r.Importance = func(a, b *unit.Unit) int {
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Start.Compare(b.Start))
		}
	}},
}

var ofNominated = []breaks{
	{"nominated: equal priority does not hold its room", func(r *answers.Rules) {
		r.RespectNomination = func(preemptor, nominated *filter.Pod) bool { return nominated.Priority > preemptor.Priority }
	}},
	{"nominated: lower priority holds its room", func(r *answers.Rules) {
		r.RespectNomination = func(_, _ *filter.Pod) bool { return true }
	}},
	{"nominated: nobody holds room", func(r *answers.Rules) {
		r.RespectNomination = func(_, _ *filter.Pod) bool { return false }
	}},
	{"nominated: who holds room need not stay away", func(r *answers.Rules) {
		r.Fits = func(cy *model.Cycle, n *filter.Node, v filter.View) *model.Verdict {
			return cy.RunFilters(n, v.With(cy.Respected(n)))
		}
	}},
}

var ofActuation = []breaks{
	{"actuate: equal nominations are cleared", cleared(func(preemptor, nominated *filter.Pod) bool { return nominated.Priority <= preemptor.Priority })},
	{"actuate: no nomination is cleared", cleared(func(_, _ *filter.Pod) bool { return false })},
	{"actuate: terminating victims are deleted again", asBefore("victims that terminate already are not deleted again")},
}

func cleared(clears func(preemptor, nominated *filter.Pod) bool) func(*answers.Rules) {
	return func(r *answers.Rules) {
		r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
			a := model.Actuate(cy, n, victims)
			a.Cleared = nil
			for _, p := range n.Nominated {
				if clears(cy.Preemptor, p) {
					a.Cleared = append(a.Cleared, p.Key)
				}
			}
			slices.Sort(a.Cleared)
			return a
		}
	}
}
