package properties

import (
	"cmp"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
)

// Differential is the name of the property that what a scheduler does is, stage
// by stage, one of the answers that the documented algorithm allows.
const Differential = "differential"

// Differentials are the properties that hold a scheduler against the model.
func Differentials() []Property { return []Property{AllowedAnswer(), FiltersAlone()} }

// AllowedAnswer is the differential. A Checker checks it of each cluster, first,
// and also tells which known findings together account for the answer.
func AllowedAnswer() Property {
	return Property{
		Name:    Differential,
		Needs:   NeedsModel,
		Promise: "Preemption logic tries to find a Node where removal of one or more Pods with lower priority than P would enable P to be scheduled on that Node. It reprieves as many of them as possible, and picks the Node by criteria. The answer is one of those that these rules allow.",
		Source:  DocsPreemption + "; doc comments of SelectVictimsOnNode (default_preemption.go:279@v1.37.1) and pickOneNodeForPreemption (preemption.go:324@v1.37.1); each file of model/ cites its own",
		Lies:    []string{"another pod is deleted", "another victim", "no node helps", "every mutant of the model"},
		Check: func(s *Subject) ([]Finding, error) {
			if d := s.Decision.Admits(s.Observation); d != nil && !d.Undecided {
				return []Finding{disagreement(d, "", nil)}, nil
			}
			return nil, nil
		},
	}
}

// differential compares the answer with those that the model allows. undecided
// says where the model cannot tell.
func differential(s *Subject) (findings []Finding, undecided string) {
	d := s.allowed().Admits(s.Observation)
	if d == nil {
		return nil, ""
	}
	known, left := explainAnswer(s)
	besides := ""
	if known == nil && isLater(left, d) {
		// What is known at one stage hides nothing new at a later one.
		d, besides = left, ", besides what is known"
	}
	if d.Undecided && known == nil {
		return nil, d.String()
	}
	return []Finding{disagreement(d, besides, known)}, ""
}

// allowed is what the model allows, for a pod or a pod group; nil if it does not cover the cluster.
func (s *Subject) allowed() interface {
	Admits(o *model.Observation) *answers.Disagreement
} {
	switch {
	case s.Decision != nil:
		return s.Decision
	case s.Group != nil:
		return s.Group
	}
	return nil
}

// judge compares the observation with what rules allow, and returns how to do so with others.
func (s *Subject) judge(rules *answers.Rules) (dis *answers.Disagreement, by func(*answers.Rules) (*answers.Disagreement, error), err error) {
	if s.Group != nil {
		by = func(rules *answers.Rules) (*answers.Disagreement, error) {
			d, err := podgroups.Decide(s.Cluster, rules)
			if err != nil {
				return nil, err
			}
			return d.Admits(s.Observation), nil
		}
		dis, err = by(rules)
		return dis, by, err
	}
	all, err := answers.Decide(s.Cluster, rules)
	if err != nil {
		return nil, nil, err
	}
	return all.Admits(s.Observation), func(rules *answers.Rules) (*answers.Disagreement, error) {
		d, err := all.Under(rules)
		if err != nil {
			return nil, err
		}
		return d.Admits(s.Observation), nil
	}, nil
}

func disagreement(d *answers.Disagreement, besides string, known []string) Finding {
	return Finding{
		Property: Differential,
		Stage:    d.Stage,
		Node:     d.Node,
		Kind:     d.Kind,
		Detail:   "want " + d.Want + ", got " + d.Got + besides,
		Known:    known,
	}
}

// isLater tells whether a scheduler agreed with the model for longer before it came
// to a than before it came to b, where nil is no disagreement.
func isLater(a, b *answers.Disagreement) bool {
	switch {
	case b == nil:
		return false
	case a == nil:
		return true
	}
	stages := model.Stages()
	return cmp.Or(
		cmp.Compare(slices.Index(stages, a.Stage), slices.Index(stages, b.Stage)),
		cmp.Compare(a.Members, b.Members),
		cmp.Compare(a.Node, b.Node),
		cmp.Compare(a.Closeness(), b.Closeness())) > 0
}
