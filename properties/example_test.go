package properties_test

import (
	"context"
	"fmt"
	"log"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// A test of a scheduler, or of a plugin, fails if there is a finding that is not
// known. Any reference.System can take the place of the linked scheduler.
func ExampleChecker() {
	system := inprocess.New()
	defer system.Close()
	file, err := corpus.Load("../corpus/cases/finding-empty-selector.yaml")
	if err != nil {
		log.Fatal(err)
	}
	r, err := all.Checker(system).Check(context.Background(), file.Cases[0].Cluster)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("preempted on", r.Observation.Pick.Node)
	for _, f := range r.Particular() {
		fmt.Println(f.Property, "at stage", f.Stage, "known as", f.Known)
	}
	fmt.Println(len(r.Unexplained()), "new findings")
	// Output:
	// preempted on node-1
	// differential at stage dry run known as [empty-selector]
	// violations-recounted at stage dry run known as [empty-selector]
	// no-fewer-violations at stage pick known as [empty-selector]
	// splitting-a-budget at stage dry run known as [empty-selector]
	// 0 new findings
}

// A property of your own is a value like all others. This one is no promise of
// kube-scheduler's, so it is broken where two pods have to go.
func ExampleProperty() {
	oneVictim := properties.Property{
		Name:    "one-victim",
		Promise: "At most one pod goes.",
		Source:  "our platform's handbook",
		Check: func(s *properties.Subject) ([]properties.Finding, error) {
			if victims := s.Victims(); len(victims) > 1 {
				return properties.Found(model.StagePick, s.Observation.Pick.Node, fmt.Sprintf("%d pods go", len(victims))), nil
			}
			return nil, nil
		},
	}
	system := inprocess.New()
	defer system.Close()
	file, err := corpus.Load("../corpus/cases/fewest-victims-decide-alone.yaml")
	if err != nil {
		log.Fatal(err)
	}
	checker := &properties.Checker{System: system, Properties: []properties.Property{invariant.LowerPriorityOnly, oneVictim}}
	r, err := checker.Check(context.Background(), file.Cases[0].Cluster)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Unexplained() {
		fmt.Println(f)
	}
	// Output:
	// finding: one-victim: pick on node-2: 2 pods go
}
