// Package upstreamtests holds, for each known finding, a table test in the style
// of the scheduler's own that fails because of it, and runs these tests inside
// the scheduler's own packages. They are meant to be pasted there by whoever
// fixes the finding.
package upstreamtests

import (
	"embed"
	"fmt"
	"path"
)

// Test is a test of the scheduler that fails because of a known finding.
type Test struct {
	// Finding is the id of the finding.
	Finding string
	// File is the test file of k8s.io/kubernetes in which the test belongs; the
	// test is of the same package.
	File string
	// Name is the name of the test function.
	Name string
	// Fails names the subtests that fail, each with a part of what it prints. All
	// others pass: they show that the test itself is sound.
	Fails map[string]string
}

// Tests are all tests, in the order of the ledger.
func Tests() []Test {
	return []Test{
		{
			Finding: "empty-selector",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_EmptySelector",
			Fails:   map[string]string{"an empty selector matches every pod of the namespace": "got 0 violating victims, want 1"},
		},
		{
			Finding: "unlabelled-pod",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_UnlabelledPod",
			Fails:   map[string]string{"DoesNotExist matches a pod without labels": "got 0 violating victims, want 1"},
		},
		{
			Finding: "terminating-victims-keep-nominations",
			File:    "pkg/scheduler/framework/preemption/executor_test.go",
			Name:    "TestActuatePodPreemption_ClearsLowerNominations",
			Fails:   map[string]string{"async, terminating victim": `the nomination of pod "waiting" to node1 was not cleared`},
		},
		{
			Finding: "zero-candidates",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestGetOffsetAndNumCandidates_AtLeastOne",
			Fails:   map[string]string{"a tenth of nine nodes": "got 0 candidates for 9 nodes, want 1"},
		},
		{
			Finding: "percentage-of-potential-nodes",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestPreempt_PercentageOfClusterSize",
			Fails:   map[string]string{"two of five nodes": `got nominated node "node1", want node2`},
		},
		{
			Finding: "host-ports-forgotten",
			File:    "pkg/scheduler/framework/types_test.go",
			Name:    "TestNodeInfoRemovePod_SharedHostPort",
			Fails:   map[string]string{"the pod that stays uses the same port": "port 80 in use: got false, want true"},
		},
		{
			Finding: "prefilter-rejection-is-error",
			File:    "pkg/scheduler/schedule_one_test.go",
			Name:    "TestScheduleOne_UnresolvablePodLosesNomination",
			Fails:   map[string]string{"PreFilter rejects the pod": "Unexpected nominatingInfo"},
		},
		{
			Finding: "nominated-node-blames-others",
			File:    "pkg/scheduler/schedule_one_test.go",
			Name:    "TestScheduleOne_ReasonOfNodesExcludedByPreFilter",
			Fails:   map[string]string{"nominated": "[NodeAffinity NodeResourcesFit]"},
		},
		{
			Finding: "terminating-pod-uncounted",
			File:    "pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go",
			Name:    "TestRemovePod_Terminating",
			Fails:   map[string]string{"terminating pod": "the preemptor fits: got true, want false"},
		},
		{
			Finding: "empty-spread-selector",
			File:    "pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go",
			Name:    "TestFilter_EmptySelector",
			Fails:   map[string]string{"empty selector": "the preemptor fits: got true, want false"},
		},
		{
			Finding: "claim-of-other-namespace",
			File:    "pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions_test.go",
			Name:    "TestRemovePod_ClaimOfOtherNamespace",
			Fails:   map[string]string{"pod of another namespace with a claim of the same name": "the preemptor fits: got true, want false"},
		},
		{
			Finding: "claim-counted-once",
			File:    "pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions_test.go",
			Name:    "TestRemovePod_ClaimWithSeveralReferences",
			Fails: map[string]string{
				"one of two users": "the preemptor fits: got true, want false",
				"another claim of the preemptor is still in use, and the pod mounted its own twice": "the preemptor fits: got true, want false",
			},
		},
		{
			Finding: "nominated-claim-ignored",
			File:    "pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions_test.go",
			Name:    "TestFilter_ClaimOfNominatedPod",
			Fails:   map[string]string{"the nominated pod has the same claim": "the pod fits: got true, want false"},
		},
		{
			Finding: "attached-volume-counted-twice",
			File:    "pkg/scheduler/framework/plugins/nodevolumelimits/csi_test.go",
			Name:    "TestCSILimits_VolumeAttachedAlready",
			Fails:   map[string]string{"the volume is attached": "node(s) exceed max volume count"},
		},
		{
			Finding: "victim-volumes-stay-attached",
			File:    "pkg/scheduler/framework/plugins/nodevolumelimits/csi_test.go",
			Name:    "TestCSILimits_VolumeOfRemovedPodIsDetached",
			Fails:   map[string]string{"the victim's volume is attached": "the preemptor fits: got false, want true"},
		},
		{
			Finding: "sharer-reprieved-later",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestSelectVictimsOnNode_SharedVolumes",
			Fails:   map[string]string{"the node takes two, the pod that shares volumes is tried last": "Unexpected victims"},
		},
		{
			Finding: "foreign-ephemeral-claim",
			File:    "pkg/scheduler/framework/plugins/nodevolumelimits/csi_test.go",
			Name:    "TestCSILimits_ExistingPodWithForeignEphemeralClaim",
			Fails: map[string]string{
				"claim of nobody":                      "PVC test/existing-scratch was not created for pod test/existing",
				"claim of an earlier pod of that name": "PVC test/existing-scratch was not created for pod test/existing",
			},
		},
		{
			Finding: "missing-driver-resolvable",
			File:    "pkg/scheduler/framework/plugins/nodevolumelimits/csi_test.go",
			Name:    "TestCSILimits_MissingDriverIsUnresolvable",
			Fails: map[string]string{
				"the driver is missing":   "Filter: got Unschedulable, want UnschedulableAndUnresolvable",
				"the node has no CSINode": "Filter: got Unschedulable, want UnschedulableAndUnresolvable",
			},
		},
		{
			Finding: "volume-node-fields",
			File:    "pkg/scheduler/framework/plugins/volumebinding/binder_test.go",
			Name:    "TestFindPodVolumes_NodeAffinityByField",
			Fails: map[string]string{
				"name of another node":                   "expected failure reasons",
				"label of the node, and name of another": "expected failure reasons",
			},
		},
		{
			Finding: "claim-allocated-twice",
			File:    "pkg/scheduler/framework/plugins/dynamicresources/dynamicresources_test.go",
			Name:    "TestFilter_ClaimUnderTwoNames",
			Fails:   map[string]string{"two names and one device": "the pod fits: got false, want true"},
		},
		{
			Finding: "nominated-refusals-skipped",
			File:    "pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go",
			Name:    "TestFilter_AntiAffinityOfNominatedPod",
			Fails:   map[string]string{"only the nominated pod shuns the pod": "the pod fits beside a nominated pod that shuns it"},
		},
		{
			Finding: "one-pod-for-all-terms",
			File:    "pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go",
			Name:    "TestRequiredAffinity_TermsMetByDifferentPods",
			Fails:   map[string]string{"each term is met by another pod": "the node is rejected"},
		},
		{
			Finding: "unlabelled-nodes-hide-first",
			File:    "pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go",
			Name:    "TestRequiredAffinity_FirstOfGroup",
			Fails:   map[string]string{"the first pod runs on a node without the label": "the pod is taken for the first of its group"},
		},
		{
			Finding: "extender-rejection-is-error",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestPreempt_NodeRejectedByExtenderOnly",
			Fails:   map[string]string{"the pod fits": "want Unschedulable"},
		},
		{
			Finding: "nothing-left-keeps-nomination",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestPreempt_ExtenderLeavesNoCandidate",
			Fails:   map[string]string{"the extender drops the candidate": "want one that clears the nomination"},
		},
		{
			Finding: "first-victim-is-highest",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestPreempt_ExtenderReordersVictims",
			Fails:   map[string]string{"in the opposite order": `got nominated node "node1", want node2`},
		},
		{
			Finding: "budget-spent-by-reprieved-pod",
			File:    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go",
			Name:    "TestSelectVictimsOnNode_BudgetOfReprievedPod",
			Fails: map[string]string{
				"either pod may go, the budget allows one":            "Unexpected victims",
				"only the lower pod makes room, the budget allows it": "got 1 violations, want 0",
			},
		},
		{
			Finding: "terminating-victim-violates-budget",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_TerminatingPod",
			Fails:   map[string]string{"terminating pod": "got 1 violating victims, want 0"},
		},
		{
			Finding: "pending-victim-violates-budget",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_PendingPod",
			Fails:   map[string]string{"pending pod": "got 1 violating victims, want 0"},
		},
		{
			Finding: "unhealthy-pod-eviction-policy",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_UnhealthyPodEvictionPolicy",
			Fails:   map[string]string{"unhealthy pod, AlwaysAllow": "got 1 violating victims, want 0"},
		},
		{
			Finding: "budget-order",
			File:    "pkg/scheduler/framework/preemption/util_test.go",
			Name:    "TestFilterVictimsWithPDBViolation_OrderOfPDBs",
			Fails:   map[string]string{"a pod in both budgets": "got 1 violating victims, and 2 with the budgets the other way round"},
		},
	}
}

// LookUp finds the test of a finding.
func LookUp(finding string) (Test, bool) {
	for _, t := range Tests() {
		if t.Finding == finding {
			return t, true
		}
	}
	return Test{}, false
}

// Package is the import path of the package to which the test belongs.
func (t Test) Package() string { return path.Join(kubernetes, path.Dir(t.File)) }

//go:embed testdata/*_test.go
var sources embed.FS

// Source is the test as a Go file.
func (t Test) Source() ([]byte, error) {
	src, err := sources.ReadFile("testdata/" + t.Finding + "_test.go")
	if err != nil {
		return nil, fmt.Errorf("the test of finding %s: %w", t.Finding, err)
	}
	return src, nil
}
