package mutant

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofCriteria drop and reverse each criterion by which a node is picked.
func ofCriteria(breaks func(name string, change func(r *answers.Rules))) {
	for i, criterion := range model.DefaultCriteria() {
		breaks("criterion dropped: "+criterion.Name, func(r *answers.Rules) { r.Criteria = slices.Delete(r.Criteria, i, i+1) })
		breaks("criterion reversed: "+criterion.Name, func(r *answers.Rules) {
			r.Criteria[i].Compare = func(a, b *model.Outcome) int { return criterion.Compare(b, a) }
		})
	}
}

// ofSteps break one step of the algorithm each.
func ofSteps(breaks func(name string, change func(r *answers.Rules))) {
	ofBudgets(breaks)
	ofEligibility(breaks)
	ofVictims(breaks)

	breaks("nominated: equal priority does not hold its room", func(r *answers.Rules) {
		r.RespectNomination = func(preemptor, nominated *filter.Pod) bool { return nominated.Priority > preemptor.Priority }
	})
	breaks("nominated: lower priority holds its room", func(r *answers.Rules) {
		r.RespectNomination = func(_, _ *filter.Pod) bool { return true }
	})
	breaks("nominated: nobody holds room", func(r *answers.Rules) {
		r.RespectNomination = func(_, _ *filter.Pod) bool { return false }
	})
	breaks("nominated: who holds room need not stay away", func(r *answers.Rules) {
		r.Fits = func(cy *model.Cycle, n *filter.Node, v filter.View) *model.Verdict {
			return cy.RunFilters(n, v.With(cy.Respected(n)))
		}
	})

	cleared := func(name string, clears func(preemptor, nominated *filter.Pod) bool) {
		breaks(name, func(r *answers.Rules) {
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
		})
	}
	cleared("actuate: equal nominations are cleared", func(preemptor, nominated *filter.Pod) bool { return nominated.Priority <= preemptor.Priority })
	cleared("actuate: no nomination is cleared", func(_, _ *filter.Pod) bool { return false })
	breaks("actuate: terminating victims are deleted again", func(r *answers.Rules) {
		r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
			return model.Actuate(cy, n, variant.Pods(victims, func(p *v1.Pod) { p.DeletionTimestamp = nil }))
		}
	})
}

func ofBudgets(breaks func(name string, change func(r *answers.Rules))) {
	protects := func(name string, change func(b *model.Budget, p *filter.Pod)) {
		breaks("budget: "+name, func(r *answers.Rules) {
			r.Protects = func(b *model.Budget, p *filter.Pod) bool {
				pdb, pod := *b.PodDisruptionBudget, *p
				read := &model.Budget{PodDisruptionBudget: &pdb, Selector: b.Selector}
				change(read, &pod)
				return model.Protects(read, &pod)
			}
		})
	}
	protects("namespaces ignored", func(b *model.Budget, p *filter.Pod) { b.Namespace = p.Namespace })
	protects("disrupted pods counted again", func(b *model.Budget, _ *filter.Pod) { b.Status.DisruptedPods = nil })

	// charges is the documented rule, but for how often a budget is decremented,
	// when it is violated, and whether those after it are taken as well.
	charges := func(name string, by, least int32, goesOn bool) {
		breaks("budget: "+name, func(r *answers.Rules) {
			r.TakeBudgets = func(left []int32, budgets []int) int {
				violated := -1
				for _, b := range budgets {
					left[b] -= by
					if left[b] < least && violated < 0 {
						violated = b
						if !goesOn {
							break
						}
					}
				}
				return violated
			}
		})
	}
	charges("never decremented", 0, 0, false)
	charges("the last disruption is a violation", 1, 1, false)
	charges("one violation more is allowed", 1, -1, false)
	charges("taken from all after a violation", 1, 0, true)
}

func ofEligibility(breaks func(name string, change func(r *answers.Rules))) {
	breaks("eligible: preemptionPolicy Never ignored", func(r *answers.Rules) {
		r.Eligible = func(cy *model.Cycle, verdicts map[string]*model.Verdict) model.Eligibility {
			may, pod, snapshot := *cy.Preemptor, *cy.Preemptor.Pod, *cy.Snapshot
			pod.Spec.PreemptionPolicy = nil
			may.Pod, snapshot.Preemptor = &pod, &may
			read := *cy
			read.Snapshot = &snapshot
			return model.Eligible(&read, verdicts)
		}
	})
	breaks("eligible: an unresolvable nominated node holds the pod", func(r *answers.Rules) {
		r.Eligible = func(cy *model.Cycle, _ map[string]*model.Verdict) model.Eligibility { return model.Eligible(cy, nil) }
	})
	breaks("eligible: every terminating pod is waited for", func(r *answers.Rules) {
		r.Awaited = func(p *filter.Pod) bool { return p.DeletionTimestamp != nil }
	})
	breaks("eligible: nothing is waited for", func(r *answers.Rules) { r.Awaited = func(*filter.Pod) bool { return false } })
}

func ofVictims(breaks func(name string, change func(r *answers.Rules))) {
	breaks("victims: equal priority is preempted", func(r *answers.Rules) {
		r.MayPreempt = func(preemptor, p *filter.Pod) bool { return p.Priority <= preemptor.Priority }
	})
	breaks("victims: nobody is reprieved", func(r *answers.Rules) {
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*filter.Pod, budgetOrder []int) *model.Outcome {
			full, algorithm := *cy, *cy.Algorithm
			algorithm.Fits = func(*model.Cycle, *filter.Node, filter.View) *model.Verdict { return filter.Resolvable() }
			full.Algorithm = &algorithm
			return model.Reprieve(&full, run, possible, budgetOrder)
		}
	})
	breaks("victims: violating pods are reprieved last", func(r *answers.Rules) {
		r.ReprieveOrder = func(violated []int) []int {
			first := slices.IndexFunc(model.ReprieveOrder(violated), func(i int) bool { return violated[i] < 0 })
			order := model.ReprieveOrder(violated)
			if first < 0 {
				return order
			}
			return slices.Concat(order[first:], order[:first])
		}
	})
	breaks("victims: not sorted again after the reprieve", func(r *answers.Rules) {
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*filter.Pod, budgetOrder []int) *model.Outcome {
			o := model.Reprieve(cy, run, possible, budgetOrder)
			violates := func(p *filter.Pod) bool { return o.Violates[p.Key] != "" }
			o.Pods = slices.Concat(
				slices.DeleteFunc(slices.Clone(o.Pods), func(p *filter.Pod) bool { return !violates(p) }),
				slices.DeleteFunc(slices.Clone(o.Pods), violates))
			for i, p := range o.Pods {
				o.Victims[i] = p.Key
			}
			return o
		}
	})
	breaks("victims: start times do not matter", func(r *answers.Rules) {
		r.Importance = func(a, b *filter.Pod) int { return cmp.Compare(b.Priority, a.Priority) }
	})
	breaks("victims: younger pods matter more", func(r *answers.Rules) {
		r.Importance = func(a, b *filter.Pod) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), b.Start.Compare(a.Start))
		}
	})
	breaks("victims: lower priorities matter more", func(r *answers.Rules) {
		r.Importance = func(a, b *filter.Pod) int {
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Start.Compare(b.Start))
		}
	})
}
