package lifetime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// A backoff lasts initialBackoff after the first failure, twice as long after each further
// one, and maxBackoff at most. Who has waited long enough is looked at each backoffWindow, and
// the runner of timelines looks each pollWindow at who may be popped.
const (
	initialBackoff = time.Second
	maxBackoff     = 10 * time.Second
	backoffWindow  = time.Second
	pollWindow     = 1200 * time.Millisecond
)

// pacing are the promises about when a pod is tried, and which pods are.
func pacing() []Property {
	const source = "PodInitialBackoffSeconds, \"the initial backoff for unschedulable pods … the default value (1s)\", and PodMaxBackoffSeconds, \"the max backoff\", " +
		"\"the default value (10s)\" (kube-scheduler/config/v1/types.go:71@v0.37.1)"
	return []Property{{
		Name:    "backoff-ends",
		Promise: "a pod that backs off is tried again when its backoff is over: 1 s after the first failure, at most twice as long after each further one, and 10 s at most",
		Source:  source + "; the queue is looked at each second (backoff_queue.go:33@v1.37.1)",
		Lies:    []string{"lets a pod back off for too long", "forgets a pod that backs off", "lets a pod back off for ever"},
		Groups:  notOfMembers + ": of groups, KEP-4671 leaves open how long the longest backoff is",
		Check:   backoffEnds,
	}, {
		Name:    "rejected-back-off",
		Promise: "where pods are not popped from the backoff queue early, one that was rejected is not tried again before its backoff is over",
		Source:  source + "; KEP-5142, Summary: without the feature, a pod waits in the backoffQ until its backoff is over",
		Lies:    []string{"tries a rejected pod again at once"},
		Groups:  notOfMembers + ": a pod that joins a group may shorten its wait",
		Check:   rejectedBackOff,
	}, {
		Name:    "the-gone-are-not-tried",
		Promise: "a pod that is deleted is deleted from the queue, and not tried any more",
		Source:  "doc comment of PriorityQueue.Delete (scheduling_queue.go:1469@v1.37.1)",
		Lies:    []string{"tries a pod that is gone"},
		Check: func(l *Life) (findings []Finding) {
			gone := map[string]types.UID{}
			for i := range l.Trace.Entries {
				switch e := &l.Trace.Entries[i]; {
				case e.What == timeline.TakenOver:
					clear(gone)
				case e.What == timeline.Handled && e.Pod() != "":
					delete(gone, e.Pod())
					if was, ok := e.Was.(*v1.Pod); ok && e.Text == "deleted" {
						gone[e.Pod()] = was.UID
					}
				case e.What == timeline.Popped && is(e.Is, gone[e.Pod()]):
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "tried", Entry: i,
						Detail: fmt.Sprintf("pod %s is tried after the scheduler has handled that it is gone", e.Pod())})
				}
			}
			return findings
		},
	}, {
		Name:    "the-terminating-are-not-scheduled",
		Promise: "a pod that is being deleted is not scheduled",
		Source:  "doc comment of skipPodSchedule and its case 1, \"pod is being deleted\" (schedule_one.go:548@v1.37.1)",
		Lies:    []string{"schedules a pod that terminates"},
		Check: func(l *Life) (findings []Finding) {
			terminating, late := map[string]bool{}, map[string]bool{} // late: as the cycle began
			for i := range l.Trace.Entries {
				switch e := &l.Trace.Entries[i]; {
				case e.What == timeline.TakenOver:
					clear(terminating)
				case e.What == timeline.Handled && e.Pod() != "":
					terminating[e.Pod()] = strings.HasSuffix(e.Text, "terminating")
				case e.What == timeline.Popped:
					late[e.Pod()] = terminating[e.Pod()]
				case (e.What == timeline.Fits || e.What == timeline.Tried || e.What == timeline.Unfit && e.Group == "") && late[e.Pod()]: // a group may fail before its pods are tried
					findings = append(findings, Finding{Pod: e.Pod(), Kind: string(e.What), Entry: i,
						Detail: fmt.Sprintf("pod %s is scheduled though the scheduler had handled that it is being deleted", e.Pod())})
				}
			}
			return findings
		},
	}}
}

// is tells whether an object is a pod of a UID.
func is(obj runtime.Object, uid types.UID) bool {
	p, ok := obj.(*v1.Pod)
	return ok && p.UID == uid
}

// BackoffOf is how long a pod backs off after so many failed cycles in turn: from 1 s on twice as long each time, up to 10 s.
func BackoffOf(failures int) time.Duration {
	d := initialBackoff
	for ; failures > 1 && d < maxBackoff; failures-- {
		d *= 2
	}
	return min(d, maxBackoff)
}

