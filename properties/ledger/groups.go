package ledger

// openGroups are those of pods that are scheduled, or preempted, together. All need the
// gate GenericWorkload.
var openGroups = []Entry{
	{
		ID:          "member-ranks-as-group",
		Title:       "A pod of a group that goes by itself ranks as a group",
		Class:       Defect,
		Promise:     "By default the pods of a group can be disrupted independently: each is a preemption unit of its own. PodGroups are considered more important than individual Pods of the same priority. Of pods of the same priority, the one that started earlier is more important.",
		Source:      "SingleDisruptionMode (scheduling/v1beta1/types.go:536@v0.37.1); docs: concepts/scheduling-eviction/workload-aware-preemption; doc comment of MoreImportantVictim (preemption/util.go:46@v1.37.1)",
		Happens:     "A pod that names a group is given the type of a group whatever the group's disruption mode, also if the group does not exist. So any plain pod of its priority goes before it, however much longer that pod has run. The comment beside it says that such pods \"should always have the PodKeyType\".",
		Where:       "preemption/types.go:411@v1.37.1, NewPodVictim; preemption/util.go:86@v1.37.1, victimRank",
		Consequence: "Beside pods of groups that may go one by one, older pods without a group are preempted first.",
		Releases:    ">=1.37.0",
		Properties:  []string{"no-swap", "victims-by-importance", "violations-recounted", "no-fewer-violations"},
	},
	{
		ID:          "pick-by-own-priority",
		Title:       "The choice among nodes goes by the priority of pods, not by that of their groups",
		Class:       Inconsistency,
		Promise:     "When scheduling or preempting a pod that is part of a Pod Group, the priority defined in the PodGroup object will be used (and priority defined in the Pod itself will be ignored). A node with minimum highest priority victim is picked. Ties are broken by sum of priorities of all victims.",
		Source:      "KEP-5710, priority of a PodGroup; doc comment of pickOneNodeForPreemption (preemption.go:324@v1.37.1)",
		Happens:     "On each node the group's priority decides who may be preempted, and who is reprieved first. Then the nodes are compared by the priorities in the specs of their victims, which also say whose start time counts.",
		Where:       "preemption.go:354@v1.37.1 and preemption.go:365@v1.37.1, pickOneNodeForPreemption; scheduler/util/utils.go:63@v1.37.1, GetEarliestPodStartTime",
		Consequence: "Where pods have another priority than their group, a node may be picked on which more important pods go than on another.",
		Releases:    ">=1.37.0",
		Properties:  []string{"best-candidate"},
	},
	{
		ID:          "member-on-deleted-node-is-error",
		Title:       "A group with a pod on a deleted node makes preemption fail with an internal error",
		Class:       Defect,
		Promise:     "All pods from the PodGroup have to be disrupted together. An error denotes a transient/rare error that may be self-healed in future cycles.",
		Source:      "docs: concepts/workloads/workload-api/disruption-and-priority; doc comment of Preempt (preemption.go:168@v1.37.1)",
		Happens:     "What may be preempted on a node is gathered with the nodes on which the pods of each group are. One that does not exist is an error, \"failed to get node info for node\", and so the whole node is passed over, whatever the group's priority. Where no other node helps, the cycle ends in that error.",
		Where:       "preemption/types.go:473@v1.37.1, newDomainVictim",
		Consequence: "While a pod of a group is on a deleted node, nothing is preempted on any node that has pods of the group.",
		Releases:    ">=1.37.0",
		Properties:  []string{"no-internal-error"},
	},
	{
		ID:          "nomination-by-own-priority",
		Title:       "Nominations of pods of groups count by the priority of the pods, not by that of their groups",
		Class:       Inconsistency,
		Promise:     "When scheduling or preempting a pod that is part of a Pod Group, the priority defined in the PodGroup object will be used (and priority defined in the Pod itself will be ignored).",
		Source:      "KEP-5710, priority of a PodGroup; of nominated pods: docs: concepts/scheduling-eviction/pod-priority-preemption, \"User exposed information\"",
		Happens:     "A pod takes the room that is kept for a member of a group of higher priority, if the member's own priority is lower, and withdraws its nomination. The other way round it keeps away from room that is kept for a group of lower priority.",
		Where:       "runtime/framework.go:1338@v1.37.1, addGENominatedPods; preemption/executor.go:459@v1.37.1, getLowerPriorityNominatedPods",
		Consequence: "Where pods have another priority than their group, the room that a group preempted for may go to a pod of lower priority.",
		Releases:    ">=1.37.0",
		Properties:  []string{"lower-nominations-cleared", "preemptor-fits", "judges-agree", "no-free-node", "minimal-victims", "no-swap", "no-internal-error", "filters-alone"},
	},
}
