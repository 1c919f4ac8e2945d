package properties

import "github.com/preemptcheck/preemptcheck/model"

// fixed are the findings about older releases that the linked one no longer has.
func fixed() []LedgerEntry {
	return []LedgerEntry{
		{
			ID:       "victims-unsorted",
			Title:    "The first victim is not the most important one, and another node is picked",
			Promise:  "It assumes pods in each map entry are ordered by decreasing priority: the node with the lowest highest-priority victim is picked.",
			Source:   "doc comment of pickOneNodeForPreemption (generic_scheduler.go:758@v1.13.0, preemption.go:438@v1.31.0)",
			Happens:  "Victims that violate a budget are listed before the others, whatever their priority, and the first one's priority counts as the highest: a node may be picked that has to give up a more important pod.",
			Where:    "default_preemption.go:228@v1.31.0, SelectVictimsOnNode",
			Releases: ">=1.13.0 <1.30.14 || >=1.31.0 <1.31.3",
			Upstream: "kubernetes#128307",
			Quirk:    model.VictimsUnsorted,
		},
		{
			ID:       "victim-status-overwritten",
			Title:    "A victim gets the preemptor's status with the condition DisruptionTarget",
			Promise:  "The condition DisruptionTarget is added to the pod that is preempted.",
			Source:   "KEP-3329, \"Pod failure policy\"; docs: concepts/workloads/pods/disruptions, \"Pod disruption conditions\"",
			Happens:  "The patch is made of the preemptor's status, so phase, start time and conditions of the victim are overwritten.",
			Where:    "preemption.go:369@v1.31.0, prepareCandidate",
			Releases: ">=1.26.0 <1.30.14 || >=1.31.0 <1.31.3",
			Upstream: "kubernetes#126644",
			Quirk:    model.VictimStatusOverwritten,
		},
		{
			ID:       "sidecar-ports-forgotten",
			Title:    "The host ports of sidecars are taken for free",
			Promise:  "A sidecar runs as long as its pod does, and so holds its host ports.",
			Source:   "KEP-753; docs: concepts/workloads/pods/sidecar-containers",
			Happens:  "Only the ports of ordinary containers are looked at, so a pod is sent to a node where the kubelet refuses it.",
			Where:    "nodeports/node_ports.go:65@v1.31.14, getContainerPorts; framework/types.go:951@v1.31.14, updateUsedPorts",
			Releases: ">=1.29.0 <1.33.0",
			Upstream: "fixed",
			Quirk:    model.SidecarPortsForgotten,
		},
		{
			ID:       "missing-node-is-error",
			Title:    "A pod that requires a node by a name that no node has ends its cycle in an error",
			Promise:  "A pod whose node affinity matches some nodes runs on one of them, or preempts there.",
			Source:   "docs: concepts/scheduling-eviction/assign-pod-node, \"Node affinity\": terms are ORed",
			Happens:  "The name is looked up among the nodes, and the error of the look-up is that of the cycle.",
			Where:    "schedule_one.go:420@v1.25.16, findNodesThatFitPod",
			Releases: ">=1.24.0 <1.27.0",
			Upstream: "fixed",
			Quirk:    model.MissingNodeIsError,
		},
		{
			ID:       "one-term-conflicts",
			Title:    "A term of node affinity that no node can match keeps the pod from all nodes",
			Promise:  "If there are several terms, the pod runs on a node that satisfies one of them.",
			Source:   "docs: concepts/scheduling-eviction/assign-pod-node, \"Node affinity\"",
			Happens:  "PreFilter rejects the pod as soon as one term names nodes that contradict each other.",
			Where:    "nodeaffinity/node_affinity.go:128@v1.25.16, PreFilter",
			Releases: ">=1.24.0 <1.27.0",
			Upstream: "fixed",
			Quirk:    model.OneTermConflicts,
		},
		{
			ID:       "host-names-are-node-names",
			Title:    "A pod with a local volume is kept from nodes whose host name is not their name",
			Promise:  "A volume's node affinity selects nodes by their labels.",
			Source:   "docs: concepts/storage/volumes, \"local\"; API reference, VolumeNodeAffinity",
			Happens:  "VolumeBinding takes the values of the label kubernetes.io/hostname for names of nodes, and leaves out all others.",
			Where:    "volumebinding/binder.go:393@v1.31.0, GetEligibleNodes",
			Releases: ">=1.27.0 <1.30.14 || >=1.31.0 <1.31.14",
			Upstream: "fixed",
			Quirk:    model.HostNamesAreNodeNames,
		},
	}
}
