package properties

import "github.com/preemptcheck/preemptcheck/model"

// LedgerEntry is a known finding: a way in which a scheduler breaks what its
// documentation promises. It stays until upstream changes the scheduler or the
// documentation.
type LedgerEntry struct {
	// ID names the finding, in the corpus and on the command line.
	ID    string
	Title string
	// Promise is what the documentation says, Source where it says so.
	Promise, Source string
	// Happens is what the scheduler does instead, Where in its source.
	Happens, Where string
	// Releases are those in which it was seen.
	Releases string
	// Upstream is the issue it was reported as, or "unreported".
	Upstream string
	// Quirk makes the model do the same.
	Quirk model.Quirk
	// Witness is the case of the corpus on which it has to occur.
	Witness string
}

// Ledger is the list of all known findings.
func Ledger() []LedgerEntry {
	return []LedgerEntry{
		{
			ID:       "empty-selector",
			Title:    "A budget with an empty selector protects nothing from preemption",
			Promise:  "A null selector will match no pods, while an empty ({}) selector will select all pods within the namespace.",
			Source:   "policy/v1 PodDisruptionBudgetSpec.selector (policy/v1/types.go:38@v0.37.1); evictions and the lister follow it (policy/v1/poddisruptionbudget_expansion.go:56@v0.37.1)",
			Happens:  "Preemption counts no violation for pods that only such a budget protects, and does not spare them.",
			Where:    "preemption/util.go:185@v1.37.1, FilterVictimsWithPDBViolation",
			Releases: "v1.37.1",
			Upstream: "kubernetes#141785",
			Quirk:    model.EmptySelector,
			Witness:  "finding-empty-selector",
		},
		{
			ID:       "unlabelled-pod",
			Title:    "No budget protects a pod without labels from preemption",
			Promise:  "NotIn and DoesNotExist also select objects without the key; an empty selector selects all pods within the namespace.",
			Source:   "docs: concepts/overview/working-with-objects/labels, \"Set-based requirement\"; policy/v1 PodDisruptionBudgetSpec.selector",
			Happens:  "A pod without labels is never looked up in any budget, so evicting it never counts as a violation.",
			Where:    "preemption/util.go:170@v1.37.1, FilterVictimsWithPDBViolation",
			Releases: "v1.37.1",
			Upstream: "kubernetes#141785",
			Quirk:    model.UnlabelledPod,
			Witness:  "finding-unlabelled-pod",
		},
		{
			ID:       "terminating-victims-keep-nominations",
			Title:    "Lower nominations survive when every victim is terminating already",
			Promise:  "Lower priority pods nominated to run on the node may no longer fit there, so their nomination is removed.",
			Source:   "doc comments of prepareCandidate and prepareCandidateAsync (executor.go:205@v1.37.1)",
			Happens:  "With asynchronous preemption, the default, nothing is cleared if no victim is left to delete; synchronous preemption clears them.",
			Where:    "executor.go:236@v1.37.1, prepareCandidateAsync",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.TerminatingVictimsKeepNominations,
			Witness:  "finding-terminating-victims-keep-nominations",
		},
		{
			ID:       "zero-candidates",
			Title:    "minCandidateNodesAbsolute 0 switches preemption off on small clusters",
			Promise:  "The settings are the minimum number of candidates to shortlist; only both being zero is refused.",
			Source:   "DefaultPreemptionArgs (kube-scheduler/config/v1/types_pluginargs.go@v0.37.1)",
			Happens:  "A percentage of less than one node rounds down to no candidates, and every preemption fails.",
			Where:    "default_preemption.go:231@v1.37.1, calculateNumCandidates",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.ZeroCandidates,
			Witness:  "finding-zero-candidates",
		},
		{
			ID:       "percentage-of-potential-nodes",
			Title:    "minCandidateNodesPercentage is taken of the potential nodes only",
			Promise:  "The minimum number of candidates to shortlist as a percentage of number of nodes; defaults to 10% of the cluster size.",
			Source:   "DefaultPreemptionArgs (kube-scheduler/config/v1/types_pluginargs.go:31@v0.37.1)",
			Happens:  "The percentage is taken of the nodes where preemption could help, so fewer candidates are compared than configured, and a worse one may be chosen.",
			Where:    "preemption.go:243@v1.37.1, findCandidates",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.PercentageOfPotentialNodes,
			Witness:  "finding-percentage-of-potential-nodes",
		},
		{
			ID:       "host-ports-forgotten",
			Title:    "Removing one of two pods that share a host port frees the port of both",
			Promise:  "Preemption happens only if the preemptor fits once its victims are gone.",
			Source:   "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
			Happens:  "A pod of higher priority keeps the port, but the dry run takes it for free: victims are preempted for nothing.",
			Where:    "kube-scheduler/framework/types.go:610@v0.37.1, HostPortInfo.Remove",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.HostPortsForgotten,
			Witness:  "finding-host-ports-forgotten",
		},
		{
			ID:       "prefilter-rejection-is-error",
			Title:    "A pod that PreFilter rejects ends in an error instead of losing its nomination",
			Promise:  "A pod that cannot be scheduled even with preemption is Unschedulable, and its nominatedNodeName is cleared.",
			Source:   "doc comment of Preempt (preemption.go:143@v1.37.1)",
			Happens:  "PreFilter stops at the first plugin that rejects for good, so DynamicResources finds no state of its own in PostFilter and returns the error \"not found\"; DefaultPreemption, which comes after it, never runs, the nomination stays, and the event says \"not found\".",
			Where:    "dynamicresources.go:1160@v1.37.1, PostFilter; runtime/framework.go:966@v1.37.1, RunPreFilterPlugins",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.PreFilterRejectionIsError,
			Witness:  "finding-prefilter-rejection-is-error",
		},
		{
			ID:       "nominated-node-blames-others",
			Title:    "Nodes that PreFilter excludes are said to fail what the nominated node fails",
			Promise:  "The status of a node that PreFilter excluded names the PreFilter plugins that excluded it.",
			Source:   "RunPreFilterPlugins returns the plugins that narrowed the nodes (runtime/framework.go:934@v1.37.1)",
			Happens:  "The nominated node is filtered in between and its failing plugin is added to the same set, so the pod's event blames, say, NodeResourcesFit for nodes that only its affinity excludes.",
			Where:    "schedule_one.go:666@v1.37.1, findNodesThatFitPod (the set is shared with the diagnosis)",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.NominatedNodeBlamesOthers,
			Witness:  "finding-nominated-node-blames-others",
		},
	}
}

// LookUp finds the entry with the given id.
func LookUp(id string) (LedgerEntry, bool) {
	for _, e := range Ledger() {
		if e.ID == id {
			return e, true
		}
	}
	return LedgerEntry{}, false
}
