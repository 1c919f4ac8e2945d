package lifetime

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// binding are the promises about pods that fit, and are not bound after all.
func binding() []Property {
	return []Property{{
		Name:    "errors-back-off",
		Promise: "a pod that failed with an error is not tried again before its backoff is over, though nothing else is to be tried",
		Source:  "KEP-5142, Motivation, \"pods that are in the backoffQ due to errors, should not bypass the backoff time\"",
		Lies:    []string{"tries a pod again at once after an error", "tries a pod again before its failed cycle has ended"},
		Groups:  notOfMembers + ": group-backs-off-after-errors asks it of their groups",
		Check:   errorsBackOff,
	}, {
		Name: "freed-room-is-told",
		Promise: "where a binding fails, or a pending pod that is nominated goes or is nominated elsewhere, pods that wait for resources are tried again, " +
			"as if a pod had been deleted from its node",
		Source: "comment in handleBindingCycleError, \"should be treated as a PodDelete event, as the assumed Pod had occupied a certain amount of resources in scheduler cache\" " +
			"(schedule_one.go:521@v1.37.1); comments in updatePodInSchedulingQueue, \"we need to treat it as if the pod was deleted from the old nominated node\", and " +
			"deletePodFromSchedulingQueue, \"When a pod that had nominated node is deleted, it can unblock scheduling of other pods\" (eventhandlers.go:348@v1.37.1, eventhandlers.go:386@v1.37.1)",
		Lies:   []string{"does not tell of a failed binding", "does not tell that a nominated pod is gone"},
		Groups: "asked of the room that members give back, not of members that wait",
		Check:  freedRoomIsTold,
	}, {
		Name:    "failed-binding-ends-nomination",
		Promise: "a pod whose binding failed is pending again, and nominated to no node until that is decided anew",
		Source: "KEP-5278, \"Confusing semantics of NominatedNodeName\": of the states of a pod, \"pending pod\" has no nomination, " +
			"and a nomination is the \"current plan of record for this pod from scheduler perspective\"",
		Lies:  []string{"leaves the nomination of a pod whose binding failed"},
		Check: failedBindingEndsNomination,
	}}
}

// toldFailed tells whether an entry is the event by which a cycle fails: the pod has just come
// back into a queue.
func toldFailed(e *timeline.Entry) bool {
	return e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:")
}

// cycleFailed is the index of the event that says that the cycle has failed which entry i, of
// kind Requeued, ends; -1 if there is none.
func (l *Life) cycleFailed(i int) int {
	for j := i - 1; j >= 0; j-- {
		e := &l.Trace.Entries[j]
		if e.Object != l.Trace.Entries[i].Object {
			continue
		}
		switch {
		case toldFailed(e):
			return j
		case e.What == timeline.Fits || e.What == timeline.Unfit || e.What == timeline.Requeued:
			return -1
		}
	}
	return -1
}

func errorsBackOff(l *Life) (findings []Finding) {
	errs := map[string]int{}
	// cycles are how many of a pod go on. A pod that is changed while its binding fails may
	// be tried beside that: which of the two counts the errors from then on is not promised.
	cycles, beside := map[string]int{}, map[string]bool{}
	changed := map[string]bool{} // since its cycle began: so it may be in the queue anew, without its errors
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod := e.Pod()
		switch {
		case l.member(pod):
		case e.What == timeline.TakenOver:
			clear(errs)
			clear(cycles)
			clear(beside)
		case e.What == timeline.Popped:
			if failed := l.bindingFailed(i); failed >= 0 && cycles[pod] == 1 && !changed[pod] && l.triedTooSoon(failed, BackoffOf(errs[pod]+1)) == i {
				findings = append(findings, l.triedAtOnce(pod, failed, i, errs[pod]+1))
			}
			cycles[pod]++
			beside[pod] = cycles[pod] > 1
			delete(changed, pod)
		case e.What == timeline.Handled && strings.HasPrefix(e.Text, "updated"):
			changed[pod] = true
		case e.What == timeline.Called && e.Call == timeline.Bind && e.Error == "":
			cycles[pod]--
		case e.What == timeline.Requeued && (beside[pod] || changed[pod]):
			cycles[pod] = max(0, cycles[pod]-1)
			beside[pod] = cycles[pod] > 0
			delete(errs, pod)
		case e.Creates() || e.What == timeline.Handled && e.Text == "added" || e.What == timeline.Requeued && (e.Text != "error" || e.Queue == "" && !l.poppedSince(i)):
			delete(errs, pod)
			cycles[pod] = 0
		case e.What == timeline.Requeued:
			cycles[pod]--
			errs[pod]++
			failed := l.cycleFailed(i)
			if failed < 0 || e.Gated {
				break
			}
			if at := l.triedTooSoon(failed, BackoffOf(errs[pod])); at >= 0 {
				findings = append(findings, l.triedAtOnce(pod, failed, at, errs[pod]))
			}
		}
	}
	return findings
}

