package properties

// timelineFindings are those that no single cycle shows: they take a timeline.
var timelineFindings = []LedgerEntry{
	{
		ID:          "gated-by-vain-preemption",
		Title:       "A preemptor whose victims go away by themselves waits for the five-minute flush",
		Class:       Defect,
		Promise:     "The preemptor is blocked in PreEnqueue only while its preemption goroutine runs. It is queued back by the deletion of its victims; where no victim deletion event will be produced, the goroutine activates it, as it would be stuck in the unschedulable pod pool.",
		Source:      "KEP-4832, Proposal, \"After the preemption goroutine is done, the scheduling for the Pod that triggered the preemption will be retried\"; comment in prepareCandidateAsync (executor.go:249@v1.37.1)",
		Happens:     "If the scheduler learns that the victims are gone while the goroutine has not ended, the event is met by the gate. The goroutine then finds nothing to delete, ends as a success, and wakes nobody up.",
		Where:       "executor.go:248@v1.37.1, prepareCandidateAsync",
		Consequence: "A pod of high priority stays pending for five minutes with its room free, and keeps that room from all others.",
		Releases:    ">=1.37.1",
		Upstream:    "kubernetes#141694",
	},
	{
		ID:          "victim-deletion-met-by-gate",
		Title:       "A preemptor waits for the five-minute flush if its first victim is gone before its last one is evicted",
		Class:       Defect,
		Promise:     "After the preemption goroutine is done, the scheduling for the Pod that triggered the preemption will be retried.",
		Source:      "KEP-4832, Proposal",
		Happens:     "The deletion of a victim that would wake the preemptor up comes while its goroutine still evicts others, and is met by the gate. Of the deletions that come later, the plugin that rejected the pod says that they do not help, as by NodePorts of a pod without ports. Nothing opens the gate when the goroutine ends.",
		Where:       "executor.go:248@v1.37.1, prepareCandidateAsync; default_preemption.go:240@v1.37.1, isPodSchedulableAfterAssignedPodDeletion",
		Consequence: "A pod of high priority stays pending for five minutes with its room free, and keeps that room from all others.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "withdrawn-nomination-comes-back",
		Title:       "A nomination that the scheduler has withdrawn comes back with a late update, and stays",
		Class:       Defect,
		Promise:     "Where a pod cannot be scheduled even with preemption, its nominatedNodeName is cleared.",
		Source:      "doc comment of Preempt (preemption.go:176@v1.37.1)",
		Happens:     "A pod whose nomination was written, and has not come back from the API server yet, is tried again, and no node can be made fit for it. The write that would clear the nomination is worked out against the pod as the informer has it, without a nomination, so that nothing is cleared. Then the late update restores the nomination in the scheduler's memory, too.",
		Where:       "schedule_one.go:1254@v1.37.1, handleSchedulingFailure; nominator.go:114@v1.37.1, UpdateNominatedPod",
		Consequence: "Room on a node is kept for up to five minutes for a pod that does not fit there, and pods of lower priority that would fit stay pending.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "end-of-victims-wakes-nobody",
		Title:       "A pod that waits for its victims is not tried when they are gone, if another plugin rejects it by then",
		Class:       Defect,
		Promise:     "If the preemption goroutine is complete, the Pod is queued back to the queue with the Pod/delete event.",
		Source:      "KEP-4832, Design Details",
		Happens:     "A preemptor is tried again while its victims terminate, and its nominated node is rejected by a plugin that their end does not concern, as by NodePorts since another pod has taken the port. It is not eligible to preempt as long as they terminate, and keeps its nomination. When they are gone, no plugin wakes it up.",
		Where:       "default_preemption.go:240@v1.37.1, isPodSchedulableAfterAssignedPodDeletion; schedule_one.go:1192@v1.37.1, handleSchedulingFailure",
		Consequence: "For up to five minutes room is kept on a node for a pod that does not fit there, and others that would fit stay pending.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "preemption-chance-unnoticed",
		Title:       "An event that only makes preemption possible wakes nobody up",
		Class:       Debatable,
		Promise:     "A pod waits for the flush only by a misconfiguration of queueing hints, or by an issue of event handling.",
		Source:      "help text of pod_scheduled_after_flush_total (scheduler/metrics/metrics.go:393@v1.37.1); that an event which makes preemption possible should count is not said",
		Happens:     "A pod is woken up by events that the plugins which rejected it on the nodes as they are take for helpful. A plugin that rejected it only in the dry run of preemption is not asked.",
		Where:       "default_preemption.go:240@v1.37.1, isPodSchedulableAfterAssignedPodDeletion; schedule_one.go:1192@v1.37.1, handleSchedulingFailure",
		Consequence: "A pod that could preempt others now waits up to five minutes until it does.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "preempts-before-nomination-is-seen",
		Title:       "A pod that is retried before its own nomination comes back preempts a second time",
		Class:       Inconsistency,
		Promise:     "A pod is not considered for preempting others if it has preempted pods already and these are in their graceful termination period on its nominated node.",
		Source:      "doc comment of PodEligibleToPreemptOthers (default_preemption.go:443@v1.37.1); the nominator is updated at once to avoid the race with the pod's update (schedule_one.go:1239@v1.37.1)",
		Happens:     "Eligibility reads the nomination from the pod's object as the informer has it, not from the nominator. Where the pod is retried before the update of its status comes back, it preempts on another node while its victims terminate.",
		Where:       "default_preemption.go:457@v1.37.1, PodEligibleToPreemptOthers",
		Consequence: "Pods on a second node are evicted for one preemptor, which needs one of the two places.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "failed-synchronous-preemption-waits",
		Title:       "A synchronous preemption that fails is not tried again until the five-minute flush",
		Class:       Inconsistency,
		Promise:     "Where an API call of a preemption fails, the preemptor is activated, so that it is not stuck in the unschedulable pod pool.",
		Source:      "comment in prepareCandidateAsync (executor.go:249@v1.37.1)",
		Happens:     "Without asynchronous preemption the error of PostFilter is logged, the pod counts as unschedulable, and no event comes, as nothing was deleted.",
		Where:       "schedule_one.go:299@v1.37.1, schedulingAlgorithm",
		Consequence: "With SchedulerAsyncPreemption off, one failed API call keeps a preemptor pending for five minutes.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "failed-write-leaves-nomination",
		Title:       "Where the write that withdraws a nomination fails, the pod's status keeps it",
		Class:       Debatable,
		Promise:     "nominatedNodeName is set only when this pod preempts other pods on the node.",
		Source:      "core/v1 types.go:5625@v0.37.1, PodStatus.NominatedNodeName; no document says what becomes of it when an API call fails",
		Happens:     "The error is logged. The scheduler's memory has no nomination any more, the API has, until the pod is tried again for another reason.",
		Where:       "schedule_one.go:1254@v1.37.1, handleSchedulingFailure",
		Consequence: "For up to five minutes users and autoscalers see a nomination that the scheduler does not keep room for.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "evicts-namesake",
		Title:       "A preemption deletes a pod that was created under its victim's name",
		Class:       Defect,
		Promise:     "One or more lower priority pods get evicted from the node. A pod that was created later under the name of one of them is another pod: its UID tells them apart.",
		Source:      "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"; docs: concepts/overview/working-with-objects/names, \"UIDs\"",
		Happens:     "The status patch and the deletion name the victim, and carry neither its UID nor a precondition. If the victim is gone by then and created again, as by a StatefulSet, the new pod is marked and deleted, whatever its priority and node.",
		Where:       "util/utils.go:196@v1.37.1, DeletePod",
		Consequence: "A pod that was no victim is deleted in vain. As it is on no node, its deletion does not wake up the preemptor, which may wait for five minutes.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "victim-back-in-queue-wakes-nobody",
		Title:       "A preemptor waits for the five-minute flush if its victim's binding fails before it is evicted",
		Class:       Defect,
		Promise:     "After the preemption goroutine is done, the scheduling for the Pod that triggered the preemption will be retried.",
		Source:      "KEP-4832, Proposal",
		Happens:     "The victim is assumed on the node when the preemptor's cycle begins. Its binding fails, so it gives its room back and is pending again. The preemption deletes it all the same. The event of the failed binding is met by the gate, and the deletion of a pod that is on no node is no event that a preemptor waits for.",
		Where:       "executor.go:248@v1.37.1, prepareCandidateAsync; eventhandlers.go:359@v1.37.1, deletePodFromSchedulingQueue",
		Consequence: "A pending pod is deleted in vain. The preemptor stays pending for five minutes with its room free, and keeps that room from all others.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "preempts-again-without-pause",
		Title:       "A preemption that fails, or whose victim lingers in PreBind, is tried again without a pause",
		Class:       Inconsistency,
		Promise:     "A pod that is unschedulable backs off for a second at least. The same pod is not requested to be preempted several times for the same preemptor.",
		Source:      "PodInitialBackoffSeconds, \"the initial backoff for unschedulable pods\" (kube-scheduler/config/v1/types.go:71@v0.37.1); KEP-5142, of pods that failed by errors; comment in prepareCandidateAsync (executor.go:270@v1.37.1)",
		Happens:     "When a call of the preemption fails, or its last victim was preempted in memory, the preemptor is activated: it is tried at once, past any backoff. If the next preemption goes the same way, there is no pause between the two. A victim in PreBind stays assumed until its plugins return, and cancelling its context once more counts as another success.",
		Where:       "executor.go:248@v1.37.1, prepareCandidateAsync; runtime/pods_in_prebind_map.go:74@v1.37.1, CancelPod",
		Consequence: "The scheduler repeats cycle, calls and events at full speed for as long as the cause lasts: a webhook that denies the deletion, a PreBind plugin that takes its time.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "skipped-pod-frees-room-unnoticed",
		Title:       "Room kept for a nominated pod that terminates becomes free, and nobody is told",
		Class:       Inconsistency,
		Promise:     "A pod is retried when an event may have made it fit; a pod that is scheduled only after the five-minute flush points at a missing event.",
		Source:      "metric pod_scheduled_after_flush_total, scheduler/metrics/metrics.go:392@v1.37.1",
		Happens:     "A pending, nominated pod with finalizers is deleted, and keeps its room while it is in a queue. When it is its turn it is skipped, as it terminates, and is in no queue any more. Its nomination then counts without its requests. Others that were tried before, and did not fit beside it, get no event.",
		Where:       "schedule_one.go:552@v1.37.1, skipPodSchedule; backend/queue/scheduling_queue.go:2167@v1.37.1, NominatedPodsForNode",
		Consequence: "Pods of the same or lower priority stay pending for five minutes beside free room.",
		Releases:    ">=1.37.1",
	},
	{
		ID:          "first-of-its-kind-unnoticed",
		Title:       "The end of the last pod that a pod has to be with does not let it be the first",
		Class:       Inconsistency,
		Promise:     "A pod that is the first of those with affinity to themselves is let in, so as not to leave it pending. A pod that is scheduled only after the five-minute flush points at a missing event.",
		Source:      "doc comment of satisfiesSelfAffinityCheck (interpodaffinity/filtering.go:769@v1.37.1); metric pod_scheduled_after_flush_total, scheduler/metrics/metrics.go:392@v1.37.1",
		Happens:     "A pod whose affinity selects pods like itself has to go where such a pod is, and may go anywhere where there is none. When the last of these is deleted, the queueing hint of InterPodAffinity asks about anti-affinity alone, and says that it does not help. The filter of the same plugin would let the pod in.",
		Where:       "interpodaffinity/plugin.go:219@v1.37.1, isSchedulableAfterAssignedPodChange",
		Consequence: "A pod that replaces one drained off a node stays pending for five minutes, and the service is down.",
		Releases:    ">=1.37.1",
		Upstream:    "kubernetes#141354",
	},
}

// TimelineFindings are the known findings that only a timeline shows. Each has a timeline of
// the corpus for its witness.
func TimelineFindings() []LedgerEntry {
	all := make([]LedgerEntry, len(timelineFindings))
	for i, e := range timelineFindings {
		if e.Upstream == "" {
			e.Upstream = "unreported"
		}
		e.Witness = "finding-" + e.ID
		all[i] = e
	}
	return all
}
