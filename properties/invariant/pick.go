package invariant

import (
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// BestCandidate: no other candidate is better than the pick by the documented criteria.
var BestCandidate = properties.Property{
	Name:    "best-candidate",
	Promise: "1. A node with minimum number of PDB violations. 2. A node with minimum highest priority victim is picked. 3. Ties are broken by sum of priorities of all victims. 4. If there are still ties, node with the minimum number of victims is picked. 5. If there are still ties, node with the latest start time of all highest priority victims is picked.",
	Source:  "preemption.go:324@v1.37.1, doc comment of pickOneNodeForPreemption",
	Lies:    []string{"the pick violates a budget"},
	Applies: choiceShown,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		p, o := picked(s), s.Observation
		own := Cost(s, p.victims, p.violations)
		names, runs := o.Candidates, o.DryRuns
		if o.AfterExtenders != nil {
			names, runs = slices.Sorted(maps.Keys(o.AfterExtenders)), o.AfterExtenders
		}
		if d := runs[p.node]; !slices.Contains(names, p.node) || !slices.Equal(d.Victims, p.victims) || d.Violations != p.violations {
			findings = append(findings, properties.FoundOf(model.StagePick, p.node, "", fmt.Sprintf("victims %v with %d violations are none of the candidates", p.victims, p.violations)))
		}
		for _, other := range names {
			d := runs[other]
			if their := Cost(s, d.Victims, d.Violations); slices.Compare(their, own) < 0 {
				findings = append(findings, properties.FoundOf(model.StagePick, p.node, other, fmt.Sprintf("%s is better by %s", other, decisive(their, own))))
			}
		}
		return findings, nil
	},
}

// choiceShown: preempted, by a system that shows what it chose from.
func choiceShown(s *properties.Subject) bool {
	return preempted(s) && s.Observation.Candidates != nil && s.Observation.DryRuns != nil
}

// Cost is what the victims of a candidate cost by each criterion of the pick in turn:
// violations, highest priority, sum of priorities, number of victims, and how early
// the first of the highest priority started, in seconds. Less is better. In their sum
// priorities count from the lowest possible one, so that every victim adds to it
// (preemption.go:365@v1.37.1).
func Cost(s *properties.Subject, keys []string, violations int) []int64 {
	victims := s.Pods(keys)
	highest, sum := int64(math.MinInt64), int64(0)
	for _, p := range victims {
		highest = max(highest, int64(model.Priority(p)))
		sum += int64(model.Priority(p)) - math.MinInt32
	}
	counts := highest
	if len(victims) > 0 && (s.Assumes("first-victim-is-highest") || s.Assumes("victims-unsorted")) {
		counts = int64(model.Priority(victims[0]))
	}
	first := int64(math.MaxInt64)
	for _, p := range slices.DeleteFunc(victims, func(p *v1.Pod) bool { return int64(model.Priority(p)) < highest }) {
		first = min(first, s.Started(p).Unix())
	}
	return []int64{int64(violations), counts, sum, int64(len(keys)), -first}
}

// decisive is the name of the first criterion by which two costs differ.
func decisive(a, b []int64) string {
	for i, name := range explain.CriterionNames() {
		if a[i] != b[i] {
			return name
		}
	}
	return model.Tie
}
