// Package upstreamtests holds, for each known finding, a table test in the style
// of the scheduler's own that fails because of it, and runs these tests inside
// the scheduler's own packages. They are meant to be pasted there by whoever
// fixes the finding.
package upstreamtests

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Test is a test of the scheduler that fails because of a known finding.
type Test struct {
	// Finding is the id of the finding.
	Finding string
	// File is the test file of k8s.io/kubernetes in which the test belongs; the
	// test is of the same package.
	File string
	// Name is the name of the test function. Where several findings share one, the name
	// of the finding's subtest follows.
	Name string
	// Fails names the subtests that fail, each with a part of what it prints. All
	// others pass: they show that the test itself is sound.
	Fails map[string]string
}

const (
	scheduler  = "pkg/scheduler/"
	preemption = scheduler + "framework/preemption/"
	plugins    = scheduler + "framework/plugins/"
)

type fails = map[string]string

// inTime is the test of all findings that take more than one cycle: it runs the scheduler
// in virtual time.
const inTime = "TestPreemptionInTime"

// ofGroup is the test of findings about pod groups that preempt.
const ofGroup = "TestScheduleOnePodGroup_Preemption"

// Tests are all tests, in the order of the ledger.
var Tests = []Test{
	{"empty-selector", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_EmptySelector",
		fails{"an empty selector matches every pod of the namespace": "got 0 violating victims, want 1"}},
	{"unlabelled-pod", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_UnlabelledPod",
		fails{"DoesNotExist matches a pod without labels": "got 0 violating victims, want 1"}},
	{"terminating-victims-keep-nominations", preemption + "executor_test.go", "TestActuatePodPreemption_ClearsLowerNominations",
		fails{"async, terminating victim": `the nomination of pod "waiting" to node1 was not cleared`}},
	{"zero-candidates", plugins + "defaultpreemption/default_preemption_test.go", "TestGetOffsetAndNumCandidates_AtLeastOne",
		fails{"a tenth of nine nodes": "got 0 candidates for 9 nodes, want 1"}},
	{"percentage-of-potential-nodes", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_PercentageOfClusterSize",
		fails{"two of five nodes": `got nominated node "node1", want node2`}},
	{"host-ports-forgotten", scheduler + "framework/types_test.go", "TestNodeInfoRemovePod_SharedHostPort",
		fails{"the pod that stays uses the same port": "port 80 in use: got false, want true"}},
	{"host-addresses-are-text", plugins + "nodeports/node_ports_test.go", "TestFits_AddressInAnotherSpelling",
		fails{"IPv6, without zeros": "the pod fits: got true, want false", "IPv4, mapped": "the pod fits: got true, want false"}},
	{"prefilter-rejection-is-error", scheduler + "schedule_one_test.go", "TestScheduleOne_UnresolvablePodLosesNomination",
		fails{"PreFilter rejects the pod": "Unexpected nominatingInfo"}},
	{"free-node-is-not-looked-at", scheduler + "schedule_one_test.go", "TestFindNodesThatFitPod_ExtenderRejectsTheFirstNodes",
		fails{"one node more": "got 0 feasible nodes, want node101"}},
	{"nominated-node-blames-others", scheduler + "schedule_one_test.go", "TestScheduleOne_ReasonOfNodesExcludedByPreFilter",
		fails{"nominated": "[NodeAffinity NodeResourcesFit]"}},
	{"terminating-pod-uncounted", plugins + "podtopologyspread/filtering_test.go", "TestRemovePod_Terminating",
		fails{"terminating pod": "the preemptor fits: got true, want false"}},
	{"empty-spread-selector", plugins + "podtopologyspread/filtering_test.go", "TestFilter_EmptySelector",
		fails{"empty selector": "the preemptor fits: got true, want false"}},
	{"claim-of-other-namespace", plugins + "volumerestrictions/volume_restrictions_test.go", "TestRemovePod_ClaimOfOtherNamespace",
		fails{"pod of another namespace with a claim of the same name": "the preemptor fits: got true, want false"}},
	{"claim-counted-once", plugins + "volumerestrictions/volume_restrictions_test.go", "TestRemovePod_ClaimWithSeveralReferences",
		fails{"one of two users": "the preemptor fits: got true, want false",
			"another claim of the preemptor is still in use, and the pod mounted its own twice": "the preemptor fits: got true, want false"}},
	{"nominated-claim-ignored", plugins + "volumerestrictions/volume_restrictions_test.go", "TestFilter_ClaimOfNominatedPod",
		fails{"the nominated pod has the same claim": "the pod fits: got true, want false"}},
	{"attached-volume-counted-twice", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_VolumeAttachedAlready",
		fails{"the volume is attached": "node(s) exceed max volume count"}},
	{"victim-volumes-stay-attached", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_VolumeOfRemovedPodIsDetached",
		fails{"the victim's volume is attached": "the preemptor fits: got false, want true"}},
	{"sharer-reprieved-later", plugins + "defaultpreemption/default_preemption_test.go", "TestSelectVictimsOnNode_SharedVolumes",
		fails{"the node takes two, the pod that shares volumes is tried last": "Unexpected victims"}},
	{"foreign-ephemeral-claim", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_ExistingPodWithForeignEphemeralClaim",
		fails{"claim of nobody": "PVC test/existing-scratch was not created for pod test/existing",
			"claim of an earlier pod of that name": "PVC test/existing-scratch was not created for pod test/existing"}},
	{"missing-driver-resolvable", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_MissingDriverIsUnresolvable",
		fails{"the driver is missing": "Filter: got Unschedulable, want UnschedulableAndUnresolvable",
			"the node has no CSINode": "Filter: got Unschedulable, want UnschedulableAndUnresolvable"}},
	{"migrated-driver-not-missed", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_MigratedVolumeNeedsDriver",
		fails{"in-tree volume, the node has no CSINode": "the pod fits: got true, want false"}},
	{"migrated-attachment-uncounted", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_MigratedVolumeIsAttached",
		fails{"in-tree volume": "the pod fits: got true, want false"}},
	{"volume-node-fields", plugins + "volumebinding/binder_test.go", "TestFindPodVolumes_NodeAffinityByField",
		fails{"name of another node": "expected failure reasons",
			"label of the node, and name of another": "expected failure reasons"}},
	{"storage-sizes-wrap-around", plugins + "volumebinding/binder_test.go", "TestFindPodVolumes_SizeBeyondInt64",
		fails{"claim beyond 64 bits": "expected failure reasons", "claim beyond 64 bits, in 20 digits": "expected failure reasons",
			"capacity beyond 64 bits": "expected failure reasons", "largest volume beyond 64 bits": "expected failure reasons"}},
	{"claim-takes-two-volumes", plugins + "volumebinding/binder_test.go", "TestFindPodVolumes_ClaimUnderTwoNames",
		fails{"two names and one volume": "expected failure reasons", "two names and two volumes": "volumes bound to the claim: got 2, want 1",
			"two names, to be provisioned": "volumes provisioned for the claim: got 2, want 1"}},
	{"shared-claim-taken-back", plugins + "volumebinding/binder_test.go", "TestRevertAssumedPodVolumes_SharedClaim",
		fails{"the pod that is taken back mounts the claim, too": "expected failure reasons"}},
	{"claim-allocated-twice", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_ClaimUnderTwoNames",
		fails{"two names and one device": "the pod fits: got false, want true"}},
	{"admin-devices-withheld", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_AdministeredDevice",
		fails{"administered first, then used": "the pod fits: got false, want true"}},
	{"admin-access-consumes", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_AdministrationOfDeviceInUse",
		fails{"a partition that has used up the counters": "the pod fits: got false, want true",
			"a shared device without capacity left": "the pod fits: got false, want true"}},
	{"capacity-names-are-text", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_NameOfRequestedCapacity",
		fails{"requested with the driver's domain": "the pod fits: got false, want true",
			"published with the driver's domain": "the pod fits: got false, want true"}},
	{"failure-behind-unready-device", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_FailedDeviceOfTwo",
		fails{"the first one is not ready, the second one failed": "the pod fits: got true, want false"}},
	{"share-read-as-another", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_FailedShareOfDevice",
		fails{"the first one is ready, the second one failed": "the pod fits: got true, want false"}},
	{"bound-member-loses-its-claim", plugins + "dynamicresources/dynamicresources_test.go", "TestPreBind_ClaimReservedBefore",
		fails{"a member whose claim is reserved for it before": "users of the claim of a pod that is bound: got 0, want 1"}},
	{"skipped-entry-shifts-claims", plugins + "dynamicresources/dynamicresources_test.go", "TestPreBind_EntryWithoutClaim",
		fails{"the claim of the group behind an entry without a claim": "the claim is reserved for pods my-pod, want podgroups my-podgroup",
			"a claim of the pod behind both": "the claim is reserved for podgroups my-podgroup, want pods my-pod"}},
	{"sharer-swaps-devices", plugins + "dynamicresources/dynamicresources_test.go", "TestReserve_ClaimSharedInPodGroup",
		fails{"the shared claim comes first": "a device has two claims: shared and own have instance-1"}},
	{"shared-device-given-whole", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_DeviceThatWasShared",
		fails{"no longer shared, a half requested": "the pod fits: got true, want false",
			"no longer shared, without a capacity": "the pod fits: got true, want false"}},
	{"skipped-operations-ignored", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_DeviceThatSkipsNodeOperations",
		fails{"the gate is off": "the pod fits: got true, want false", "the gate is off, and the node still declares it": "the pod fits: got true, want false"}},
	{"tainted-claim-shared", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_TaintAfterAllocation",
		fails{"NoSchedule": "the pod fits: got true, want false", "NoExecute": "the pod fits: got true, want false",
			"NoExecute, another effect tolerated": "the pod fits: got true, want false"}},
	{"unpicked-class-unnamed", plugins + "dynamicresources/dra_manager_test.go", "TestDeviceClassResolver_ClassesWithOneName",
		fails{"the class that comes second is older": "the class for its own name: got none", "the class that comes second sorts last": "the class for its own name: got none"}},
	{"claim-beside-device-plugin-fails", plugins + "dynamicresources/dynamicresources_test.go", "TestPreBind_ClaimBesideDevicePlugin",
		fails{"a claim, and the node has the resource": "nil or empty request mappings"}},
	{"nominated-refusals-skipped", plugins + "interpodaffinity/filtering_test.go", "TestFilter_AntiAffinityOfNominatedPod",
		fails{"only the nominated pod shuns the pod": "the pod fits beside a nominated pod that shuns it"}},
	{"hosts-of-one-name-apart", plugins + "interpodaffinity/filtering_test.go", "TestFilter_NodesOfOneHostName",
		fails{"a pod on the other node shuns the pod": "the pod fits: got true, want false",
			"the pod shuns one on the other node":            "the pod fits: got true, want false",
			"the pod wants to be near one on the other node": "the pod fits: got false, want true"}},
	{"one-pod-for-all-terms", plugins + "interpodaffinity/filtering_test.go", "TestRequiredAffinity_TermsMetByDifferentPods",
		fails{"each term is met by another pod": "the node is rejected"}},
	{"unlabelled-nodes-hide-first", plugins + "interpodaffinity/filtering_test.go", "TestRequiredAffinity_FirstOfGroup",
		fails{"the first pod runs on a node without the label": "the pod is taken for the first of its group"}},
	{"extender-rejection-is-error", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_NodeRejectedByExtenderOnly",
		fails{"the pod fits": "want Unschedulable"}},
	{"nothing-left-keeps-nomination", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_ExtenderLeavesNoCandidate",
		fails{"the extender drops the candidate": "want one that clears the nomination"}},
	{"first-victim-is-highest", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_ExtenderReordersVictims",
		fails{"in the opposite order": `got nominated node "node1", want node2`}},
	{"budget-spent-by-reprieved-pod", plugins + "defaultpreemption/default_preemption_test.go", "TestSelectVictimsOnNode_BudgetOfReprievedPod",
		fails{"either pod may go, the budget allows one": "Unexpected victims",
			"only the lower pod makes room, the budget allows it": "got 1 violations, want 0"}},
	{"terminating-victim-violates-budget", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_TerminatingPod",
		fails{"terminating pod": "got 1 violating victims, want 0"}},
	{"pending-victim-violates-budget", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_PendingPod",
		fails{"pending pod": "got 1 violating victims, want 0"}},
	{"unhealthy-pod-eviction-policy", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_UnhealthyPodEvictionPolicy",
		fails{"unhealthy pod, AlwaysAllow": "got 1 violating victims, want 0"}},
	{"budget-order", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_OrderOfPDBs",
		fails{"a pod in both budgets": "got 1 violating victims, and 2 with the budgets the other way round"}},
	{"mirror-pods-preempted", plugins + "defaultpreemption/default_preemption_test.go", "TestSelectVictimsOnNode_MirrorPod",
		fails{"mirror pod": "Unexpected victims"}},
	{"preempted-event-without-preemptor", preemption + "executor_test.go", "TestExecutorPreemptor_ObjCanBeReferenced",
		fails{"pod": "no event can be related to the preemptor: no kind is registered for the type preemption.podExecutorPreemptor"}},
	{"failed-preemption-keeps-nomination", preemption + "executor_test.go", "TestPrepareCandidateAsync_FailureRevertsNomination",
		fails{"the condition": "got 1 pods nominated to the node, want 0", "the deletion": "got 1 pods nominated to the node, want 0"}},
	{"quantities-wrap-around", plugins + "noderesources/fit_test.go", "TestFits_QuantityBeyondInt64",
		fails{"memory beyond 64 bits": "the pod fits", "memory beyond 64 bits, in 19 digits": "the pod fits",
			"milliCPU beyond 64 bits": "the pod fits", "a pod on the node is beyond 64 bits": "the pod fits"}},
	{"claim-free-after-its-node", scheduler + "backend/cache/cache_test.go", "TestUpdateSnapshot_ClaimOfPodWhoseNodeIsGone",
		fails{"the node goes first": "the claim of a pod on node2 is in use: got false, want true"}},
	{"budget-status-lags", preemption + "util_test.go", "TestFilterVictimsWithPDBViolation_StatusOfEarlierGeneration",
		fails{"status of the generation before": "got 0 violating victims, want 1"}},
	{"nominated-devices-ignored", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_ClaimOfNominatedPod",
		fails{"the nominated pod claims the only device": "the pod fits: got true, want false"}},
	{"deallocates-and-preempts", plugins + "dynamicresources/dynamicresources_test.go", "TestPostFilter_NothingElseIsTriedAfterDeallocation",
		fails{"the claim is idle": "the last PostFilter plugin to run: got false, want true"}},
	{"member-ranks-as-group", preemption + "types_test.go", "TestNewPodVictim_RanksAsPod",
		fails{"the group is in mode Single": "got true, want false", "the group is missing": "got true, want false"}},
	{"pick-by-own-priority", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_PriorityOfPodGroupDecidesPick",
		fails{"the pod has a higher priority than its group": `got nominated node "node2", want node1`}},
	{"member-on-deleted-node-is-error", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_PodGroupMemberOnDeletedNode",
		fails{"the node has been deleted": "want nominated node node1"}},
	{"nomination-by-own-priority", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_PriorityOfPodGroupKeepsRoom",
		fails{"the pod has a lower priority than its group": "want Unschedulable, as the room is kept"}},
	{"skipped-plugins-stay-skipped", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/a pod wants no member on its node",
		fails{"the member does not mind": "pods [] are evicted, want [v]"}},
	{"least-of-two-domains", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/pods come back in two of three zones",
		fails{"in both": "pods [] are evicted, want [u2]"}},
	{"own-nominations-count", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/two members are nominated to an empty node with a place for one",
		fails{"the priority is 0": "pods [v] are evicted, want []"}},
	{"members-stay-nominated", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/there is room for one of two members once another pod is evicted",
		fails{"both were nominated": "pods [m1 m2] are nominated to node1, want 1"}},
	{"preempts-for-unscheduled-groups", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/one of two groups of a composite group cannot be scheduled",
		fails{"one of its pods fits": "pods [v w] are evicted, want [v]"}},
	{"unknown-topology-domain-is-error", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/members run already where a topology constraint allows no other",
		fails{"in two zones": "the pod waits as [SchedulerError], want Unschedulable"}},
	{"group-without-nodes-is-error", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/there are no nodes",
		fails{"for a group": "the pod waits as [SchedulerError], want Unschedulable"}},
	{"group-keeps-lower-nominations", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/a pod of lower priority is nominated",
		fails{"a group preempts": "pods [low m] are nominated to node1, want 1"}},
	{"driver-on-node-unnoticed", plugins + "nodevolumelimits/csi_test.go", "TestCSILimitsQHint_DriverRegistered",
		fails{"without a limit": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"ephemeral-volume-detached-unnoticed", plugins + "nodevolumelimits/csi_test.go", "TestCSILimitsQHint_VolumeDetached",
		fails{"an ephemeral volume": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"volume-limit-lifted-unnoticed", plugins + "nodevolumelimits/csi_test.go", "TestCSILimits_EventsThatLiftTheLimit",
		fails{"the driver is unregistered, and its limit is gone": "the pod fits now, and no registered event queues it",
			"a node is added": "the pod fits now, and no registered event queues it"}},
	{"objects-gone-unnoticed", plugins + "interpodaffinity/plugin_test.go", "TestEventsToRegister_NodeOfShunnedPodDeleted",
		fails{"the pod shuns the other one, whose node is deleted": "the pod fits now, and no registered event queues it",
			"the other pod shuns the pod, and its node is deleted": "the pod fits now, and no registered event queues it"}},
	{"declared-operations-unnoticed", plugins + "dynamicresources/dynamicresources_test.go", "TestEventsToRegister_NodeForAllocatedClaim",
		fails{"the device skips node operations, which the node comes to declare": "the pod fits now, and no registered event queues it"}},
	{"capacity-check-off-unnoticed", plugins + "volumebinding/volume_binding_test.go", "TestVolumeBinding_EventsForClaimsWithoutCapacity",
		fails{"the driver does without the check": "the pod fits now, and no registered event queues it"}},
	{"disk-of-other-namespace-unnoticed", plugins + "volumerestrictions/volume_restrictions_test.go", "Test_isSchedulableAfterAssignedPodDeleted_DiskOfOtherNamespace",
		fails{"iSCSI, a pod of another namespace": "the pod fits now, and the hint is QueueSkip, want Queue",
			"RBD, a pod of another namespace": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"namespace-selector-unnoticed", plugins + "interpodaffinity/plugin_test.go", "Test_isSchedulableAfterAssignedPodChange_NamespaceSelector",
		fails{"affinity to a selected namespace, a pod comes": "the pod fits now, and the hint is QueueSkip, want Queue",
			"affinity to a selected namespace, a pod is relabelled":      "the pod fits now, and the hint is QueueSkip, want Queue",
			"anti-affinity to a selected namespace, a pod goes":          "the pod fits now, and the hint is QueueSkip, want Queue",
			"anti-affinity to a selected namespace, a pod is relabelled": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"one-of-two-terms-unnoticed", plugins + "interpodaffinity/plugin_test.go", "Test_isSchedulableAfterAssignedPodChange_OneOfTwoAntiAffinityTerms",
		fails{"a second term, for the host, in which the pod stays": "the pod fits now, and the hint is QueueSkip, want Queue",
			"a second term, for zones that the nodes do not have, in which the pod stays": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"left-out-node-unnoticed", plugins + "podtopologyspread/plugin_test.go", "Test_isSchedulableAfterNodeChange_NodeAffinityPolicy",
		fails{"the node selector does not match any more": "the pod fits now, and the hint is QueueSkip, want Queue",
			"the node affinity does not match any more":             "the pod fits now, and the hint is QueueSkip, want Queue",
			"the node selector matches now, and a zone was missing": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"added-affinity-unnoticed", plugins + "nodeaffinity/node_affinity_test.go", "Test_isSchedulableAfterNodeChange_AddedAffinity",
		fails{"the pod asks for nothing": "the pod fits now, and the hint is QueueSkip, want Queue",
			"the pod asks for a label that the node has": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"ignored-resource-counts", plugins + "noderesources/fit_test.go", "Test_isSchedulableAfterNodeChange_IgnoredResources",
		fails{"the resource is ignored": "the pod fits now, and the hint is QueueSkip, want Queue",
			"its group is ignored": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"own-label-keys-unnoticed", plugins + "podtopologyspread/plugin_test.go", "Test_isSchedulableAfterTargetPodChange_MatchLabelKeys",
		fails{"the key is not merged, and the label goes": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"own-label-default-unnoticed", plugins + "podtopologyspread/plugin_test.go", "Test_isSchedulableAfterTargetPodChange_DefaultConstraints",
		fails{"the label goes": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"infeasible-resize-hides-requests", plugins + "noderesources/fit_test.go", "Test_isSchedulableAfterAssignedPodScaleDown_ResizePending",
		fails{"the resize is infeasible": "the pod fits now, and the hint is QueueSkip, want Queue"}},
	{"growing-pool-is-error", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_AllDevicesOfIncompletePool",
		fails{"all devices, one of two slices": "Filter: got Error, want UnschedulableAndUnresolvable: claim default/my-pod-my-resource, request req-1: asks for all devices"}},
	{"unmet-claim-is-error", plugins + "dynamicresources/dynamicresources_test.go", "TestFilter_UnmetConstraint",
		fails{"all devices": "Filter: got Error, want UnschedulableAndUnresolvable"}},
	{"gated-by-vain-preemption", scheduler + "scheduler_test.go", inTime + "/the victims are gone before they are preempted",
		fails{"somebody deletes them": "after a minute pod p is not on node1"}},
	{"victim-deletion-met-by-gate", scheduler + "scheduler_test.go", inTime + "/the victim that matters is gone before the last one is evicted",
		fails{"the last eviction is slow": "after a minute pod p is not on node1"}},
	{"gate-outlives-preemption", scheduler + "scheduler_test.go", inTime + "/a node is added while the victim terminates",
		fails{"another pod goes away while the victim is evicted": "after a minute pod p is not on node2"}},
	{"withdrawn-nomination-comes-back", scheduler + "scheduler_test.go", inTime + "/the nomination is withdrawn",
		fails{"before its update came back": "after a minute pod o is not on node1"}},
	{"end-of-victims-wakes-nobody", scheduler + "scheduler_test.go", inTime + "/another plugin rejects the preemptor when its victims end",
		fails{"its port is taken": "after a minute pod o is not on node1"}},
	{"unit-evicted-in-part", scheduler + "scheduler_test.go", inTime + "/an eviction of one pod of a group fails",
		fails{"that of one whose room is not needed": "a pod of the group runs, and the other one was evicted"}},
	{"deleted-member-keeps-group-out", scheduler + "scheduler_test.go", inTime + "/a pod of a group is deleted that has a scheduling gate",
		fails{"the other one is there already": "after a minute pod u2 is not on node1"}},
	{"failed-binding-cuts-group-cycle", scheduler + "backend/queue/scheduling_queue_test.go", "TestAddAttemptedPodGroupIfNeeded_PodComesBackMeanwhile",
		fails{"a pod without a group": "1 pods wait for the end of the cycle"}},
	{"late-deletion-holds-room", scheduler + "scheduler_test.go", inTime + "/a pod of a group is deleted",
		fails{"in the group's cycle": "after a minute pod p is not on node1"}},
	{"recreated-member-keeps-nomination", scheduler + "backend/queue/scheduling_queue_test.go", "TestAddNominatedPod_RemovedPod",
		fails{"the pod was removed, and another one of its name is there": "got 1 pods nominated to node1, want 0"}},
	{"composite-group-forgets-rejections", scheduler + "schedule_one_podgroup_test.go", ofGroup + "/a pod of a group in a composite group does not fit",
		fails{"another pod of its group runs": "the pod is rejected by [], want [NodeResourcesFit]"}},
	{"first-rejection-stands-for-group", scheduler + "scheduler_test.go", inTime + "/a pod of a group is in the way of another one, which may only be on its node",
		fails{"by its port": "after a minute pod m2 is not on node1"}},
	{"preempts-for-bound-pod", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_LatestVersionIsBound",
		fails{"the latest version is bound": "got 1 victims, want 0"}},
	{"preempts-as-namesake", plugins + "defaultpreemption/default_preemption_test.go", "TestPreempt_LatestVersionIsAnotherPod",
		fails{"the pod was created again": "got 1 victims, want 0"}},
	{"evicts-namesake", scheduler + "scheduler_test.go", inTime + "/the victim is replaced by a pod of its name",
		fails{"before it is evicted": "the pod that replaced the victim was evicted"}},
	{"preempts-before-nomination-is-seen", scheduler + "scheduler_test.go", inTime + "/the preemptor is tried again while its victims end",
		fails{"before its nomination came back": "victims on two nodes were evicted for one pod"}},
	{"failed-synchronous-preemption-waits", scheduler + "scheduler_test.go", inTime + "/an eviction fails",
		fails{"once": "after a minute pod p is not on node1"}},
	{"failed-write-leaves-nomination", scheduler + "scheduler_test.go", inTime + "/the write that withdraws a nomination fails",
		fails{"once": "the pod's status nominates it to node1, the scheduler does not"}},
	{"victim-back-in-queue-wakes-nobody", scheduler + "scheduler_test.go", inTime + "/the victim's binding fails before it is evicted",
		fails{"it does": "after a minute pod p is not on node1"}},
	{"preempts-again-without-pause", scheduler + "scheduler_test.go", inTime + "/evictions go on failing",
		fails{"five times": "after a failed eviction the next one came after 0s, without the initial backoff of 1s"}},
	{"failed-member-does-not-back-off", scheduler + "scheduler_test.go", "TestScheduler_BackoffAfterFailedBinding",
		fails{"a pod of a group": "times within a minute, want at most 10", "fifty pods of fifty groups": "other pods are bound after"}},
	{"skipped-pod-frees-room-unnoticed", scheduler + "scheduler_test.go", inTime + "/a nominated pod is skipped",
		fails{"as it terminates": "after a minute pod o is not on node1"}},
	{"stale-deletion-wakes-nobody", scheduler + "scheduler_test.go", inTime + "/the victim's binding is not seen",
		fails{"as the watch is down": "after a minute pod p is not on node1"}},
	{"recreated-pod-seen-as-update", scheduler + "scheduler_test.go", inTime + "/a pod is recreated",
		fails{"while the watch is down": "the scheduler's process ends"}},
	{"first-of-its-kind-unnoticed", scheduler + "scheduler_test.go", inTime + "/the last pod goes away that a pod has to be with",
		fails{"while the pod waits": "after a minute pod new is not on node2"}},
	{"node-for-shunned-pod-unnoticed", scheduler + "scheduler_test.go", inTime + "/a node is added for a pod that another one shuns",
		fails{"while the pod waits": "after a minute pod new is not on node2"}},
	{"spread-eased-unnoticed", scheduler + "scheduler_test.go", inTime + "/a pod terminates that counts for topology spread",
		fails{"while the pod waits": "after a minute pod new is not on node1"}},
	{"nominated-spread-ignored", scheduler + "scheduler_test.go", inTime + "/a pod comes that counts for a nominated pod's spread",
		fails{"while the victim ends": "the pod that came was evicted"}},
	{"relabelled-on-its-way-unnoticed", scheduler + "scheduler_test.go", inTime + "/a pod is relabelled that another one shuns",
		fails{"on its way to the node": "after a minute pod new is not on node1"}},
	{"resized-on-its-way-unnoticed", scheduler + "scheduler_test.go", inTime + "/a pod is resized that keeps another one out",
		fails{"on its way to the node": "after a minute pod new is not on node1"}},
	{"kept-room-freed-unnoticed", scheduler + "scheduler_test.go", inTime + "/a nominated pod goes elsewhere",
		fails{"after the other pod was tried": "after a minute nothing was preempted for pod o",
			"it is deleted before its nomination is written": "after a minute nothing was preempted for pod o"}},
	{"bound-elsewhere-wakes-nobody", scheduler + "scheduler_test.go", inTime + "/a pod is bound by another component",
		fails{"after the other pod was tried": "after a minute pod o is not on node1"}},
	{"old-copy-stays-in-queue", scheduler + "scheduler_test.go", inTime + "/a pod is changed as its binding fails",
		fails{"before it is requeued": "after a minute pod p is not on node1"}},
	{"earlier-preemption-opens-gate", scheduler + "scheduler_test.go", inTime + "/a victim ends before its deletion returns",
		fails{"the pod preempts others": "pod v is deleted 2 times"}},
	{"preemption-chance-unnoticed", scheduler + "scheduler_test.go", inTime + "/a pod goes away that only preemption had to spare",
		fails{"after the pod was tried": "after a minute pod p is not on node1"}},
	{"member-queued-twice", scheduler + "backend/queue/scheduling_queue_test.go", "TestAddUnschedulablePodIfNotPresent_PodOfGroupIsThere",
		fails{"the pod is changed before it comes back": "1 pods are in the queue that were deleted"}},
	{"deleted-member-still-counts", scheduler + "eventhandlers_test.go", "TestDeletePod_OfGroupOnItsWay",
		fails{"it waits for permission": "the group counts 1 pods, and there is none"}},
}

// LookUp finds the test of a finding.
func LookUp(finding string) (Test, bool) {
	i := slices.IndexFunc(Tests, func(t Test) bool { return t.Finding == finding })
	if i < 0 {
		return Test{}, false
	}
	return Tests[i], true
}

// Package is the import path of the package to which the test belongs.
func (t Test) Package() string { return path.Join(kubernetes, path.Dir(t.File)) }

//go:embed testdata/*_test.go
var sources embed.FS

// Function is the name of the test function.
func (t Test) Function() string {
	name, _, _ := strings.Cut(t.Name, "/")
	return name
}

// Scenario is the subtest of a function that several findings share; "" of any other.
func (t Test) Scenario() string {
	_, name, _ := strings.Cut(t.Name, "/")
	return name
}

// SourceName is the name of the test's source, without its end.
func (t Test) SourceName() string {
	switch t.Function() {
	case inTime:
		return "timelines"
	case ofGroup:
		return "podgroups"
	}
	return t.Finding
}

// Source is the test as a Go file.
func (t Test) Source() ([]byte, error) {
	src, err := sources.ReadFile("testdata/" + t.SourceName() + "_test.go")
	if err != nil {
		return nil, fmt.Errorf("the test of finding %s: %w", t.Finding, err)
	}
	return src, nil
}
