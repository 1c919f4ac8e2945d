package main

// Files of upstream that only pod groups take.
const (
	victimTypes  = "pkg/scheduler/framework/preemption/types.go"
	groupPreempt = "pkg/scheduler/framework/preemption/podgrouppreemption.go"
	groupCycle   = "pkg/scheduler/schedule_one_podgroup.go"
	gangs        = "pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go"
)

// ofGroups are the mutants that break preemption for pod groups, and of them. The first are bugs that upstream had and
// mended, under the numbers of the pull requests that did.
var ofGroups = []Mutant{
	{
		Name: "kubernetes-139030",
		File: victimTypes, Func: "NewPodVictim",
		Find:    "priority := GetPodPriority(podInfo.GetPod(), pgLister, cpgLister)",
		Replace: "priority := GetPodPriority(podInfo.GetPod(), nil, nil)",
		Breaks:  "a pod that its group lets go has the priority of the group",
	},
	{
		Name: "kubernetes-138710",
		File: groupPreempt, Func: "Preempt",
		Find:    "if ev.isOngoingPreemption(ctx, preemptor, domain.Nodes()) {",
		Replace: "if false {",
		Breaks:  "a group does not preempt again while its victims terminate",
	},
	{
		Name: "kubernetes-140641",
		File: groupPreempt, Func: "Preempt",
		Find:    `return &fwk.PodGroupPostFilterResult{NominatingInfos: buildCurrentNominatingInfos(preemptor)}, fwk.NewStatus(fwk.Success, "ongoing preemption on nominated nodes")`,
		Replace: `return nil, fwk.NewStatus(fwk.Unschedulable, "ongoing preemption on nominated nodes")`,
		Breaks:  "members stay nominated while the group waits for its victims",
	},
	{
		Name: "kubernetes-140590",
		File: groupCycle, Func: "applyPodGroupPostFilterResult",
		Find:    "pgResult.podResults[j].scheduleResult.nominatingInfo = nodeNameInfo",
		Replace: "if first := pgResult.podResults[j].scheduleResult.SuggestedHost; first != \"\" {\n\t\t\t\t\t\tnodeNameInfo.NominatedNodeName = first\n\t\t\t\t\t}\n\t\t\t\t\tpgResult.podResults[j].scheduleResult.nominatingInfo = nodeNameInfo",
		Breaks:  "members are nominated where they are placed once the victims are gone",
	},
	{
		Name: "kubernetes-139162",
		File: executor, Func: "prepareCandidateAsync",
		Find:    "\t\te.mu.Lock()\n\t\te.preempting.Delete(preemptor.UID())",
		Replace: "\t\te.mu.Lock()\n\t\tif preemptor.Type() == string(fwk.PodKeyType) {\n\t\t\te.preempting.Delete(preemptor.UID())\n\t\t}",
		Breaks:  "a group is kept out of the queue only as long as its preemption goes on",
	},
	{
		Name: "kubernetes-138757",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "if assignment.GetNodeName() != \"\" {",
		Replace: "if assignment.GetNodeName() != \"\" && len(validAssignment) < 1 {",
		Breaks:  "all members that have a place keep it when units are given back",
	},
	{
		Name: "preempts-its-own-priority-for-groups",
		File: groupPreempt, Func: "isPreemptionAllowed",
		Find:    "victim.Priority() < preemptor.priority",
		Replace: "victim.Priority() <= preemptor.priority",
		Breaks:  "a group preempts units of lower priority only",
	},
	{
		Name: "group-policy-ignored",
		File: groupPreempt, Func: "preemptorEligibleToPreemptOthers",
		Find:    "preemptor.PreemptionPolicy() == schedulingapi.PreemptNever",
		Replace: "false && preemptor.PreemptionPolicy() == schedulingapi.PreemptNever",
		Breaks:  "a group whose policy is Never preempts nobody",
	},
	{
		Name: "only-the-first-member-is-asked",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "\t\tfor _, assignment := range preemptorAssignments {\n\t\t\tnodeInfo := nameToNode[assignment.GetNodeName()]\n",
		Replace: "\t\tfor _, assignment := range preemptorAssignments[:min(1, len(preemptorAssignments))] {\n\t\t\tnodeInfo := nameToNode[assignment.GetNodeName()]\n",
		Breaks:  "a unit is given back only if all members still fit",
	},
	{
		Name: "refused-units-stay",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "if err = removeVictimPodsWithPreFilter(v, preemptorAssignments); err != nil {\n\t\t\t\t\treturn false, err\n\t\t\t\t}",
		Replace: "_ = removeVictimPodsWithPreFilter",
		Breaks:  "units that are not given back are gone for those after them",
	},
	{
		Name: "least-important-units-are-given-back-first",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "MoreImportantVictim(potentialVictims[i], potentialVictims[j])",
		Replace: "MoreImportantVictim(potentialVictims[j], potentialVictims[i])",
		Breaks:  "the more important units are given back first",
	},
	{
		Name: "violations-of-groups-uncounted",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "numViolatingVictim += violatingVictim.ViolateCount",
		Replace: "numViolatingVictim++",
		Breaks:  "each pod of a unit that violates a budget counts",
	},
	{
		Name: "placed-members-are-not-kept",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "if err = mutableLister.AddPod(assignment.GetPodInfo(), assignment.GetNodeName()); err != nil {",
		Replace: "if err = error(nil); err != nil {",
		Breaks:  "members before count for those after them when units are given back",
	},
	{
		Name: "gang-of-one-less",
		File: gangs, Func: "PlacementFeasible",
		Find:    "minCount := getMinCount(podGroupInfo)",
		Replace: "minCount := max(1, getMinCount(podGroupInfo)-1)",
		Breaks:  "as many members are scheduled as minCount says",
	},
	{
		Name: "group-is-not-told",
		File: groupCycle, Func: "submitPodGroupAlgorithmResult",
		Find:    "\t\tsched.updatePodGroupCondition(ctx, pgi, condition)\n",
		Replace: "\t\t_ = condition\n",
		Breaks:  "the condition of a group says whether it was scheduled",
	},
	{
		Name: "group-condition-reverts",
		File: groupCycle, Func: "updatePodGroupCondition",
		Find:    "if existing != nil && existing.Status == metav1.ConditionTrue && condition.Status != metav1.ConditionTrue {",
		Replace: "if existing != nil && false {",
		Breaks:  "a group that was scheduled once stays so",
	},
	{
		Name: "pods-of-other-priority-are-scheduled",
		File: groupCycle, Func: "validatePodGroup",
		Find:    "if podPriority != podGroupPriority {",
		Replace: "if podPriority > podGroupPriority {",
		Breaks:  "all pods of a group have its priority",
	},
	{
		Name: "bound-pods-of-a-group-are-not-validated",
		File: groupCycle, Func: "validateScheduledPods",
		Find:    "if err := validatePod(pod); err != nil {",
		Replace: "if err := validatePod(pod); false && err != nil {",
		Breaks:  "pods of a group that run have its priority, too",
	},
	{
		Name: "group-stops-early",
		File: groupCycle, Func: "podGroupSchedulingDefaultAlgorithm",
		Find:    "if placementFeasibleStatus.Code() == fwk.Unschedulable {\n\t\t\tbreak",
		Replace: "if placementFeasibleStatus.Code() == fwk.Unschedulable || placementFeasibleStatus.IsSuccess() {\n\t\t\tanyScheduled = anyScheduled || podResult.status.IsSuccess()\n\t\t\tbreak",
		Breaks:  "members beyond minCount are placed, too",
	},
	{
		Name: "units-lose-a-pod",
		File: groupPreempt, Func: "selectVictimsOnDomain",
		Find:    "\t\tfor _, pi := range v.Pods() {\n\t\t\tpodsToPreempt = append(podsToPreempt, pi.GetPod())",
		Replace: "\t\tfor _, pi := range v.Pods()[:1] {\n\t\t\tpodsToPreempt = append(podsToPreempt, pi.GetPod())",
		Breaks:  "a group that goes as a whole is evicted whole",
	},
}
