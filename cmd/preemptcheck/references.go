package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"

	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// gatesThatMatter are the feature gates of the linked release that change
// preemption, or the filters that it asks.
var gatesThatMatter = []featuregate.Feature{
	features.GenericWorkload,
	features.InPlacePodVerticalScalingSchedulerPreemption,
	features.NominatedNodeNameForExpectation,
	features.PodLevelResources,
	features.SchedulerAsyncAPICalls,
	features.SchedulerAsyncPreemption,
	features.TaintTolerationComparisonOperators,
}

// system is a scheduler that this binary can run.
type system struct {
	Name  string       `json:"name"`
	How   string       `json:"how"`
	Gates []gateStatus `json:"featureGates"`
}

type gateStatus struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	// Modelled: a case may set the gate.
	Modelled bool `json:"modelled"`
}

func systems() []system {
	linked := system{Name: inprocess.Version, How: "kube-scheduler, linked in and run in process"}
	if from := harness.BuiltFrom(); from.Dir != "" {
		linked.How = "kube-scheduler from " + from.Dir + " (" + from.Detail + "), linked in and run in process"
	}
	for _, gate := range gatesThatMatter {
		linked.Gates = append(linked.Gates, gateStatus{
			Name:     string(gate),
			Default:  utilfeature.DefaultFeatureGate.Enabled(gate),
			Modelled: model.ModelsGate(string(gate)),
		})
	}
	return []system{linked}
}

func newReferences() *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:   "references",
		Short: "List the schedulers that this binary can run, with their feature gates",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return output.print(cmd.OutOrStdout(), systems(), listSystems)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func listSystems(w io.Writer) {
	all := systems()
	t := newTable("", "NAME", "HOW")
	for _, s := range all {
		t.row(s.Name, s.How)
	}
	t.write(w)
	for _, s := range all {
		fmt.Fprintf(w, "\nFeature gates of %s that matter to preemption:\n\n", s.Name)
		t := newTable("", "GATE", "DEFAULT", "A CASE MAY SET IT")
		for _, g := range s.Gates {
			t.row(g.Name, onOff(g.Default), yesNo(g.Modelled))
		}
		t.write(w)
	}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
