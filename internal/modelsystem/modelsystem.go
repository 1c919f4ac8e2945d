// Package modelsystem makes schedulers of models: what a release decides can be
// tried without it.
package modelsystem

import (
	"context"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
)

// System does one of the things that rules allow. It does not show its filters.
type System struct {
	Rules *answers.Rules
	// Draw chooses one of n allowed answers; nil is the first.
	Draw func(n int) int
	// Lie, if it is not nil, changes what is told.
	Lie func(c *model.Cluster, o *model.Observation)

	name       string
	overwrites bool
}

var _ reference.System = (*System)(nil)

// New is a release as its model has it, with its known findings.
func New(version release.Release) *System {
	var quirks []release.Quirk
	for _, e := range ledger.Of(version) {
		if e.Quirk != "" {
			quirks = append(quirks, e.Quirk)
		}
	}
	return &System{
		Rules: release.With(version.Rules(), quirks...), name: version.String(),
		overwrites: slices.Contains(quirks, release.VictimStatusOverwritten),
	}
}

// Name implements reference.System.
func (s *System) Name() string { return s.name }

// Close implements reference.System.
func (s *System) Close() error { return nil }

// Observe implements reference.System. What is not modelled is refused.
func (s *System) Observe(_ context.Context, c *model.Cluster) (*model.Observation, error) {
	d, err := answers.Decide(c, s.Rules)
	if err != nil {
		return nil, &reference.Refusal{System: s.name, What: strings.TrimPrefix(err.Error(), "not modelled: ")}
	}
	o := s.answer(c, d)
	if s.Lie != nil {
		s.Lie(c, o)
	}
	return o, nil
}

func (s *System) answer(c *model.Cluster, d *answers.Set) *model.Observation {
	o := &model.Observation{System: s.name, Actuation: &model.Actuation{}}
	defer func() {
		if o.Pick == nil && o.ScheduledTo == "" { // which of the two the rules ask for
			o.Actuation.Nomination = model.NominationCleared
			if d.Admits(o) != nil {
				o.Actuation.Nomination = model.NominationKept
			}
		}
	}()
	switch {
	case len(c.Nodes) == 0:
		o.CycleError = "no nodes available to schedule pods"
		return o
	case len(d.Errors) > 0:
		o.CycleError = d.Errors[0]
		return o
	case len(d.Fits) > 0:
		o.ScheduledTo = d.Fits[s.draw(len(d.Fits))]
		return o
	}
	if claims := d.Deallocatable(); len(claims) > 0 {
		defer func() { o.Actuation.Deallocated = claims[:1] }() // whatever comes of preemption
	}
	if o.Eligible = d.Eligible; o.Eligible == nil || !o.Eligible.OK {
		return o
	}
	o.PotentialNodes, o.DryRuns = d.PotentialNodes, map[string]model.DryRun{}
	for _, n := range d.PotentialNodes {
		out, failed := d.Listed(n)
		switch {
		case failed != nil && failed.Error != "":
			o.DryRuns[n] = model.DryRun{Error: failed.Error}
		case failed != nil:
			o.DryRuns[n] = model.DryRun{Failed: failed}
		case len(out.Victims) == 0:
			o.DryRuns[n] = model.DryRun{Error: "no victims"}
		default:
			o.DryRuns[n] = model.DryRun{Victims: out.Victims, Violations: out.Violations}
		}
	}
	choices := d.Choices()
	if len(choices) == 0 {
		return o
	}
	o.Candidates = d.Candidates()
	chosen := choices[s.draw(len(choices))]
	o.Pick = &model.Pick{Node: chosen.Node, Victims: chosen.Outcome.Victims, Violations: chosen.Outcome.Violations}
	o.DryRuns[chosen.Node] = model.DryRun{Victims: chosen.Outcome.Victims, Violations: chosen.Outcome.Violations}
	o.Actuation = d.Preempts(chosen)
	if s.overwrites {
		for _, key := range o.Actuation.DisruptionTarget {
			o.Actuation.Other = append(o.Actuation.Other, "patch "+key+" [status]: phase Pending")
		}
	}
	return o
}

func (s *System) draw(n int) int {
	if s.Draw == nil {
		return 0
	}
	return s.Draw(n)
}
