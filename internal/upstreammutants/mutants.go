package main

import "slices"

// Mutant is one changed expression in upstream's source.
type Mutant struct {
	Name string
	// File is the file of k8s.io/kubernetes, and Func the function in it, that
	// holds Find exactly once; Replace takes its place.
	File, Func, Find, Replace string
	// Breaks is the rule that no longer holds.
	Breaks string
	// Property is the one that has to find it; "" if any may.
	Property string
	// Witnesses are timelines of the corpus that have to fail with the mutant.
	Witnesses []string
}

const (
	plugin   = "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go"
	pick     = "pkg/scheduler/framework/preemption/preemption.go"
	budgets  = "pkg/scheduler/framework/preemption/util.go"
	executor = "pkg/scheduler/framework/preemption/executor.go"
	filters  = "pkg/scheduler/framework/runtime/framework.go"
	cycle    = "pkg/scheduler/schedule_one.go"
	results  = "pkg/scheduler/framework/types.go"
	batch    = "pkg/scheduler/framework/runtime/batch.go"
	queue    = "pkg/scheduler/backend/queue/scheduling_queue.go"
	calls    = "pkg/scheduler/util/utils.go"
)

// All are the mutants. None is equivalent to upstream: each has been found.
var All = slices.Concat(cycles, lives, ofGroups)