// backoffEnds follows pods that are put into the backoff queue while nothing is held, until
// something is, or a call fails: then the scheduler's loop may be waiting.
func backoffEnds(l *Life) (findings []Finding) {
	type wait struct {
		entry    int
		deadline time.Duration
	}
	waits := map[string]wait{}
	failures := map[string]int{}
	over := map[string]bool{} // pods that are bound or gone, whatever their cycles say
	var held []string
	late := func(at time.Duration) {
		for pod, w := range waits {
			if at > w.deadline {
				findings = append(findings, Finding{Pod: pod, Kind: "late", Entry: w.entry, Detail: fmt.Sprintf(
					"pod %s began to back off at %.3fs, after failure %d, and was not tried again at %.3fs", pod, l.Trace.Entries[w.entry].At.Seconds(), failures[pod], at.Seconds())})
				delete(waits, pod)
			}
		}
	}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		late(e.At)
		pod := e.Pod()
		switch e.What {
		case timeline.Holding:
			held = append(held, e.Object)
			clear(waits)
		case timeline.Releasing:
			if e.Text == "" { // and not one that goes on
				held = slices.DeleteFunc(held, func(p string) bool { return p == e.Object })
			}
		case timeline.Rested:
			held = nil
		case timeline.TakenOver:
			clear(waits)
			clear(failures)
		case timeline.Called:
			if e.Error != "" {
				clear(waits)
			}
			over[pod] = over[pod] || e.Call == timeline.Bind && e.TookEffect()
		case timeline.Popped, timeline.Handled:
			delete(waits, pod)
		case timeline.Removed, timeline.Deleting:
			delete(waits, pod)
			over[pod] = true
		case timeline.Created:
			if e.Error == "" {
				delete(failures, pod)
				delete(over, pod)
			}
		case timeline.Requeued:
			failures[pod]++
			if over[pod] || l.member(pod) {
				break
			}
			// With the end of the steps all holds end, which the trace does not tell.
			if e.Queue == model.QueueBackoff && (len(held) == 0 || e.Step == len(l.Timeline.Steps)) {
				waits[pod] = wait{i, e.At + BackoffOf(failures[pod]) + backoffWindow + pollWindow}
			}
		}
	}
	if l.ended() {
		late(l.Trace.Flushed.At)
		findings = append(findings, l.backsOffAtRest()...)
	}
	slices.SortFunc(findings, func(a, b Finding) int { return a.Entry - b.Entry })
	return findings
}

// rejectedBackOff counts how often plugins have rejected each pod, and looks when it is tried after
// that. Where there is no node at all, no plugin rejects it, and that counts like an error.
func rejectedBackOff(l *Life) (findings []Finding) {
	if on, set := l.Timeline.Cluster.Settings.FeatureGates["SchedulerPopFromBackoffQ"]; !set || on {
		return nil
	}
	rejected, noNodes := map[string]int{}, map[string]bool{}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod := e.Pod()
		switch {
		case e.What == timeline.TakenOver:
			clear(rejected)
		case e.Creates() || e.What == timeline.Handled && e.Text == "added":
			delete(rejected, pod)
		case e.What == timeline.Unfit:
			noNodes[pod] = strings.HasPrefix(e.Text, "no nodes available")
		case l.member(pod):
		case e.What == timeline.Requeued && e.Queue == "": // it is gone, and another one of its name may be there
		case e.What == timeline.Requeued && e.Text != "error" && !noNodes[pod]:
			rejected[pod]++
			failed := l.cycleFailed(i)
			if failed < 0 || e.Gated {
				break
			}
			if at := l.triedTooSoon(failed, BackoffOf(rejected[pod])); at >= 0 {
				findings = append(findings, Finding{Pod: pod, Kind: "tried", Entry: at, Detail: fmt.Sprintf(
					"pod %s was rejected at %.3fs, for the time %d, and is tried again at %.3fs", pod, l.Trace.Entries[failed].At.Seconds(), rejected[pod], l.Trace.Entries[at].At.Seconds())})
			}
		}
	}
	return findings
}

// backsOffAtRest reports the pods that are backing off at rest, though all backoffs are over
// that began before nothing happened any more.
func (l *Life) backsOffAtRest() (findings []Finding) {
	for _, p := range l.Trace.Quiet.Pods {
		if !slices.Contains(p.Queues, model.QueueBackoff) || l.member(p.Name) {
			continue
		}
		last := -1
		for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
			if e := &l.Trace.Entries[i]; e.Pod() == p.Name || e.What == timeline.TakenOver {
				last = i
			}
		}
		if last >= 0 && l.Trace.Quiet.At-l.Trace.Entries[last].At > maxBackoff+backoffWindow+pollWindow {
			findings = append(findings, Finding{Pod: p.Name, Kind: "for ever", Entry: last, Detail: fmt.Sprintf(
				"when all is at rest, pod %s is backing off, and nothing has happened to it since %.3fs", p.Name, l.Trace.Entries[last].At.Seconds())})
		}
	}
	return findings
}
