package main

import "slices"

const affinity = "pkg/scheduler/framework/plugins/interpodaffinity/plugin.go"

// mended are bugs that upstream once had, planted again. Each has a timeline or two for its witnesses;
// campaigns do not look for them unless they are named.
var mended = []Mutant{
	{
		Name: "nomination-known-by-its-update",
		File: cycle, Func: "handleSchedulingFailure",
		Find:      "sched.SchedulingQueue.AddNominatedPod(logger, nominatedPodInfo, nominatingInfo)",
		Replace:   "_ = nominatedPodInfo",
		Breaks:    "a nomination counts as soon as it is decided (kubernetes#72124)",
		Witnesses: []string{"kubernetes-72124"},
	},
	{
		Name: "no-nomination-is-withdrawn",
		File: pick, Func: "evaluate",
		Find:      "return nil, framework.NewPostFilterResultWithNominatedNode(\"\"), fwk.NewStatus(fwk.Unschedulable, fitError.Error())",
		Replace:   "return nil, nil, fwk.NewStatus(fwk.Unschedulable, fitError.Error())",
		Breaks:    "a nomination is withdrawn where its node is gone or its room is taken (kubernetes#85677, kubernetes#106780)",
		Witnesses: []string{"kubernetes-85677", "kubernetes-106780"},
	},
	{
		Name: "victim-gets-the-status-of-its-preemptor",
		File: executor, Func: "NewExecutor",
		Find:      "newStatus := victim.Status.DeepCopy()",
		Replace:   "newStatus := preemptor.(*podExecutorPreemptor).Status.DeepCopy()",
		Breaks:    "what marks a victim changes nothing else of its status (kubernetes#126643)",
		Witnesses: []string{"kubernetes-126643"},
	},
	{
		Name: "gate-does-not-wait-for-the-last-victim",
		File: executor, Func: "isRunningPreemption",
		Find:      "// Preemption of the last pod is still ongoing.\n\treturn true",
		Replace:   "return false",
		Breaks:    "a preemptor is not tried, and preempts nobody else, while its last victim is being deleted (kubernetes#134217, kubernetes#134249)",
		Witnesses: []string{"kubernetes-134217", "kubernetes-134249"},
	},
	{
		Name: "hint-ignores-anti-affinity-of-the-deleted",
		File: affinity, Func: "isSchedulableAfterAssignedPodChange",
		Find:      "if podMatchesAnyAffinityTerms(originalPodAntiTerms, pod) {",
		Replace:   "if podMatchesAnyAffinityTerms(originalPodAntiTerms, pod) && false {",
		Breaks:    "the end of a pod with anti-affinity wakes those up that it kept away (kubernetes#134393)",
		Witnesses: []string{"kubernetes-134393"},
	},
	{
		Name: "waiting-victim-is-rejected",
		File: executor, Func: "NewExecutor",
		Find:      "if waitingPod.Preempt(pluginName, \"preempted\") {",
		Replace:   "if waitingPod.Reject(pluginName, \"preempted\") {",
		Breaks:    "a pod that is preempted while it waits for permission is tried again (kubernetes#135719)",
		Witnesses: []string{"kubernetes-135719"},
	},
	{
		Name: "skipped-group-stays-in-its-cycle",
		File: groupCycle, Func: "scheduleOnePodGroup",
		Find:      "if err := sched.SchedulingQueue.AddAttemptedPodGroupIfNeeded(logger, podGroupInfo, sched.SchedulingQueue.SchedulingCycle(), fwk.NewStatus(fwk.Success)); err != nil {",
		Replace:   "if err := error(nil); err != nil {",
		Breaks:    "a pod that joins a group whose other pods were all skipped is tried (kubernetes#140478)",
		Witnesses: []string{"kubernetes-140478"},
	},
}

// every are all mutants, whether a campaign finds them or not.
func every() []Mutant { return slices.Concat(All, escaped, mended) }

// named are the mutants of these names; nil if one of them is none.
func named(names []string) []Mutant {
	mutants := slices.DeleteFunc(every(), func(m Mutant) bool { return !slices.Contains(names, m.Name) })
	if len(mutants) != len(names) {
		return nil
	}
	return mutants
}

// witnessed are the mutants that a timeline of the corpus is the witness of.
func witnessed() []Mutant {
	return slices.DeleteFunc(every(), func(m Mutant) bool { return len(m.Witnesses) == 0 })
}