// cycles are the mutants of a single cycle, in the order of its stages.
var cycles = []Mutant{
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
	{
		Name: "never-released",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "e.preempting.Delete(preemptor.UID())",
		Replace:  "",
		Breaks:   "the preemptor is kept out of the queue only while its victims are deleted",
		Property: "gated-while-preempting",
	},
	{
		Name: "deletion-never-ends",
		File: executor, Func: "NewExecutor",
		Find:     "if err := util.DeletePod(",
		Replace:  "<-make(chan struct{})\n\t\t\tif err := util.DeletePod(",
		Breaks:   "a preemption ends",
		Property: "gets-through",
	},
	{
		Name: "deadlock-in-deletion",
		File: executor, Func: "NewExecutor",
		Find:     "if err := util.DeletePod(",
		Replace:  "e.mu.Lock()\n\t\t\te.mu.Lock()\n\t\t\tif err := util.DeletePod(",
		Breaks:   "a preemption ends",
		Property: "gets-through",
	},
	{
		Name: "event-of-another-reason",
		File: executor, Func: "NewExecutor",
		Find:     `"Preempted", "Preempting"`,
		Replace:  `"Evicted", "Preempting"`,
		Breaks:   "victims are told that they are preempted",
		Property: "victims-are-told",
	},
	{
		Name: "event-of-another-action",
		File: executor, Func: "NewExecutor",
		Find:     `"Preempted", "Preempting"`,
		Replace:  `"Preempted", "Preempted"`,
		Breaks:   "victims are told that they are preempted",
		Property: "victims-are-told",
	},
	{
		Name: "condition-after-deletion",
		File: executor, Func: "NewExecutor",
		Find:     "if updated {",
		Replace:  "defer func() {\n\t\t\t\tif updated {\n\t\t\t\t\t_ = util.PatchPodStatus(ctx, fh.ClientSet(), victim.Name, victim.Namespace, &victim.Status, newStatus)\n\t\t\t\t}\n\t\t\t}()\n\t\t\tif false {",
		Breaks:   "a victim is marked before it is deleted",
		Property: "condition-before-deletion",
	},
	{
		Name: "condition-of-no-generation",
		File: executor, Func: "NewExecutor",
		Find:     "ObservedGeneration: apipod.CalculatePodConditionObservedGeneration(&victim.Status, victim.Generation, v1.DisruptionTarget),",
		Replace:  "",
		Breaks:   "a condition says of which generation of the pod it is",
		Property: "condition-before-deletion",
	},
	{
		Name: "deletes-what-it-could-not-mark",
		File: executor, Func: "NewExecutor",
		Find:     "&victim.Status, newStatus); err != nil {",
		Replace:  "&victim.Status, newStatus); err != nil && apierrors.IsNotFound(err) {",
		Breaks:   "a victim is deleted only if it was marked",
		Property: "marked-before-evicted",
	},
	{
		Name: "error-of-preemption-untold",
		File: executor, Func: "prepareCandidate",
		Find:     "return fwk.AsStatus(err)",
		Replace:  "return fwk.NewStatus(fwk.Unschedulable)",
		Breaks:   "who waits for a synchronous preemption that failed can read why",
		Property: "failed-preemption-is-told",
	},
	{
		Name: "victim-that-stays-is-forgotten",
		File: cycle, Func: "handleSchedulingFailure",
		Find: "errMsg := status.Message()",
		Replace: `errMsg := status.Message()
	if nodes, err := sched.nodeInfoSnapshot.NodeInfos().List(); err == nil {
		for _, node := range nodes {
			for _, p := range node.GetPods() {
				name := strconv.Quote(p.GetPod().Name)
				for i := 0; i+len(name) <= len(errMsg); i++ {
					if errMsg[i:i+len(name)] == name {
						_ = sched.Cache.RemovePod(logger, p.GetPod())
						break
					}
				}
			}
		}
	}`,
		Breaks:   "a victim that could not be preempted counts on its node",
		Property: "spared-is-held",
	},
	{
		Name: "victims-are-told-with-the-last",
		File: executor, Func: "NewExecutor",
		Find: `fh.EventRecorder().WithLogger(logger).Eventf(victim, preemptor.Obj(), v1.EventTypeNormal, "Preempted", "Preempting", eventMessage)`,
		Replace: `var all []*v1.Pod
		for _, v := range c.Victims().Pods {
			if v.DeletionTimestamp == nil {
				all = append(all, v)
			}
		}
		if all[len(all)-1] == victim {
			for _, v := range all {
				fh.EventRecorder().WithLogger(logger).Eventf(v, preemptor.Obj(), v1.EventTypeNormal, "Preempted", "Preempting", eventMessage)
			}
		}`,
		Breaks:   "a victim is told whatever becomes of those after it",
		Property: "deleted-is-told",
	},
	{
		Name: "last-victim-first",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "e.fh.Parallelizer().Until(ctx, len(victimPods)-1, preemptPod, pluginName)",
		Replace:  "preemptPod(len(victimPods) - 1)\n\t\t\tvictimPods = victimPods[:len(victimPods)-1]\n\t\t\te.fh.Parallelizer().Until(ctx, len(victimPods)-1, preemptPod, pluginName)",
		Breaks:   "the last victim is preempted after all others",
		Property: "last-victim-last",
	},
	{
		Name: "last-victim-twice",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "len(victimPods)-1, preemptPod",
		Replace:  "len(victimPods), preemptPod",
		Breaks:   "a victim is preempted once",
		Property: "",
	},
	{
		Name: "never-gated",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "e.preempting.Insert(preemptor.UID())",
		Replace:  "",
		Breaks:   "the preemptor is kept out of the queue while its victims are deleted",
		Property: "gated-while-preempting",
	},
	{
		Name: "no-nomination",
		File: cycle, Func: "updatePod",
		Find:     "if nnnNeedsUpdate {",
		Replace:  "if false {",
		Breaks:   "a pod that preempts is nominated",
		Property: "nomination-is-written",
	},
	{
		Name: "no-nomination-in-memory",
		File: cycle, Func: "handleSchedulingFailure",
		Find:     "if sched.SchedulingQueue != nil {",
		Replace:  "if false {",
		Breaks:   "the scheduler itself knows of a nomination",
		Property: "nomination-is-written",
	},
	{
		Name: "no-condition",
		File: cycle, Func: "updatePod",
		Find:     "podConditionNeedsUpdate := condition != nil &&",
		Replace:  "podConditionNeedsUpdate := false &&",
		Breaks:   "a condition says why a pod is not scheduled",
		Property: "condition-says-why",
	},
	{
		Name: "first-plugin-only",
		File: results, Func: "AddPluginStatus",
		Find:     "\td.UnschedulablePlugins.Insert(sts.Plugin())",
		Replace:  "\tif d.UnschedulablePlugins.Len() == 0 {\n\t\t\td.UnschedulablePlugins.Insert(sts.Plugin())\n\t\t}",
		Breaks:   "events of each plugin that rejects a pod wake it up",
		Property: "woken-by-what-rejected",
	},
	{
		Name: "rejection-counts-as-pending",
		File: results, Func: "AddPluginStatus",
		Find:     "sts.Code() == fwk.Pending",
		Replace:  "sts.IsRejected()",
		Breaks:   "only events of plugins that wait for something outside spare a pod its backoff",
		Property: "pending-is-recorded",
	},
	{
		Name: "activates-after-success",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "if result == metrics.GoroutineResultError || preemptedLastVictimInMemory {",
		Replace:  "if result != \"\" || preemptedLastVictimInMemory {",
		Breaks:   "a pod waits for its victims to be gone before it is tried again",
		Property: "queued-by-deletion",
	},
	{
		Name: "backoff-after-rejection",
		File: queue, Func: "determineSchedulingHintForInFlightPod",
		Find:     "queueingStrategy := queueSkip",
		Replace:  "queueingStrategy := queueAfterBackoff",
		Breaks:   "a pod that was rejected waits for an event",
		Property: "waits-in-its-queue",
	},
	{
		Name: "always-in-flight",
		File: queue, Func: "AddUnschedulablePodIfNotPresent",
		Find:     "if !calledDone {",
		Replace:  "if calledDone {",
		Breaks:   "a pod that waits is not being scheduled",
		Property: "waits-in-its-queue",
	},
	{
		Name: "clears-nominations-twice",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "getLowerPriorityNominatedPods(e.fh, preemptor.Priority(), c.Name())",
		Replace:  "getLowerPriorityNominatedPods(e.fh, preemptor.Priority(), c.Name())\n\t\t_ = clearNominatedNodeName(ctx, e.fh.ClientSet(), e.fh.APICacher(), nominatedPods...)",
		Breaks:   "a nomination is cleared by one call",
		Property: "",
	},
	{
		Name: "deletes-without-grace",
		File: calls, Func: "DeletePod",
		Find:     "metav1.DeleteOptions{}",
		Replace:  "metav1.DeleteOptions{GracePeriodSeconds: new(int64)}",
		Breaks:   "victims get their graceful termination period",
		Property: "",
	},
	{
		Name: "one-node-too-many",
		File: pick, Func: "evaluate",
		Find:     "NumAllNodes: len(allNodes)",
		Replace:  "NumAllNodes: len(allNodes) + 1",
		Breaks:   "the answer of preemption counts the nodes",
		Property: "failure-is-told",
	},
	{
		Name: "fits-but-not-bound",
		File: cycle, Func: "bind",
		Find:     "return schedFramework.RunBindPlugins(ctx, state, assumed, targetNode)",
		Replace:  "return nil",
		Breaks:   "a pod that fits is bound",
		Property: "fitting-pod-is-bound",
	},
	{
		Name: "hint-is-not-scored-again",
		File: batch, Func: "refreshHintCandidates",
		Find:     "return b.rescoreHintedNode(ctx, pod, state, cycleCount, lastChosenNode)",
		Replace:  "return true",
		Breaks:   "a pod goes to the best node, also after an equal one",
		Property: "batching-agrees",
	},
	{
		Name: "hint-outlives-its-time",
		File: batch, Func: "batchStateCompatible",
		Find:     "time.Now().After((b.state.creationTime.Add(maxBatchAge)))",
		Replace:  "false",
		Breaks:   "what was found out for a pod is not used for an equal one a second later: another node may be better by then",
		Property: "batching-agrees",
	},
	{
		Name: "failed-preemption-is-not-retried",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "if result == metrics.GoroutineResultError || preemptedLastVictimInMemory {",
		Replace:  "if preemptedLastVictimInMemory {",
		Breaks:   "a pod whose preemption failed is tried again",
		Property: "retried-after-fault",
	},
	{
		Name: "last-victim-in-spite-of-a-fault",
		File: executor, Func: "prepareCandidateAsync",
		Find:     "preemptLastVictim = false",
		Replace:  "",
		Breaks:   "the last victim is spared if another could not be preempted",
		Property: "last-victim-spared",
	},
	{
		Name: "victims-not-counted",
		File: executor, Func: "observeVictims",
		Find:     "metrics.PreemptionVictims.Observe(numVictims)",
		Replace:  "",
		Breaks:   "a metric counts the victims",
		Property: "metrics-count",
	},
	{
		Name: "attempts-not-counted",
		File: plugin, Func: "PostFilter",
		Find:     "metrics.PreemptionAttempts.Inc()",
		Replace:  "",
		Breaks:   "a metric counts the attempts to preempt",
		Property: "metrics-count",
	},
	{
		Name: "unschedulable-counted-as-error",
		File: cycle, Func: "handleSchedulingFailure",
		Find:     "metrics.PodUnschedulable(",
		Replace:  "metrics.PodScheduleError(",
		Breaks:   "a metric tells pods that fit nowhere from errors",
		Property: "metrics-count",
	},
}
