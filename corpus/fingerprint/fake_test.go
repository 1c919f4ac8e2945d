package fingerprint_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// fake is a scheduler that does one of the things that a model allows.
type fake struct {
	decide func(*model.Cluster) (*answers.Set, error)
}

func (fake) Name() string { return "v1.37.1" }
func (fake) Close() error { return nil }

func (f fake) Observe(_ context.Context, c *model.Cluster) (*model.Observation, error) {
	d, err := f.decide(c)
	if err != nil {
		return nil, err
	}
	o := &model.Observation{Filters: map[string]model.Verdict{}, PinnedBudgetOrder: true}
	o.Actuation = &model.Actuation{Nomination: model.NominationCleared}
	if len(c.Nodes) == 0 {
		o.CycleError = "no nodes available to schedule pods"
		return o, nil
	}
	if len(d.Errors) > 0 {
		o.CycleError = d.Errors[0]
		return o, nil
	}
	if len(d.Fits) > 0 {
		o.ScheduledTo = d.Fits[0]
		o.Actuation = nil
		return o, nil
	}
	for n, v := range d.Verdicts {
		o.Filters[n] = *v
	}
	o.Eligible = d.Eligible
	if claims := d.Deallocatable(); len(claims) > 0 {
		defer func() { o.Actuation.Deallocated = claims[:1] }() // whatever comes of preemption
	}
	if !d.Eligible.OK {
		o.Actuation.Nomination = model.NominationKept
		return o, nil
	}
	o.PotentialNodes = d.PotentialNodes
	o.DryRuns = map[string]model.DryRun{}
	failedWithError := false
	for _, n := range d.PotentialNodes {
		out, failed := d.Listed(n)
		switch {
		case failed != nil && failed.Error != "":
			o.DryRuns[n] = model.DryRun{Error: failed.Error}
			failedWithError = true
		case failed != nil:
			o.DryRuns[n] = model.DryRun{Failed: failed}
		case len(out.Victims) == 0:
			o.DryRuns[n] = model.DryRun{Error: fmt.Sprintf("expected at least one victim pod on node %q", n)}
			failedWithError = true
		default:
			o.DryRuns[n] = model.DryRun{Victims: out.Victims, Violations: out.Violations}
		}
	}
	var listed [2]int
	all := d.Candidates()
	for _, n := range slices.Sorted(slices.Values(all)) {
		k := min(o.DryRuns[n].Violations, 1)
		if listed[k] < d.NumCandidates {
			listed[k]++
			o.Candidates = append(o.Candidates, n)
		}
	}
	if len(o.Candidates) == 0 {
		if failedWithError {
			o.Actuation.Nomination = model.NominationKept
		}
		return o, nil
	}
	for _, n := range all {
		if slices.Contains(o.Candidates, n) {
			run := o.DryRuns[n]
			o.Pick = &model.Pick{Node: n, Victims: run.Victims, Violations: run.Violations}
			out, _ := d.Listed(n)
			o.Actuation = d.Preempts(answers.Choice{Node: n, Outcome: out})
			break
		}
	}
	return o, nil
}
