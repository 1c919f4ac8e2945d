package properties

import "github.com/preemptcheck/preemptcheck/model"

// LedgerEntry is a known finding: a way in which a scheduler breaks what its
// documentation promises. It stays until upstream changes the scheduler or the
// documentation.
type LedgerEntry struct {
	// ID names the finding, in the corpus and on the command line.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Promise is what the documentation says, Source where it says so.
	Promise string `json:"promise"`
	Source  string `json:"source"`
	// Happens is what the scheduler does instead, Where in its source.
	Happens string `json:"happens"`
	Where   string `json:"where"`
	// Releases are those in which it was seen.
	Releases string `json:"releases"`
	// Upstream is the issue it was reported as, or "unreported".
	Upstream string `json:"upstream"`
	// Quirk makes the model do the same.
	Quirk model.Quirk `json:"quirk,omitempty"`
	// Properties are the names of the invariants and relations that it breaks
	// too. They ask Subject.grants for its ID at the place where it breaks them.
	Properties []string `json:"properties,omitempty"`
	// Witness is the case of the corpus on which it has to occur.
	Witness string `json:"witness"`
}

// Ledger is the list of all known findings.
func Ledger() []LedgerEntry {
	return []LedgerEntry{
		{
			ID:         "empty-selector",
			Title:      "A budget with an empty selector protects nothing from preemption",
			Promise:    "A null selector will match no pods, while an empty ({}) selector will select all pods within the namespace.",
			Source:     "policy/v1 PodDisruptionBudgetSpec.selector (policy/v1/types.go:38@v0.37.1); evictions and the lister follow it (policy/v1/poddisruptionbudget_expansion.go:56@v0.37.1)",
			Happens:    "Preemption counts no violation for pods that only such a budget protects, and does not spare them.",
			Where:      "preemption/util.go:213@v1.37.1, FilterVictimsWithPDBViolation; its own test pins it (preemption/util_test.go:202@v1.37.1)",
			Releases:   "v1.37.1",
			Upstream:   "kubernetes#141785",
			Quirk:      model.EmptySelector,
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap", "splitting-a-budget"},
			Witness:    "finding-empty-selector",
		},
		{
			ID:         "unlabelled-pod",
			Title:      "No budget protects a pod without labels from preemption",
			Promise:    "NotIn and DoesNotExist also select objects without the key; an empty selector selects all pods within the namespace.",
			Source:     "docs: concepts/overview/working-with-objects/labels, \"Set-based requirement\"; policy/v1 PodDisruptionBudgetSpec.selector",
			Happens:    "A pod without labels is never looked up in any budget, so evicting it never counts as a violation.",
			Where:      "preemption/util.go:199@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "kubernetes#141785",
			Quirk:      model.UnlabelledPod,
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap"},
			Witness:    "finding-unlabelled-pod",
		},
		{
			ID:         "terminating-victims-keep-nominations",
			Title:      "Lower nominations survive when every victim is terminating already",
			Promise:    "Lower priority pods nominated to run on the node may no longer fit there, so their nomination is removed.",
			Source:     "doc comments of prepareCandidate and prepareCandidateAsync (executor.go:192@v1.37.1, executor.go:314@v1.37.1)",
			Happens:    "With asynchronous preemption, the default, nothing is cleared if no victim is left to delete; synchronous preemption clears them.",
			Where:      "executor.go:215@v1.37.1, prepareCandidateAsync",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.TerminatingVictimsKeepNominations,
			Properties: []string{"lower-nominations-cleared"},
			Witness:    "finding-terminating-victims-keep-nominations",
		},
		{
			ID:       "zero-candidates",
			Title:    "minCandidateNodesAbsolute 0 switches preemption off on small clusters",
			Promise:  "The settings are the minimum number of candidates to shortlist; only both being zero is refused.",
			Source:   "DefaultPreemptionArgs (kube-scheduler/config/v1/types_pluginargs.go:31@v0.37.1); validation_pluginargs.go:54@v1.37.1",
			Happens:  "A percentage of less than one node rounds down to no candidates, and every preemption fails.",
			Where:    "default_preemption.go:248@v1.37.1, calculateNumCandidates",
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
			Where:    "preemption.go:221@v1.37.1, findCandidates",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.PercentageOfPotentialNodes,
			Witness:  "finding-percentage-of-potential-nodes",
		},
		{
			ID:         "host-ports-forgotten",
			Title:      "Removing one of two pods that share a host port frees the port of both",
			Promise:    "Preemption happens only if the preemptor fits once its victims are gone.",
			Source:     "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
			Happens:    "A pod of higher priority keeps the port, but the dry run takes it for free: victims are preempted for nothing. The scheduler's cache forgets it too, once such a pod is deleted. The kubelet refuses a second such pod (pkg/kubelet/lifecycle/predicate.go:433@v1.37.1), so the state is rare and short-lived.",
			Where:      "kube-scheduler/framework/types.go:610@v0.37.1, HostPortInfo.Remove",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.HostPortsForgotten,
			Properties: []string{"preemptor-fits", "filters-alone"},
			Witness:    "finding-host-ports-forgotten",
		},
		{
			ID:         "prefilter-rejection-is-error",
			Title:      "PostFilter ends in an error for a pod that PreFilter rejects, and its nomination stays",
			Promise:    "A pod that cannot be scheduled even with preemption is Unschedulable, and its nominatedNodeName is cleared.",
			Source:     "doc comment of Preempt (preemption.go:175@v1.37.1)",
			Happens:    "PreFilter stops at the first plugin that rejects for good, so DynamicResources finds no state of its own in PostFilter and returns the error \"not found\"; DefaultPreemption, which comes after it, never runs, the nomination stays, and the event says \"not found\".",
			Where:      "dynamicresources.go:1160@v1.37.1, PostFilter; runtime/framework.go:966@v1.37.1, RunPreFilterPlugins",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.PreFilterRejectionIsError,
			Properties: []string{"no-internal-error"},
			Witness:    "finding-prefilter-rejection-is-error",
		},
		{
			ID:       "nominated-node-blames-others",
			Title:    "Nodes that PreFilter excludes are said to fail what the nominated node fails",
			Promise:  "The status of a node that PreFilter excluded names the PreFilter plugins that excluded it.",
			Source:   "RunPreFilterPlugins returns the plugins that narrowed the nodes (runtime/framework.go:934@v1.37.1)",
			Happens:  "The nominated node is filtered in between and its failing plugin is added to the same set, so the pod's event blames, say, NodeResourcesFit for nodes that only its affinity excludes.",
			Where:    "schedule_one.go:669@v1.37.1, findNodesThatFitPod (the set is shared with the diagnosis at line 642)",
			Releases: "v1.37.1",
			Upstream: "unreported",
			Quirk:    model.NominatedNodeBlamesOthers,
			Witness:  "finding-nominated-node-blames-others",
		},
		{
			ID:         "terminating-pod-uncounted",
			Title:      "Removing a terminating pod makes room in its topology domain, though it was never counted there",
			Promise:    "Spread constraints do not count pods that are terminating; and preemption happens only where the preemptor fits once its victims are gone.",
			Source:     "kubernetes#87845; docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
			Happens:    "The dry run takes a terminating pod off the number of pods in its domain, which then is too low by one, so the preemptor seems to fit. It is nominated to a node where it does not fit once the pods are gone, in place of one where it would, and pods are preempted there for nothing.",
			Where:      "podtopologyspread/filtering.go:185@v1.37.1, updateWithPod; countPodsMatchSelector leaves such pods out (podtopologyspread/common.go:145@v1.37.1)",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.TerminatingPodUncounted,
			Properties: []string{"preemptor-fits", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-terminating-pod-uncounted",
		},
		{
			ID:         "empty-spread-selector",
			Title:      "A spread constraint with an empty selector is not enforced",
			Promise:    "Pods that match the label selector are counted; an empty label selector matches all objects.",
			Source:     "TopologySpreadConstraint.labelSelector (core/v1/types.go:4978@v0.37.1); LabelSelector (meta/v1/types.go:1336@v0.37.1)",
			Happens:    "No pod that is there counts, so the constraint never fails by itself; but pods that a dry run removes are taken off, and pods nominated to a node are added.",
			Where:      "podtopologyspread/common.go:145@v1.37.1, countPodsMatchSelector",
			Releases:   "v1.37.1",
			Upstream:   "kubernetes#141339",
			Quirk:      model.EmptySpreadSelector,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-empty-spread-selector",
		},
		{
			ID:         "nominated-refusals-skipped",
			Title:      "The anti-affinity of a nominated pod is ignored unless some other pod's counts",
			Promise:    "The preemptor has to fit beside the pods of equal or higher priority nominated to the node; inter-pod anti-affinity is symmetric.",
			Source:     "comment in RunFilterPluginsWithNominatedPods (runtime/framework.go:1279@v1.37.1); docs: concepts/scheduling-eviction/assign-pod-node, \"Inter-pod affinity and anti-affinity\"",
			Happens:    "If the pod has no terms of its own and no pod that runs shuns it, PreFilter returns Skip, and AddPod never sees the nominated pods: the pod takes the node from under a nominated pod of higher priority whose victims are gone already and that will not run beside it.",
			Where:      "interpodaffinity/filtering.go:569@v1.37.1, PreFilter; runtime/framework.go:1010@v1.37.1, RunPreFilterExtensionAddPod",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.NominatedRefusalsSkipped,
			Properties: []string{"preemptor-fits", "judges-agree", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-nominated-refusals-skipped",
		},
		{
			ID:         "one-pod-for-all-terms",
			Title:      "Several terms of pod affinity have to be met by the same pods",
			Promise:    "When there are multiple elements, the lists of nodes corresponding to each podAffinityTerm are intersected, i.e. all terms must be satisfied.",
			Source:     "core/v1 PodAffinity.requiredDuringSchedulingIgnoredDuringExecution (core/v1/types.go:4104@v0.37.1)",
			Happens:    "A pod counts for a term only if all terms select it: for a pod that wants to be near an a and near a b a node with both does not do, as no pod is a and b. It preempts elsewhere, or stays pending.",
			Where:      "interpodaffinity/filtering.go:354@v1.37.1, podMatchesAllAffinityTerms",
			Releases:   "v1.37.1",
			Upstream:   "kubernetes#130784",
			Quirk:      model.OnePodForAllTerms,
			Properties: []string{"no-free-node", "judges-agree", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-one-pod-for-all-terms",
		},
		{
			ID:         "unlabelled-nodes-hide-first",
			Title:      "A pod counts as the first of its group although others of it run on nodes without the topology label",
			Promise:    "The first of a series of pods with affinity to themselves is let in by verifying that no other pod in the cluster matches the namespace and selector of this pod.",
			Source:     "docs: concepts/scheduling-eviction/assign-pod-node, \"Inter-pod affinity and anti-affinity\"; doc comment of satisfiesSelfAffinityCheck (interpodaffinity/filtering.go:769@v1.37.1)",
			Happens:    "Only pods on nodes with one of the labels are counted, so the pod starts a second group; with the gate InterPodAffinityHostnameFastPath all pods count, and the same pod stays pending.",
			Where:      "interpodaffinity/filtering.go:320@v1.37.1, recordMatch",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Quirk:      model.UnlabelledNodesHideFirst,
			Properties: []string{"preemptor-fits", "judges-agree", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-unlabelled-nodes-hide-first",
		},
		{
			ID:         "budget-spent-by-reprieved-pod",
			Title:      "A pod that stays uses up the budget of the pods that go",
			Promise:    "NumPDBViolations is the count of violations by the pods expected to be preempted; the scheduler tries to find victims whose budgets are not violated.",
			Source:     "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; " + docsBudgets,
			Happens:    "All pods of lower priority are charged to the budgets, most important first, before any is reprieved. A victim then counts as a violation although its budget allows it, so a worse node is chosen; or it counts as none only because it is more important, so it goes where a less important pod would do.",
			Where:      "default_preemption.go:387@v1.37.1, SelectVictimsOnNode; preemption/util.go:196@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap"},
			Witness:    "finding-budget-spent-by-reprieved-pod",
		},
		{
			ID:         "terminating-victim-violates-budget",
			Title:      "A victim that is terminating already is charged to its budget",
			Promise:    "A pod that is being deleted is not counted as healthy, and may be evicted whatever its budget says.",
			Source:     "countHealthyPods (disruption.go:924@v1.37.1), canIgnorePDB (eviction.go:394@v1.37.1); docs: concepts/workloads/pods/disruptions",
			Happens:    "Its going counts as a violation although nobody is disrupted, nor even deleted, so running pods on another node are preempted instead; and it uses up the budget of others.",
			Where:      "preemption/util.go:196@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap"},
			Witness:    "finding-terminating-victim-violates-budget",
		},
		{
			ID:         "pending-victim-violates-budget",
			Title:      "A victim that has not started yet is charged to its budget",
			Promise:    "Pods in Pending, Succeeded or Failed phase are always considered for eviction.",
			Source:     "docs: tasks/run-application/configure-pdb, \"Unhealthy Pod Eviction Policy\"; canIgnorePDB (eviction.go:393@v1.37.1)",
			Happens:    "Preempting a bound pod that is still Pending counts as a violation, so running pods on another node are preempted instead; and it uses up the budget of others.",
			Where:      "preemption/util.go:196@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap"},
			Witness:    "finding-pending-victim-violates-budget",
		},
		{
			ID:         "unhealthy-pod-eviction-policy",
			Title:      "Preemption does not read unhealthyPodEvictionPolicy",
			Promise:    "AlwaysAllow policy means that all running pods, but not yet healthy are considered disrupted and can be evicted regardless of whether the criteria in a PDB is met.",
			Source:     "policy/v1 PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy (policy/v1/types.go:64@v0.37.1)",
			Happens:    "Preempting an unhealthy pod counts as a violation, so healthy pods of higher priority on another node are preempted instead.",
			Where:      "preemption/util.go:196@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Properties: []string{"violations-recounted", "no-fewer-violations", "no-swap"},
			Witness:    "finding-unhealthy-pod-eviction-policy",
		},
		{
			ID:         "budget-order",
			Title:      "Who is preempted depends on the order in which budgets are listed",
			Promise:    "The same cluster gives the same decision, up to the documented ties.",
			Source:     "doc comment of pickOneNodeForPreemption (preemption.go:324@v1.37.1), whose last criterion alone is open; the API gives lists no order, and a lister returns budgets in that of a Go map (client-go/tools/cache/thread_safe_store.go:366@v0.37.1)",
			Happens:    "A pod of several budgets takes a disruption from those listed before the first one that it violates, and none from those after: the number of violations, the victims and the node differ from one scheduling cycle to the next.",
			Where:      "preemption/util.go:203@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   "v1.37.1",
			Upstream:   "unreported",
			Properties: []string{"order-does-not-matter", "permuting-budgets"},
			Witness:    "finding-budget-order",
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
