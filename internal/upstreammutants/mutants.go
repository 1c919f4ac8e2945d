package main

// Mutant is one changed expression in upstream's source.
type Mutant struct {
	Name string
	// File is the file of k8s.io/kubernetes, and Func the function in it, that
	// holds Find exactly once; Replace takes its place.
	File, Func, Find, Replace string
	// Breaks is the rule that no longer holds.
	Breaks string
}

const (
	plugin   = "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go"
	pick     = "pkg/scheduler/framework/preemption/preemption.go"
	budgets  = "pkg/scheduler/framework/preemption/util.go"
	executor = "pkg/scheduler/framework/preemption/executor.go"
	filters  = "pkg/scheduler/framework/runtime/framework.go"
)

// All are the mutants, in the order of a scheduling cycle. None is equivalent to
// upstream: each has been found.
var All = []Mutant{
	{
		Name: "reprieve-least-important-first",
		File: plugin, Func: "SelectVictimsOnNode",
		Find:    "MoreImportantVictim(potentialVictims[i], potentialVictims[j])",
		Replace: "MoreImportantVictim(potentialVictims[j], potentialVictims[i])",
		Breaks:  "the more important of the possible victims are reprieved first",
	},
	{
		Name: "reprieve-without-nominated-pods",
		File: plugin, Func: "SelectVictimsOnNode",
		Find:    "\tstatus := pl.fh.RunFilterPluginsWithNominatedPods(",
		Replace: "\tstatus := pl.fh.RunFilterPlugins(",
		Breaks:  "a pod is reprieved only if the preemptor fits beside it and the nominated pods",
	},
	{
		Name: "skip-second-pass",
		File: filters, Func: "RunFilterPluginsWithNominatedPods",
		Find:    "i < 2",
		Replace: "i < 1",
		Breaks:  "the preemptor has to fit without the nominated pods, too: near to one of them is not enough",
	},
	{
		Name: "ignore-disrupted-pods",
		File: budgets, Func: "FilterVictimsWithPDBViolation",
		Find:    "pdb.Status.DisruptedPods[pod.Name]; exist",
		Replace: "pdb.Status.DisruptedPods[pod.Name]; exist && false",
		Breaks:  "a disruption that a budget has accounted for is not counted again",
	},
	{
		Name: "skip-sort-of-victims",
		File: plugin, Func: "SelectVictimsOnNode",
		Find:    "len(violatingVictims) != 0 && len(nonViolatingVictims) != 0",
		Replace: "false",
		Breaks:  "victims are listed most important first, which the criteria rely on",
	},
	{
		Name: "most-violations",
		File: pick, Func: "pickOneNodeForPreemption",
		Find:    "-nodesToVictims[node].NumPDBViolations",
		Replace: "nodesToVictims[node].NumPDBViolations",
		Breaks:  "the node with the fewest budget violations is picked",
	},
	{
		Name: "highest-priority-victim",
		File: pick, Func: "pickOneNodeForPreemption",
		Find:    "-int64(highestPodPriority)",
		Replace: "int64(highestPodPriority)",
		Breaks:  "then the one whose highest-priority victim is lowest",
	},
	{
		Name: "largest-sum-of-priorities",
		File: pick, Func: "pickOneNodeForPreemption",
		Find:    "-sumPriorities",
		Replace: "sumPriorities",
		Breaks:  "then the one with the smallest sum of priorities",
	},
	{
		Name: "most-victims",
		File: pick, Func: "pickOneNodeForPreemption",
		Find:    "-int64(len(nodesToVictims[node].Pods))",
		Replace: "int64(len(nodesToVictims[node].Pods))",
		Breaks:  "then the one with the fewest victims",
	},
	{
		Name: "earliest-start",
		File: pick, Func: "pickOneNodeForPreemption",
		Find:    "earliestStartTimeOnNode.UnixNano()",
		Replace: "-earliestStartTimeOnNode.UnixNano()",
		Breaks:  "then the one whose highest-priority victims started last",
	},
	{
		Name: "keep-lower-nominations",
		File: executor, Func: "getLowerPriorityNominatedPods",
		Find:    "corev1helpers.PodPriority(pi.GetPod()) < priority",
		Replace: "corev1helpers.PodPriority(pi.GetPod()) > priority",
		Breaks:  "pods of lower priority lose their nomination to the picked node",
	},
}
