package ledger

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// outsideFindings are those about plugins that are not Kubernetes' own and that are modelled. Each has a quirk of package outside for
// its ID, and a witness in its testdata.
var outsideFindings = []Entry{
	{
		ID:          string(outside.DeletedClassFailsDryRun),
		Plugin:      outside.PreemptionToleration,
		Title:       "Nobody can preempt on the node of a pod whose priority class was deleted",
		Class:       Defect,
		Promise:     "If you delete a PriorityClass, existing Pods that use the name of the deleted PriorityClass remain unchanged.",
		Source:      "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Notes about PodPriority and existing clusters\"",
		Happens:     "The dry run on a node ends in an error if a pod of lower priority there names a class that does not exist, whichever pods would have to go.",
		Where:       "preemption_toleration.go:140 and 225",
		Consequence: "A pod of high priority stays pending, until the last pod of the class has ended.",
		Properties:  []string{"no-internal-error"},
	},
	{
		ID:          string(outside.TolerationWrapsAround),
		Plugin:      outside.PreemptionToleration,
		Title:       "A toleration of more than 292 years is over at once",
		Class:       Defect,
		Promise:     "If it's set to a positive value, the duration will be honored.",
		Source:      "KEP-205, \"Preemption Toleration API\", TolerationSeconds, an int64; doc comment of Policy (preemption_toleration_policy.go:48)",
		Happens:     "The seconds are multiplied to nanoseconds in 64 bits, which wraps around from 9,223,372,037 seconds on: the end is often in the past.",
		Where:       "preemption_toleration.go:179",
		Consequence: "A pod whose class is to be spared practically for ever is preempted by any pod of higher priority.",
		Properties:  []string{"violations-recounted", "no-swap", "permuting-lists", "raising-a-budget", "setting-start-times", "no-internal-error"},
	},
	{
		ID:          string(outside.UnnamedResourceHasNoRoom),
		Plugin:      outside.CapacityScheduling,
		Title:       "A quota that limits CPU allows no memory",
		Class:       Defect,
		Promise:     "Max is infinite by default; it is the set of desired max limits for each named resource.",
		Source:      "KEP-9, \"Proposal\"; API documentation of ElasticQuotaSpec.Max (apis/scheduling/v1alpha1/types.go:57)",
		Happens:     "A max that names some resources is read as zero of CPU, memory and ephemeral storage where it does not name them. Extended resources that it does not name are infinite.",
		Where:       "elasticquota.go:83 and 198, newElasticQuotaInfo and cmp2",
		Consequence: "No pod that requests memory is scheduled in a namespace whose quota has a max of cpu only, as that of the README.",
		Properties:  []string{"judges-agree", "no-internal-error"},
	},
	{
		ID:          string(outside.QuotaOfContainersOnly),
		Plugin:      outside.CapacityScheduling,
		Title:       "Sidecars, and what pods request as a whole, are free of quotas",
		Class:       Inconsistency,
		Promise:     "The usage of max is aggregated based on the resource configurations of successfully scheduled pods: the requests in the spec of a pod.",
		Source:      "KEP-9, \"Motivation\" and \"Relationship with ResourceQuota\"; KEP-753 and KEP-2837 of Kubernetes say what the requests of a pod are",
		Happens:     "Requests of sidecars count as those of init containers, the largest of all, and requests on the level of pods not at all. The filters of the same scheduler count both.",
		Where:       "capacity_scheduling.go:865, computePodResourceRequest",
		Consequence: "A team uses more than its max, by putting requests into sidecars or on the level of pods.",
		Properties:  []string{"judges-agree", "no-internal-error"},
	},
	{
		ID:          string(outside.NominatedForgottenAtFirst),
		Plugin:      outside.CapacityScheduling,
		Title:       "Pods are preempted for room in a quota that is kept for others",
		Class:       Defect,
		Promise:     "Preemption logic attempts to make the pod schedulable, and PreFilter rejects it if it exceeds max or the sum of min together with the nominated pods that it respects.",
		Source:      "KEP-9, \"Additional Preemption Details\"; doc comments of PreFilterState (capacity_scheduling.go:73)",
		Happens:     "Whether a node helps is decided without nominated pods, and then whether a victim can stay, with them. None can: all pods that may be preempted go, and the pod is rejected again. One that has to go for another reason is taken from the node twice, and the dry run ends in an error.",
		Where:       "capacity_scheduling.go:615 and 646, SelectVictimsOnNode",
		Consequence: "Pods are deleted in vain, or nobody can preempt on the node.",
		Properties:  []string{"no-internal-error"},
	},
	{
		ID:          string(outside.QuotaVictimsViolateNothing),
		Plugin:      outside.CapacityScheduling,
		Title:       "A victim that goes for the quota violates no budget",
		Class:       Inconsistency,
		Promise:     "The scheduler tries to find victims whose PDBs are not violated; nodes are compared by the number of violations.",
		Source:      "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\"; KEP-9, \"PostFilter\": nothing but the choice of potential victims differs",
		Happens:     "A violation is counted where a filter has the pod go, and not where the quota has.",
		Where:       "capacity_scheduling.go:646, reprievePod returns that the pod fits",
		Consequence: "A node whose victims violate budgets is picked like one whose victims violate none.",
	},
	{
		ID:          string(outside.EndedPreFilterNotEligible),
		Plugin:      outside.CapacityScheduling,
		Title:       "A pod that another plugin rejects for good keeps its nomination",
		Class:       Inconsistency,
		Promise:     "The bool indicates whether this pod should be considered for preempting other pods: its preemptionPolicy and terminating pods decide.",
		Source:      "doc comment of PodEligibleToPreemptOthers (capacity_scheduling.go:403)",
		Happens:     "If the PreFilter of a plugin before it rejects the pod for good, the plugin is not asked, misses its own state in PostFilter, and says that the pod is not eligible. A nomination, and the room kept for it, then stays.",
		Where:       "capacity_scheduling.go:417",
		Consequence: "Room on the nominated node is kept for a pod that cannot run anywhere.",
	},
	{
		ID:          string(outside.UnrequestedExtendedUncounted),
		Plugin:      outside.CapacityScheduling,
		Title:       "A preemptor over its min in an extended resource takes pods of others",
		Class:       Inconsistency,
		Promise:     "If Preemptor.Request + Quota.allocated > Quota.min, victims are selected from the same quota; a pod fails PreFilter if that is more than max.",
		Source:      "KEP-9, \"PostFilter\" and \"Additional Preemption Details\"",
		Happens:     "CPU, memory and ephemeral storage are held against min and max whether the pod requests them or not, other resources only if it does.",
		Where:       "elasticquota.go:210, cmp2",
		Consequence: "A team that uses more GPUs than its min takes pods of others with pods that request no GPU.",
		Properties:  []string{"judges-agree", "no-internal-error"},
	},
}

// OfPlugin are the findings that are known of a modelled plugin, which is not Kubernetes' own.
func OfPlugin(name string) []Entry {
	return slices.DeleteFunc(slices.Clone(outsideFindings), func(e Entry) bool { return e.Plugin != name })
}

// QuirksOfPlugin are the quirks of OfPlugin.
func QuirksOfPlugin(name string) (quirks []release.Quirk) {
	for _, e := range OfPlugin(name) {
		quirks = append(quirks, e.Quirk)
	}
	return quirks
}

// BreakingByPlugin are the ids of the findings that are known of a modelled plugin and that break a property.
func BreakingByPlugin(name, property string) (ids []string) {
	for _, e := range OfPlugin(name) {
		if slices.Contains(e.Properties, property) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func init() {
	for i := range outsideFindings {
		e := &outsideFindings[i]
		e.Upstream, e.Witness, e.Quirk, e.Releases = "unreported", "finding-"+e.ID, release.Quirk(e.ID), ">=1.34.0 <1.35.0" // of scheduler-plugins v0.34.7
	}
}
