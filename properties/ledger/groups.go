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
	},
}