// triedAtOnce is the finding that a pod failed at one entry, for that time in succession, and is tried at another before its backoff is over.
func (l *Life) triedAtOnce(pod string, failed, tried, times int) Finding {
	return Finding{Pod: pod, Kind: "tried", Entry: tried, Detail: fmt.Sprintf(
		"pod %s failed with an error at %.3fs, for the time %d in succession, and is tried again at %.3fs", pod, l.Trace.Entries[failed].At.Seconds(), times, l.Trace.Entries[tried].At.Seconds())}
}

// bindingFailed is the index of the call that could not bind the pod that is popped at entry i, while the cycle that called goes on; -1 if there
// is none. The end of that cycle may come after the next one has begun.
func (l *Life) bindingFailed(i int) int {
	for j := i - 1; j >= 0; j-- {
		e := &l.Trace.Entries[j]
		if e.Object != l.Trace.Entries[i].Object {
			continue
		}
		switch e.What {
		case timeline.Called:
			if e.Call == timeline.Bind && e.Error != "" {
				return j
			}
		case timeline.Popped, timeline.Requeued:
			return -1
		}
	}
	return -1
}

// poppedSince tells whether the pod of entry i was popped again between the failure of the cycle
// that the entry ends and the entry.
func (l *Life) poppedSince(i int) bool {
	failed := l.cycleFailed(i)
	return failed >= 0 && slices.ContainsFunc(l.Trace.Entries[failed:i], func(m timeline.Entry) bool {
		return m.What == timeline.Popped && m.Object == l.Trace.Entries[i].Object
	})
}

// triedTooSoon is the index at which the pod that failed at entry i is tried before so much
// time has passed; -1 if it is not. What comes of the pod in the meantime, or came of it during
// the cycle, may have put it into the queue anew, and the end of its preemption activates it.
func (l *Life) triedTooSoon(i int, backoff time.Duration) int {
	failed := &l.Trace.Entries[i]
	began := i
	for ; began > 0; began-- {
		if e := &l.Trace.Entries[began]; e.What == timeline.Popped && e.Object == failed.Object {
			break
		}
	}
	ended := false // the goroutine of its preemption, which may be held at its end
	for j := range l.Trace.Entries {
		e := &l.Trace.Entries[j]
		switch {
		case e.At >= failed.At+backoff:
			return -1
		case j > i && e.What == timeline.TakenOver:
			return -1
		case e.Object != failed.Object:
		case e.What == timeline.Ends:
			ended = true
		case j > began && e.What == timeline.Handled && (j < i || !strings.HasPrefix(e.Text, "updated")):
			return -1
		case j > i && e.What == timeline.Popped:
			if ended {
				return -1
			}
			return j
		}
	}
	return -1
}

