package properties

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

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
	// Releases is the range of those that have it (model.Release.In).
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

// Ledger is the list of all findings that are known of the linked release.
func Ledger() []LedgerEntry { return LedgerOf(model.Linked) }

// LedgerOf is the list of all findings that are known of a release.
func LedgerOf(release model.Release) []LedgerEntry {
	return slices.DeleteFunc(LedgerOfAll(), func(e LedgerEntry) bool { return !release.In(e.Releases) })
}

// LedgerOfAll is the list of all findings that are known of any release, those that
// the linked one has first.
func LedgerOfAll() []LedgerEntry { return slices.Concat(ledger(), fixed()) }

// QuirksOf are the quirks of all findings that are known of a release.
func QuirksOf(release model.Release) (quirks []model.Quirk) {
	for _, e := range LedgerOf(release) {
		if e.Quirk != "" {
			quirks = append(quirks, e.Quirk)
		}
	}
	return quirks
}

func ledger() []LedgerEntry {
	return []LedgerEntry{
		{
			ID:         "empty-selector",
			Title:      "A budget with an empty selector protects nothing from preemption",
			Promise:    "A null selector will match no pods, while an empty ({}) selector will select all pods within the namespace.",
			Source:     "policy/v1 PodDisruptionBudgetSpec.selector (policy/v1/types.go:38@v0.37.1); evictions and the lister follow it (policy/v1/poddisruptionbudget_expansion.go:56@v0.37.1)",
			Happens:    "Preemption counts no violation for pods that only such a budget protects, and does not spare them.",
			Where:      "preemption/util.go:213@v1.37.1, FilterVictimsWithPDBViolation; its own test pins it (preemption/util_test.go:202@v1.37.1)",
			Releases:   ">=1.21.0",
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
			Releases:   ">=1.13.0",
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
			Releases:   ">=1.35.0",
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
			Releases: ">=1.20.0",
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
			Releases: ">=1.20.0",
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
			Releases:   ">=1.13.0",
			Upstream:   "unreported",
			Quirk:      model.HostPortsForgotten,
			Properties: []string{"no-internal-error", "preemptor-fits", "no-internal-error", "filters-alone"},
			Witness:    "finding-host-ports-forgotten",
		},
		{
			ID:         "prefilter-rejection-is-error",
			Title:      "PostFilter ends in an error for a pod that PreFilter rejects, and its nomination stays",
			Promise:    "A pod that cannot be scheduled even with preemption is Unschedulable, and its nominatedNodeName is cleared.",
			Source:     "doc comment of Preempt (preemption.go:175@v1.37.1)",
			Happens:    "PreFilter stops at the first plugin that rejects for good, so DynamicResources finds no state of its own in PostFilter and returns the error \"not found\"; DefaultPreemption, which comes after it, never runs, the nomination stays, and the event says \"not found\".",
			Where:      "dynamicresources.go:1160@v1.37.1, PostFilter; runtime/framework.go:966@v1.37.1, RunPreFilterPlugins",
			Releases:   ">=1.34.0",
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
			Releases: ">=1.32.0",
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
			Releases:   ">=1.18.0",
			Upstream:   "unreported",
			Quirk:      model.TerminatingPodUncounted,
			Properties: []string{"preemptor-fits", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-terminating-pod-uncounted",
		},
		{
			ID:         "empty-spread-selector",
			Title:      "A spread constraint with an empty selector is not enforced",
			Promise:    "Pods that match the label selector are counted; an empty label selector matches all objects.",
			Source:     "TopologySpreadConstraint.labelSelector (core/v1/types.go:4978@v0.37.1); LabelSelector (meta/v1/types.go:1336@v0.37.1)",
			Happens:    "No pod that is there counts, so the constraint never fails by itself; but pods that a dry run removes are taken off, and pods nominated to a node are added.",
			Where:      "podtopologyspread/common.go:145@v1.37.1, countPodsMatchSelector",
			Releases:   ">=1.27.0",
			Upstream:   "kubernetes#141339",
			Quirk:      model.EmptySpreadSelector,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-empty-spread-selector",
		},
		{
			ID:         "claim-of-other-namespace",
			Title:      "Removing a pod of another namespace frees a ReadWriteOncePod claim of the same name",
			Promise:    "A ReadWriteOncePod claim is used by one pod of the whole cluster; and preemption happens only where the preemptor fits once its victims are gone.",
			Source:     "KEP-2485; docs: concepts/storage/persistent-volumes, \"Access Modes\"; " + docsPreemption,
			Happens:    "The dry run compares the names of claims, not their namespaces, so a pod that mounts a claim of the same name in its own namespace seems to be a user of the preemptor's. The preemptor is nominated to a node where it does not fit, and that pod is preempted for nothing. A nominated pod of another namespace keeps it from a node likewise.",
			Where:      "volumerestrictions/volume_restrictions.go:82@v1.37.1, conflictingPVCRefCountForPod",
			Releases:   ">=1.27.0",
			Upstream:   "unreported",
			Quirk:      model.ClaimOfOtherNamespace,
			Properties: []string{"no-internal-error", "preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-claim-of-other-namespace",
		},
		{
			ID:         "claim-counted-once",
			Title:      "A ReadWriteOncePod claim with two users is free once one of them is removed",
			Promise:    "A ReadWriteOncePod claim is used by one pod of the whole cluster; and preemption happens only where the preemptor fits once its victims are gone.",
			Source:     "KEP-2485; docs: concepts/storage/persistent-volumes, \"Access Modes\"; " + docsPreemption,
			Happens:    "Each claim in use counts once, but the dry run takes one off for every volume of every pod that it removes. With a second user elsewhere (bound past the scheduler), or a pod that mounts one claim twice and another claim in use, the count comes to zero too early and the preemptor is nominated where it does not fit.",
			Where:      "volumerestrictions/volume_restrictions.go:249@v1.37.1, calPreFilterState",
			Releases:   ">=1.27.0",
			Upstream:   "unreported",
			Quirk:      model.ClaimCountedOnce,
			Properties: []string{"no-internal-error", "preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-claim-counted-once",
		},
		{
			ID:         "nominated-claim-ignored",
			Title:      "A pod takes the ReadWriteOncePod claim of a more important pod that is nominated to the node",
			Promise:    "Room made for nominated pods of equal or higher priority is theirs: a pod has to fit both with and without them.",
			Source:     "doc comment of RunFilterPluginsWithNominatedPods (runtime/framework.go:1268@v1.37.1)",
			Happens:    "As long as no bound pod uses the claim, PreFilter skips the plugin, so the pass with the nominated pods does not look at their claims.",
			Where:      "volumerestrictions/volume_restrictions.go:200@v1.37.1, PreFilter",
			Releases:   ">=1.29.0",
			Upstream:   "unreported",
			Quirk:      model.NominatedClaimIgnored,
			Properties: []string{"no-internal-error", "preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-nominated-claim-ignored",
		},
		{
			ID:         "attached-volume-counted-twice",
			Title:      "A volume that is still attached to a node counts twice for the pod that comes back to it",
			Promise:    "A volume that is both attached and mounted on a node is considered to be used once, not twice; the same rule applies for a unique volume that is shared among multiple pods on the same node.",
			Source:     "VolumeNodeResources.count (storage/v1/types.go:661@v0.37.1)",
			Happens:    "Volumes that pods of the node mount are taken off the volumes the preemptor brings, those that are just attached are not: they count as attached and again as new. A pod does not fit, or preempts, on a node where its volume is already attached and the limit is reached.",
			Where:      "nodevolumelimits/csi.go:336@v1.37.1, Filter",
			Releases:   ">=1.32.0",
			Upstream:   "unreported",
			Quirk:      model.AttachedVolumeCountedTwice,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-attached-volume-counted-twice",
		},
		{
			ID:         "victim-volumes-stay-attached",
			Title:      "Preemption never frees an attachment: the volumes of victims still count",
			Promise:    "If a node can be found where removing one or more Pods of lower priority would enable P to be scheduled, those pods get evicted.",
			Source:     docsPreemption,
			Happens:    "Volumes count that pods mount, and those that VolumeAttachments attach to the node. The dry run removes the pods, but not their VolumeAttachments, which every running pod with such a volume has: removing it leaves the count as it was, so a pod never preempts for a CSI volume limit.",
			Where:      "nodevolumelimits/csi.go:331@v1.37.1, Filter",
			Releases:   ">=1.32.0",
			Upstream:   "unreported",
			Quirk:      model.VictimVolumesStayAttached,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-victim-volumes-stay-attached",
		},
		{
			ID:         "sharer-reprieved-later",
			Title:      "A pod is preempted for a volume limit that it does not exceed beside a pod that is reprieved after it",
			Promise:    "SelectVictimsOnNode finds the minimum set of pods that should be preempted to make enough room for the preemptor to be scheduled on the node.",
			Source:     "doc comment of SelectVictimsOnNode (default_preemption.go:279@v1.37.1)",
			Happens:    "All pods of lower priority are taken away, and then each is tried once. A volume that the preemptor shares with one of them is new to the node until that pod is back, so a pod with volumes that is tried before it does not fit beside the preemptor; once it is back it would. It is preempted all the same.",
			Where:      "default_preemption.go:394@v1.37.1, SelectVictimsOnNode; nodevolumelimits/csi.go:326@v1.37.1, Filter",
			Releases:   ">=1.25.0",
			Upstream:   "unreported",
			Properties: []string{"minimal-victims", "no-swap"},
			Witness:    "finding-sharer-reprieved-later",
		},
		{
			ID:         "foreign-ephemeral-claim",
			Title:      "One pod whose ephemeral volume has somebody else's claim stops all pods with CSI volumes",
			Promise:    "If there is such a claim that was not created for the pod, the pod that needs it is prevented from starting; it is not overwritten, nor used.",
			Source:     "docs: concepts/storage/ephemeral-volumes, \"PersistentVolumeClaim naming\"",
			Happens:    "A bound pod of that kind makes NodeVolumeLimits return an error, not a verdict, for every pod with a CSI volume that is tried on its node, if that has volume limits: the whole scheduling cycle of that pod ends in an error, whichever other nodes would fit.",
			Where:      "nodevolumelimits/csi.go:447@v1.37.1, filterAttachableVolumes",
			Releases:   ">=1.23.0",
			Upstream:   "unreported",
			Quirk:      model.ForeignEphemeralClaim,
			Properties: []string{"no-internal-error", "preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-foreign-ephemeral-claim",
		},
		{
			ID:         "missing-driver-resolvable",
			Title:      "Preemption is tried on nodes that lack a CSI driver",
			Promise:    "UnschedulableAndUnresolvable is used when a plugin finds a pod unschedulable and other postFilter plugins like preemption would not change anything.",
			Source:     "doc comment of the code (kube-scheduler/framework/interface.go:66@v0.37.1)",
			Happens:    "A driver can ask that no pod comes to a node where it is missing, which no preemption changes; NodeVolumeLimits reports Unschedulable all the same. Each such node is dry run for nothing in every cycle, and a pod nominated to one waits there for victims in place of preempting elsewhere.",
			Where:      "nodevolumelimits/csi.go:304@v1.37.1, Filter",
			Releases:   ">=1.37.0",
			Upstream:   "unreported",
			Quirk:      model.MissingDriverResolvable,
			Properties: []string{"filters-alone"},
			Witness:    "finding-missing-driver-resolvable",
		},
		{
			ID:         "volume-node-fields",
			Title:      "The node that a volume's affinity names by field is not looked at",
			Promise:    "matchFields is a list of node selector requirements by node's fields; of a volume, nodeAffinity defines constraints that limit what nodes it can be accessed from.",
			Source:     "NodeSelectorTerm.matchFields (core/v1/types.go:4012@v0.37.1), VolumeNodeAffinity.required (core/v1/types.go:443@v0.37.1); validation admits them (apis/core/validation/validation.go:9130@v1.37.1)",
			Happens:    "The affinity is matched against a node that has labels, but no name, and without fields no field is compared: a volume that only node-2 can reach lets its pod onto any node, where it never starts.",
			Where:      "component-helpers/storage/volume/helpers.go:74@v0.37.1, CheckNodeAffinity",
			Releases:   ">=1.13.0",
			Upstream:   "kubernetes#81725",
			Quirk:      model.VolumeNodeFields,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "filters-alone"},
			Witness:    "finding-volume-node-fields",
		},
		{
			ID:         "claim-allocated-twice",
			Title:      "A resource claim that a pod names twice needs its devices twice",
			Promise:    "resourceClaimName is the name of a ResourceClaim object: a claim is allocated once, and all that refer to it share its devices.",
			Source:     "docs: concepts/scheduling-eviction/dynamic-resource-allocation, \"ResourceClaims and ResourceClaimTemplates\"; PodResourceClaim.resourceClaimName (core/v1/types.go:4771@v0.37.1)",
			Happens:    "A claim that is not allocated yet is handed to the allocator once for each of the pod's entries that name it. A node that has just enough devices fails, for good, so the pod waits for ever and nothing is preempted for it there.",
			Where:      "dynamicresources.go:536@v1.37.1, foreachPodResourceClaim; dynamicresources.go:1046@v1.37.1, Filter",
			Releases:   ">=1.34.0",
			Upstream:   "unreported",
			Quirk:      model.ClaimAllocatedTwice,
			Properties: []string{"preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-claim-allocated-twice",
		},
		{
			ID:         "nominated-refusals-skipped",
			Title:      "The anti-affinity of a nominated pod is ignored unless some other pod's counts",
			Promise:    "The preemptor has to fit beside the pods of equal or higher priority nominated to the node; inter-pod anti-affinity is symmetric.",
			Source:     "comment in RunFilterPluginsWithNominatedPods (runtime/framework.go:1279@v1.37.1); docs: concepts/scheduling-eviction/assign-pod-node, \"Inter-pod affinity and anti-affinity\"",
			Happens:    "If the pod has no terms of its own and no pod that runs shuns it, PreFilter returns Skip, and AddPod never sees the nominated pods: the pod takes the node from under a nominated pod of higher priority whose victims are gone already and that will not run beside it.",
			Where:      "interpodaffinity/filtering.go:569@v1.37.1, PreFilter; runtime/framework.go:1010@v1.37.1, RunPreFilterExtensionAddPod",
			Releases:   ">=1.27.0",
			Upstream:   "unreported",
			Quirk:      model.NominatedRefusalsSkipped,
			Properties: []string{"preemptor-fits", "judges-agree", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-nominated-refusals-skipped",
		},
		{
			ID:         "one-pod-for-all-terms",
			Title:      "Several terms of pod affinity have to be met by the same pods",
			Promise:    "When there are multiple elements, the lists of nodes corresponding to each podAffinityTerm are intersected, i.e. all terms must be satisfied.",
			Source:     "core/v1 PodAffinity.requiredDuringSchedulingIgnoredDuringExecution (core/v1/types.go:4104@v0.37.1)",
			Happens:    "A pod counts for a term only if all terms select it: for a pod that wants to be near an a and near a b a node with both does not do, as no pod is a and b. It preempts elsewhere, or stays pending.",
			Where:      "interpodaffinity/filtering.go:354@v1.37.1, podMatchesAllAffinityTerms",
			Releases:   ">=1.13.0",
			Upstream:   "kubernetes#130784",
			Quirk:      model.OnePodForAllTerms,
			Properties: []string{"no-free-node", "judges-agree", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-one-pod-for-all-terms",
		},
		{
			ID:         "unlabelled-nodes-hide-first",
			Title:      "A pod counts as the first of its group although others of it run on nodes without the topology label",
			Promise:    "The first of a series of pods with affinity to themselves is let in by verifying that no other pod in the cluster matches the namespace and selector of this pod.",
			Source:     "docs: concepts/scheduling-eviction/assign-pod-node, \"Inter-pod affinity and anti-affinity\"; doc comment of satisfiesSelfAffinityCheck (interpodaffinity/filtering.go:769@v1.37.1)",
			Happens:    "Only pods on nodes with one of the labels are counted, so the pod starts a second group; with the gate InterPodAffinityHostnameFastPath all pods count, and the same pod stays pending.",
			Where:      "interpodaffinity/filtering.go:320@v1.37.1, recordMatch",
			Releases:   ">=1.13.0",
			Upstream:   "unreported",
			Quirk:      model.UnlabelledNodesHideFirst,
			Properties: []string{"preemptor-fits", "judges-agree", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
			Witness:    "finding-unlabelled-nodes-hide-first",
		},
		{
			ID:         "extender-rejection-is-error",
			Title:      "Preemption ends in an internal error where only an extender rejects a node",
			Promise:    "<nil, Error>. This denotes it's a transient/rare error that may be self-healed in future cycles. A pod that cannot be scheduled even with preemption is Unschedulable, and its nominatedNodeName is cleared.",
			Source:     "doc comment of Preempt (preemption.go:163@v1.37.1); nodes in FailedNodes are those that preemption may change something about (kube-scheduler/extender/v1/types.go:96@v0.37.1, ExtenderFilterResult)",
			Happens:    "The dry run does not ask extenders, so nobody has to go on a node that only an extender rejects, and that counts as the error \"expected at least one victim pod\". If there is no other candidate, each cycle of the pod ends in it, and its nomination stays.",
			Where:      "preemption.go:487@v1.37.1, DryRunPreemption",
			Releases:   ">=1.22.0",
			Upstream:   "kubernetes#135486",
			Quirk:      model.ExtenderRejectionIsError,
			Properties: []string{"no-internal-error"},
			Witness:    "finding-extender-rejection-is-error",
		},
		{
			ID:       "nothing-left-keeps-nomination",
			Title:    "A nomination survives when extenders leave no candidate",
			Promise:  "A pod that cannot be scheduled even with preemption is Unschedulable with a non-nil result, which clears its nominatedNodeName; a nil result is for a pod that waits for its victims.",
			Source:   "doc comment of Preempt (preemption.go:163@v1.37.1)",
			Happens:  "If an extender drops all candidates the result is nil, as if the pod waited for victims: its nomination stays and keeps room from others on a node that it was just refused. Without extenders, or if no dry run finds victims, it is cleared.",
			Where:    "preemption.go:159@v1.37.1, evaluate",
			Releases: ">=1.24.0",
			Upstream: "unreported",
			Quirk:    model.NothingLeftKeepsNomination,
			Witness:  "finding-nothing-left-keeps-nomination",
		},
		{
			ID:         "first-victim-is-highest",
			Title:      "An extender that returns victims in another order changes which node is best",
			Promise:    "A node with minimum highest priority victim is picked. An extender returns, for every node, a group, or a set, of victim pods: nothing says that their order means something.",
			Source:     "doc comment of pickOneNodeForPreemption (preemption.go:324@v1.37.1); kube-scheduler/extender/v1/types.go:46@v0.37.1, Victims; kube-scheduler/framework/extender.go:52@v0.37.1, ProcessPreemption",
			Happens:    "The first victim's priority is taken for the highest, and nothing sorts what extenders return: a node where a more important pod goes is picked if an extender names a less important one first.",
			Where:      "preemption.go:353@v1.37.1, pickOneNodeForPreemption; preemption.go:278@v1.37.1, callExtenders",
			Releases:   ">=1.13.0",
			Upstream:   "unreported",
			Quirk:      model.FirstVictimIsHighest,
			Properties: []string{"best-candidate"},
			Witness:    "finding-first-victim-is-highest",
		},
		{
			ID:         "budget-spent-by-reprieved-pod",
			Title:      "A pod that stays uses up the budget of the pods that go",
			Promise:    "NumPDBViolations is the count of violations by the pods expected to be preempted; the scheduler tries to find victims whose budgets are not violated.",
			Source:     "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; " + docsBudgets,
			Happens:    "All pods of lower priority are charged to the budgets, most important first, before any is reprieved. A victim then counts as a violation although its budget allows it, so a worse node is chosen; or it counts as none only because it is more important, so it goes where a less important pod would do.",
			Where:      "default_preemption.go:387@v1.37.1, SelectVictimsOnNode; preemption/util.go:196@v1.37.1, FilterVictimsWithPDBViolation",
			Releases:   ">=1.18.0",
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
			Releases:   ">=1.13.0",
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
			Releases:   ">=1.13.0",
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
			Releases:   ">=1.27.0",
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
			Releases:   ">=1.18.0 <1.19.0 || >=1.37.0",
			Upstream:   "unreported",
			Properties: []string{"order-does-not-matter", "permuting-budgets"},
			Witness:    "finding-budget-order",
		},
	}
}

// LookUp finds the entry with the given id.
func LookUp(id string) (LedgerEntry, bool) {
	for _, e := range LedgerOfAll() {
		if e.ID == id {
			return e, true
		}
	}
	return LedgerEntry{}, false
}
