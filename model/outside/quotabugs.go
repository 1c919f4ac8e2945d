package outside

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

type fitting = func(cy *model.Cycle, n *filter.Node, v filter.View) *model.Verdict

// withoutQuota is a cycle in which quotas are not looked at.
func withoutQuota(cy *model.Cycle, fits fitting) *model.Cycle {
	out, algorithm := *cy, *cy.Algorithm
	algorithm.Fits = fits
	out.Algorithm = &algorithm
	return &out
}

// quotaVictimsViolateNothing is the quirk QuotaVictimsViolateNothing: the reprieve is gone through once more.
func quotaVictimsViolateNothing(r *answers.Rules, fits fitting) {
	reprieve := r.Reprieve
	r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *model.Outcome {
		o := reprieve(cy, run, possible, budgetOrder)
		if o.Violations == 0 {
			return o
		}
		free, s := withoutQuota(cy, fits), run.Emptied()
		violations, _ := cy.Violations(possible, budgetOrder)
		for _, i := range cy.ReprieveOrder(violations) {
			u := possible[i]
			back := s.Back(u)
			if !slices.Contains(o.Pods, u.Pods[0]) {
				s = back
				continue
			}
			if violations[i] > 0 && free.FitsIn(back) == nil {
				o.Violations -= violations[i]
				delete(o.Violates, u.Pods[0].Key)
			}
			s = back.Away(u)
		}
		return o
	}
}

// nominatedForgottenAtFirst is the quirk NominatedForgottenAtFirst: whether a node helps is asked without nominated pods, and whether
// a pod can stay with them. So none can, and one that goes anyway is taken away twice, which is an error.
func nominatedForgottenAtFirst(r *answers.Rules, q *quotaRules, fits fitting) {
	dryRun := r.DryRun
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		run := dryRun(cy, n, budgetOrder)
		if run.Failed == nil || len(run.Possible) == 0 {
			return run
		}
		free, emptied, usage := withoutQuota(cy, fits), run.Emptied(), q.in(cy)
		if free.FitsIn(emptied) != nil || usage.rejects(gone(n, emptied.View), false) != nil {
			return run
		}
		for _, u := range run.Possible {
			if free.FitsIn(emptied.Back(u)) != nil {
				run.Failed = &model.Verdict{Error: "no corresponding pod"}
				return run
			}
		}
		slices.SortStableFunc(run.Possible, cy.Importance)
		run.Failed = nil
		run.Listed = cy.Reprieve(cy, run, run.Possible, budgetOrder)
		return run
	}
}