// losesNomination tells whether an entry says that a pending pod is not nominated any more to
// the node to which it was, as the scheduler is told.
func losesNomination(e *timeline.Entry) bool {
	was, _ := e.Was.(*v1.Pod)
	is, _ := e.Is.(*v1.Pod)
	if e.What != timeline.Handled || was == nil || was.Spec.NodeName != "" || was.Status.NominatedNodeName == "" {
		return false
	}
	return is == nil || is.Spec.NodeName == "" && is.UID == was.UID && is.Status.NominatedNodeName != was.Status.NominatedNodeName
}

// freedRoomIsTold follows which pods wait for resources. They have to be tried within the
// longest backoff after room becomes free while nothing is held, until something is. Room of a
// nominated pod is kept from pods of its priority and of lower ones.
func freedRoomIsTold(l *Life) (findings []Finding) {
	type wait struct {
		entry    int
		by       string
		deadline time.Duration
	}
	waits := map[string]wait{}
	unfit, waiting := map[string]bool{}, map[string]bool{} // waiting: and no preemption of it goes on
	priority := map[string]int32{}
	fits, bound := map[string]bool{}, map[string]bool{} // pods on their way to a node, and at its end
	// tried is when each pod was tried last, failing when the end of a pod's way to a node
	// began: the room is free from some instant on between that and its being told.
	tried, failing := map[string]int{}, map[string]int{}
	var held []string
	late := func(at time.Duration) {
		for pod, w := range waits {
			if at > w.deadline {
				findings = append(findings, Finding{Pod: pod, Kind: "untold", Entry: w.entry, Detail: fmt.Sprintf(
					"pod %s waits for resources as %s gives its room back at %.3fs, and was not tried again at %.3fs", pod, w.by, l.Trace.Entries[w.entry].At.Seconds(), at.Seconds())})
				delete(waits, pod)
			}
		}
	}
	free := func(i, since int, pod string, most int32) {
		e := &l.Trace.Entries[i]
		if len(held) > 0 && e.Step < len(l.Timeline.Steps) {
			return
		}
		for other, is := range waiting {
			if is && other != pod && priority[other] <= most && tried[other] <= since {
				waits[other] = wait{i, pod, e.At + maxBackoff + backoffWindow + pollWindow}
			}
		}
	}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		late(e.At)
		pod := e.Pod()
		if losesNomination(e) && !fits[pod] && !bound[pod] && l.schedulesPod(e.Was) {
			free(i, i, pod, model.Priority(e.Was.(*v1.Pod)))
		}
		switch e.What {
		case timeline.Holding:
			held = append(held, e.Object)
			clear(waits)
		case timeline.Releasing:
			if e.Text == "" {
				held = slices.DeleteFunc(held, func(p string) bool { return p == e.Object })
			}
		case timeline.Rested:
			held = nil
		case timeline.TakenOver:
			clear(waits)
			clear(waiting)
			clear(fits)
		case timeline.Popped:
			delete(waits, pod)
			delete(waiting, pod)
			delete(unfit, pod)
			delete(fits, pod)
			delete(failing, pod)
			tried[pod] = i
			if p, ok := e.Is.(*v1.Pod); ok {
				priority[pod] = model.Priority(p)
			}
		case timeline.Handled, timeline.Removed, timeline.Deleting:
			delete(waits, pod)
			if e.What != timeline.Handled || !strings.HasPrefix(e.Text, "updated") {
				delete(waiting, pod)
				delete(fits, pod)
			}
			if p, ok := e.Is.(*v1.Pod); ok && p.Spec.NodeName != "" { // it is told to be bound
				delete(waiting, pod)
			}
			if e.What == timeline.Removed { // until then it keeps its room, whatever a scheduler that took over is told late
				delete(bound, pod)
			}
		case timeline.Unfit:
			unfit[pod] = e.Group == "" && e.WaitsForCPU()
		case timeline.Decided:
			unfit[pod] = unfit[pod] && len(e.Victims) == 0
		case timeline.Fits:
			fits[pod] = true
		case timeline.Requeued:
			waiting[pod] = unfit[pod] && e.Queue == model.QueueUnschedulable && !e.Gated
		case timeline.Called:
			if e.Call == timeline.Bind && e.TookEffect() {
				delete(fits, pod)
				bound[pod] = true // it keeps its room, whatever old news of it comes in
			} else if e.Call == timeline.Bind {
				failing[pod] = i
			}
		case timeline.Told:
			if e.PreemptsInMemory() {
				failing[pod] = i
			}
			if fits[pod] && toldFailed(e) {
				delete(fits, pod)
				since := i
				if began, ok := failing[pod]; ok {
					since = began
				}
				// An error of Permit ends the cycle in which the room was taken: nobody else was tried in it. A pod that is
				// bound has its room already, by an earlier scheduler.
				if inCycle := strings.HasPrefix(e.Text, "FailedScheduling: running Permit plugin"); !bound[pod] && !inCycle {
					free(i, since, pod, math.MaxInt32)
				}
			}
		}
	}
	if l.ended() {
		late(l.Trace.Flushed.At)
	}
	slices.SortFunc(findings, func(a, b Finding) int { return a.Entry - b.Entry })
	return findings
}

