package main

// Files of upstream that only lives take.
const (
	fit       = "pkg/scheduler/framework/plugins/noderesources/fit.go"
	nominator = "pkg/scheduler/backend/queue/nominator.go"
	backoff   = "pkg/scheduler/backend/queue/backoff_queue.go"
	active    = "pkg/scheduler/backend/queue/active_queue.go"
	handlers  = "pkg/scheduler/eventhandlers.go"
	nodeCache = "pkg/scheduler/backend/cache/cache.go"
	runtime   = "pkg/scheduler/framework/runtime/framework.go"
	sorting   = "pkg/scheduler/framework/plugins/queuesort/priority_sort.go"
)

// lives are the mutants that break the life of a preemption, where a single cycle may
// go as it should.
var lives = []Mutant{
	{
		Name: "hint-skips-deletions",
		File: fit, Func: "isSchedulableAfterAssignedPodDelete",
		Find:    "return fwk.Queue, nil",
		Replace: "return fwk.QueueSkip, nil",
		Breaks:  "the deletion of a victim wakes its preemptor up",
	},
	{
		Name: "eligible-while-victims-terminate",
		File: plugin, Func: "PodEligibleToPreemptOthers",
		Find:    "preemption.PodTerminatingByPreemption(p.GetPod())",
		Replace: "preemption.PodTerminatingByPreemption(p.GetPod()) && false",
		Breaks:  "a pod does not preempt again while its victims terminate",
	},
	{
		Name: "requeues-deleted-pod",
		File: cycle, Func: "handleSchedulingFailure",
		Find:    "\tif e != nil {\n",
		Replace: "\tif e != nil {\n\t\tcachedPod, e = pod, nil\n\t}\n\tif e != nil {\n",
		Breaks:  "a pod that was deleted during its cycle is not queued again",
	},
	{
		Name: "event-in-flight-is-lost",
		File: queue, Func: "moveEntitiesToActiveOrBackoffQueue",
		Find:    "if added := p.activeQ.addEventIfAnyInFlight(oldObj, newObj, event); added {",
		Replace: "if false {",
		Breaks:  "an event that is handled during the cycle of a pod counts for it",
	},
	{
		Name: "keeps-nomination-of-deleted-pod",
		File: queue, Func: "Delete",
		Find:    "p.DeleteNominatedPodIfExists(pod)",
		Replace: "",
		Breaks:  "no room is kept for a pod that is gone",
	},
	{
		Name: "backoff-counted-twice",
		File: queue, Func: "AddUnschedulablePodIfNotPresent",
		Find:    "pInfo.UnschedulableCount++",
		Replace: "pInfo.UnschedulableCount += 2",
		Breaks:  "the first backoff lasts a second, and each failure doubles it",
	},
	{
		Name: "errors-counted-twice",
		File: queue, Func: "AddUnschedulablePodIfNotPresent",
		Find:    "pInfo.ConsecutiveErrorsCount++",
		Replace: "pInfo.ConsecutiveErrorsCount += 2",
		Breaks:  "the first backoff after an error lasts a second, and each failure doubles it",
	},
	{
		Name: "preempts-terminating-pods",
		File: executor, Func: "prepareCandidateAsync",
		Find:    "if victim.DeletionTimestamp != nil {",
		Replace: "if false {",
		Breaks:  "a pod that terminates already is not deleted again",
	},
	{
		Name: "deletes-twice",
		File: executor, Func: "NewExecutor",
		Find:    "if err := util.DeletePod(ctx, fh.ClientSet(), victim); err != nil {",
		Replace: "_ = util.DeletePod(ctx, fh.ClientSet(), victim)\n\t\t\tif err := util.DeletePod(ctx, fh.ClientSet(), victim); err != nil {",
		Breaks:  "a victim is deleted once",
	},
	{
		Name: "failed-deletion-counts-as-done",
		File: executor, Func: "NewExecutor",
		Find:    "logger.Error(err, \"Tried to preempted pod\", \"pod\", klog.KObj(victim), \"preemptor\", klog.KObj(preemptor))\n\t\t\t\t\treturn false, err",
		Replace: "return false, nil",
		Breaks:  "where a victim is not deleted, its preemptor is tried again",
	},
	{
		Name: "nominates-the-gone",
		File: nominator, Func: "addNominatedPodUnlocked",
		Find:    "if npm.podLister != nil {",
		Replace: "if false {",
		Breaks:  "no room is kept for a pod that is gone, or bound",
	},
	{
		Name: "nominates-to-two-nodes",
		File: nominator, Func: "addNominatedPodUnlocked",
		Find:    "npm.deleteUnlocked(pi.GetPod())",
		Replace: "",
		Breaks:  "a pod is nominated to one node",
	},
	{
		Name: "requeues-bound-pod",
		File: cycle, Func: "handleSchedulingFailure",
		Find:    "if len(cachedPod.Spec.NodeName) != 0 && !isDeferredResize {",
		Replace: "if false {",
		Breaks:  "a pod that is bound is not queued",
	},
	{
		Name: "requeues-recreated-pod",
		File: cycle, Func: "handleSchedulingFailure",
		Find:    "if cachedPod.UID != podInfo.Pod.UID {",
		Replace: "if false {",
		Breaks:  "the cycle of a pod says nothing of another one with its name",
	},
	{
		Name: "failed-binding-stays-assumed",
		File: cycle, Func: "unreserveAndForget",
		Find:    "return sched.Cache.ForgetPod(logger, assumedPodInfo.Pod)",
		Replace: "return nil",
		Breaks:  "a pod whose binding failed takes no room",
	},
	{
		Name: "deleted-nomination-wakes-nobody",
		File: handlers, Func: "deletePodFromSchedulingQueue",
		Find:    `if pod.Status.NominatedNodeName != "" {`,
		Replace: "if false {",
		Breaks:  "the room of a nominated pod that is deleted is told to those that wait for it",
	},
	{
		Name: "update-in-flight-queues-again",
		File: queue, Func: "Update",
		Find:    "unlockedActiveQ.addEventsIfPodInFlight(oldPod, newPod, events); exists {",
		Replace: "unlockedActiveQ.addEventsIfPodInFlight(oldPod, newPod, events); exists && false {",
		Breaks:  "a pod in flight is in no queue",
	},
	{
		Name: "deleted-pod-backs-off",
		File: queue, Func: "deletePod",
		Find:    "if entity := p.backoffQ.delete(pInfoLookup); entity != nil {",
		Replace: "if entity, ok := p.backoffQ.get(pInfoLookup); ok && entity == nil {",
		Breaks:  "a pod that is gone is in no queue",
	},
	{
		Name: "deleted-pod-waits",
		File: queue, Func: "deletePod",
		Find:    "p.unschedulableEntities.delete(pInfoLookup, entity.Gated())",
		Replace: "",
		Breaks:  "a pod that is gone is in no queue",
	},
	{
		Name: "error-waits-for-an-event",
		File: queue, Func: "determineSchedulingHintForInFlightPod",
		Find:    "// In this case, we should retry scheduling it because this Pod may not be retried until the next flush.\n\t\treturn queueAfterBackoff",
		Replace: "return queueSkip",
		Breaks:  "a pod that failed with an error is tried again after its backoff",
	},
	{
		Name: "backoff-grows-without-end",
		File: backoff, Func: "calculateBackoffDuration",
		Find:    "maxBackoff>>shift {\n\t\treturn maxBackoff",
		Replace: "maxBackoff>>shift {\n\t\treturn 6 * maxBackoff",
		Breaks:  "a backoff lasts 10 s at most",
	},
	{
		Name: "backoff-is-not-renewed",
		File: queue, Func: "AddUnschedulablePodIfNotPresent",
		Find:    "pInfo.BackoffExpiration = time.Time{}",
		Replace: "",
		Breaks:  "a pod backs off after each failure",
	},
	{
		Name: "removed-pod-stays-in-snapshot",
		File: nodeCache, Func: "removePod",
		Find:    "\t\t\tcache.moveNodeInfoToHead(logger, pod.Spec.NodeName)",
		Replace: "",
		Breaks:  "room that becomes free is seen by the next cycle",
	},
	{
		Name: "added-pod-missing-in-snapshot",
		File: nodeCache, Func: "addPod",
		Find:    "\tcache.moveNodeInfoToHead(logger, pod.Spec.NodeName)",
		Replace: "",
		Breaks:  "the room of a pod that is assumed is taken in the next cycle",
	},
	{
		Name: "node-update-ignored",
		File: handlers, Func: "updateNodeInCache",
		Find:    "sched.Cache.UpdateNode(logger, oldNode, newNode)",
		Replace: "",
		Breaks:  "a change of a node counts as soon as it is handled",
	},
	{
		Name: "pod-update-ignored",
		File: handlers, Func: "updateAssignedPodInCache",
		Find:    "if err := sched.Cache.UpdatePod(logger, oldPod, newPod); err != nil {",
		Replace: "if err := error(nil); err != nil {",
		Breaks:  "that a victim terminates counts as soon as it is handled",
	},
	{
		Name: "waiting-pod-is-not-updated",
		File: queue, Func: "Update",
		Find:    "entity.Update(newPod)",
		Replace: "entity.Update(oldPod)",
		Breaks:  "a pod is tried as it is now",
	},
	{
		Name: "waiting-drops-nomination",
		File: nominator, Func: "addNominatedPodUnlocked",
		Find:    "nodeName = pi.GetPod().Status.NominatedNodeName",
		Replace: "nodeName = \"\"",
		Breaks:  "a pod that waits for its victims keeps its nomination",
	},
	{
		Name: "nominated-pods-of-higher-priority-ignored",
		File: runtime, Func: "addGENominatedPods",
		Find:      ">= corev1.PodPriority(pod)",
		Replace:   "== corev1.PodPriority(pod)",
		Breaks:    "room of a nominated pod is not taken by one of lower priority",
		Witnesses: []string{"kubernetes-93505"},
	},
	{
		Name: "bound-pod-stays-assumed",
		File: nodeCache, Func: "removePod",
		Find:    "delete(cache.assumedPods, key)",
		Replace: "",
		Breaks:  "a pod is assumed until its binding is seen",
	},
	{
		Name: "nomination-back-from-stale-pod",
		File: nominator, Func: "addNominatedPodUnlocked",
		Find:    "if nodeName == \"\" {\n\t\treturn\n\t}",
		Replace: "if nodeName == \"\" {\n\t\tnodeName = pi.GetPod().Status.NominatedNodeName\n\t}\n\tif nodeName == \"\" {\n\t\treturn\n\t}",
		Breaks:  "a nomination that is withdrawn is withdrawn in memory at once",
	},
	{
		Name: "requeues-stale-pod",
		File: cycle, Func: "handleSchedulingFailure",
		Find:    "framework.NewPodInfo(cachedPod.DeepCopy())",
		Replace: "framework.NewPodInfo(pod.DeepCopy())",
		Breaks:  "a pod goes back into the queue as it is now",
	},
	{
		Name: "changed-node-stays-in-snapshot",
		File: nodeCache, Func: "UpdateNode",
		Find:    "cache.moveNodeInfoToHead(logger, newNode.Name)",
		Replace: "",
		Breaks:  "a change of a node is seen by the next cycle",
	},
	{
		Name: "stale-preemptor",
		File: pick, Func: "evaluate",
		Find:    "pod, err := ev.PodLister.Pods(podNamespace).Get(podName)",
		Replace: "_, err := ev.PodLister.Pods(podNamespace).Get(podName)",
		Breaks:  "whether a pod may preempt is asked of the pod as it is now",
	},
	{
		Name: "failed-binding-wakes-nobody",
		File: cycle, Func: "handleBindingCycleError",
		Find:    "sched.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, framework.EventAssignedPodDelete, assumedPod, nil, nil)",
		Replace: "",
		Breaks:  "the room of a pod whose binding failed is told to those that wait for it",
	},
	{
		Name: "activation-in-flight-is-lost",
		File: queue, Func: "Activate",
		Find:    "p.activeQ.addEventsIfPodInFlight(nil, pod, []fwk.ClusterEvent{framework.EventForceActivate})",
		Replace: "",
		Breaks:  "a preemptor whose preemption failed while it was in flight is tried again",
	},
	{
		Name: "failed-binding-keeps-nomination",
		File: cycle, Func: "handleBindingCycleError",
		Find:    "sched.FailureHandler(ctx, fwk, podInfo, status, clearNominatedNode, start)",
		Replace: "sched.FailureHandler(ctx, fwk, podInfo, status, nil, start)",
		Breaks:  "a pod whose binding failed loses its nomination",
	},
	{
		Name: "changed-nomination-wakes-nobody",
		File: handlers, Func: "updatePodInSchedulingQueue",
		Find:      "if hasNominatedNodeNameChanged(oldPod, newPod) {",
		Replace:   "if false {",
		Breaks:    "room that a pod is no longer nominated to is told to those that wait for it",
		Witnesses: []string{"kubernetes-129058"},
	},
	{
		Name: "error-backs-off-for-ever",
		File: backoff, Func: "popAllBackoffCompleted",
		Find:    "return append(bq.popAllBackoffCompletedWithQueue(logger, bq.entityBackoffQ), bq.popAllBackoffCompletedWithQueue(logger, bq.entityErrorBackoffQ)...)",
		Replace: "return bq.popAllBackoffCompletedWithQueue(logger, bq.entityBackoffQ)",
		Breaks:  "a backoff ends",
	},
	{
		Name: "errors-are-retried-at-once",
		File: backoff, Func: "add",
		Find:    "entity.GetUnschedulablePlugins().Len() == 0 && entity.GetPendingPlugins().Len() == 0 {",
		Replace: "entity.GetUnschedulablePlugins().Len() == 0 && entity.GetPendingPlugins().Len() == 0 && false {",
		Breaks:  "a pod that failed with an error backs off",
	},
	{
		Name: "preempted-in-memory-wakes-nobody",
		File: executor, Func: "prepareCandidateAsync",
		Find:      "metrics.GoroutineResultError || preemptedLastVictimInMemory {",
		Replace:   "metrics.GoroutineResultError || preemptedLastVictimInMemory && false {",
		Breaks:    "a preemptor whose last victim was on its way to a node is tried again",
		Witnesses: []string{"kubernetes-140082"},
	},
	{
		Name: "binds-though-preempted",
		File: cycle, Func: "bindingCycle",
		Find:    "!bindingPod.MarkPrebound() {",
		Replace: "!bindingPod.MarkPrebound() && false {",
		Breaks:  "a pod that is preempted before it is bound is not bound",
	},
	{
		Name: "schedules-terminating-pods",
		File: cycle, Func: "skipPodSchedule",
		Find:    "if pod.DeletionTimestamp != nil {",
		Replace: "if false {",
		Breaks:  "a pod that terminates is not scheduled",
	},
	{
		Name: "events-pruned-early",
		File: active, Func: "unlockedDone",
		Find:    "\t\t\t// A pod, must stop pruning.\n\t\t\tbreak",
		Replace: "\t\t\taq.inFlightEvents.Remove(e)\n\t\t\tcontinue",
		Breaks:  "the end of one pod's cycle forgets no event that another needs",
	},
	{
		Name: "gate-ignores-the-last-victim",
		File: executor, Func: "isRunningPreemption",
		Find:    "if !ok {",
		Replace: "if ok || !ok {",
		Breaks:  "a preemptor is let in as soon as its last victim is being deleted",
	},
	{
		Name: "first-come-first-tried",
		File: sorting, Func: "Less",
		Find:     "return (p1 > p2) || (p1 == p2 && ",
		Replace:  "return (p1 > p2 || p1 <= p2) && (",
		Breaks:   "of the pods in the queue, the most important is tried first, whichever came first",
		Property: "any-order-of-deliveries",
	},
	{
		Name: "update-drops-nomination",
		File: nominator, Func: "UpdateNominatedPod",
		Find:    "npm.nominatedPodToNode[oldPod.UID]; ok {",
		Replace: "npm.nominatedPodToNode[oldPod.UID]; ok && false {",
		Breaks:  "a nomination that is not in the API yet outlives an update of its pod",
	},
	{
		Name: "deleted-assumed-pod-stays",
		File: handlers, Func: "handleAssumedPodDeletion",
		Find:    "if err := sched.Cache.RemoveAssumedPod(logger, pod); err != nil {",
		Replace: "if err := error(nil); err != nil {",
		Breaks:  "an assumed pod that is deleted takes no room",
	},
}

// escaped are mutants of lives that no campaign of a minute has found. They are planted only
// where they are named. The one that is left does nearly what upstream does: the nomination of a
// pod that is in no queue counts without requests and with priority 0 (nominatedPodToInfo,
// scheduling_queue.go:2124@v1.37.1), so that it takes nothing but one of the node's pods, from pods of no
// priority.
var escaped = []Mutant{
	{
		Name: "nomination-stays-at-assume",
		File: cycle, Func: "assume",
		Find:    "sched.SchedulingQueue.DeleteNominatedPodIfExists(assumedPodInfo.Pod)",
		Replace: "",
		Breaks:  "a pod that is assumed takes its room once",
	},
}