// schedulesPod tells whether the scheduler is responsible for a pod.
func (l *Life) schedulesPod(obj runtime.Object) bool {
	p, ok := obj.(*v1.Pod)
	return ok && l.Timeline.Cluster.Settings.Schedules(p.Spec.SchedulerName)
}

// failedBindingEndsNomination looks at pods whose nomination the informer's store has when
// their binding fails: the failure has to withdraw it.
func failedBindingEndsNomination(l *Life) (findings []Finding) {
	if l.Timeline.Cluster.Settings.FeatureGates["SchedulerAsyncAPICalls"] {
		return nil // calls are made later than decided
	}
	type nomination struct{ event int } // that tells of it
	written := map[string]*nomination{}
	emitted, stored := map[string]int{}, map[string]int{} // events of the pod
	fits, failed := map[string]bool{}, map[string]bool{}  // failed: and the nomination was known then
	open := map[string]int{}                              // failures that are not dealt with; of several, a call tells not which it is of
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod := e.Pod()
		switch e.What {
		case timeline.TakenOver:
			clear(fits)
			clear(failed)
			clear(open)
			stored = maps.Clone(emitted)
			for _, missed := range l.Trace.Missed(i) {
				stored[strings.TrimPrefix(missed.Object, "Pod ")]--
			}
		case timeline.Created, timeline.Updated, timeline.Removed, timeline.Deleting, timeline.Started:
			if e.Error != "" {
				break
			}
			emitted[pod]++
			if e.What != timeline.Updated || strings.Contains(e.Text, "nominatedNodeName") {
				delete(written, pod)
				delete(failed, pod)
			}
		case timeline.Called:
			if e.Call == timeline.Patch && strings.Contains(e.Text, "nomination cleared") {
				delete(failed, pod)
			}
			if e.Call == timeline.Evict || !e.TookEffect() {
				break
			}
			emitted[pod]++
			switch {
			case e.Call == timeline.Bind:
				delete(fits, pod)
				delete(written, pod)
			case strings.Contains(e.Text, "nominated to"):
				written[pod] = &nomination{emitted[pod]}
			case strings.Contains(e.Text, "nomination cleared"):
				delete(written, pod)
			}
		case timeline.Stored:
			stored[pod]++
		case timeline.Popped:
			delete(fits, pod)
		case timeline.Fits:
			fits[pod] = true
		case timeline.Told:
			if toldFailed(e) {
				n := written[pod]
				open[pod]++
				failed[pod] = open[pod] == 1 && fits[pod] && n != nil && stored[pod] >= n.event
				delete(fits, pod)
			}
		case timeline.Requeued:
			open[pod] = max(0, open[pod]-1)
			if failed[pod] && e.Queue != "" {
				findings = append(findings, Finding{Pod: pod, Kind: "kept", Entry: i,
					Detail: fmt.Sprintf("the binding of pod %s has failed, and its nomination is not withdrawn", pod)})
			}
			delete(failed, pod)
		}
	}
	return findings
}
