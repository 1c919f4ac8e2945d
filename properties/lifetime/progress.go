package lifetime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
)

// progress are the promises that things go on, and come to an end.
func progress() []Property {
	return []Property{{
		Name:    "gets-through",
		Promise: "the scheduler neither crashes, nor hangs, nor goes on for ever",
		Source:  "what every program promises",
		Lies:    []string{"crashes", "never rests"},
		Check: func(l *Life) []Finding {
			switch t := l.Trace; {
			case t.Crash != nil:
				return []Finding{{Kind: properties.CrashKind(t.Crash), Detail: "the scheduler breaks: " + t.Crash.String(), Entry: len(t.Entries), Stack: t.Crash.Frames()}}
			case t.Endless != "":
				return []Finding{{Kind: "endless", Detail: t.Endless, Entry: len(t.Entries)}}
			}
			return nil
		},
	}, {
		Name: "no-wait-for-the-flush",
		Promise: "a pod that fits, or for which pods can be preempted, is tried as soon as an event makes it so; " +
			"the flush of pods that wait for five minutes finds none that was forgotten",
		Source: "KEP-4832, \"After the preemption goroutine is done, the scheduling for the Pod that triggered the preemption will be retried\"; " +
			"the metric pod_scheduled_after_flush_total at scheduler/metrics/metrics.go:392@v1.37.1",
		Lies: []string{"forgets a pod until the flush", "preempts at the flush"},
		Check: func(l *Life) (findings []Finding) {
			if !l.ended() || slices.ContainsFunc(l.Trace.Quiet.Pods, l.waitsForQuorum) { // its time may be over first
				return nil
			}
			for i := l.Trace.FlushedAt; i < len(l.Trace.Entries); i++ {
				e := &l.Trace.Entries[i]
				what := ""
				switch {
				case e.What == timeline.Fits:
					what = "fits on " + e.Node
				case e.What == timeline.Decided && len(e.Victims) > 0:
					what = "preempts " + strings.Join(e.Victims, ", ")
					if e.Node != "" { // else it is a group
						what += " on " + e.Node
					}
				default:
					continue
				}
				return []Finding{{Pod: e.Preemptor(), Kind: string(e.What), Entry: i, Detail: fmt.Sprintf(
					"%s waited for the flush: nothing had changed for %s, and then it %s", lower(e.Object), (e.At - l.lastChange()).Round(1e9), what)}}
			}
			return nil
		},
	}, {
		Name:    "gate-opens",
		Promise: "PreEnqueue keeps a pod out of the queue only while its preemption goes on",
		Source:  "KEP-4832, \"blocks the Pod while the preemption routine is in-progress, using PreEnqueue … If the preemption goroutine is complete, the preemption plugin ungates the Pod\"",
		Lies: []string{"keeps a pod gated", "never ends a preemption", "gates a pod whose preemption is over", "keeps a pod gated whose victims are gone",
			"takes a preemption that is over for one that goes on"},
		Groups: "asked whether the group's preemption ends; see group-is-not-kept-out",
		Check:  gateOpens,
	}, {
		Name:    "one-queue",
		Promise: "each pod that waits for the scheduler is in exactly one of its queues, and no other pod is",
		Source:  "package comment of the queue, \"namely: activeQ, backoffQ and unschedulableEntities\" (scheduling_queue.go:20@v1.37.1)",
		Lies:    []string{"loses a pod", "keeps a pod that is gone", "has a pod twice", "leaves a pod waiting for the cycle of its group"},
		Check: func(l *Life) []Finding {
			return l.atRest(func(p timeline.PodState) (string, string) {
				waits := p.Exists && p.Node == "" && l.schedules(p)
				switch {
				case p.InFlight:
					return "in flight", "is still in flight"
				case waits && slices.Contains(p.Queues, timeline.QueuePending):
					return "left pending", "waits for the cycle of its group to end, and none goes on"
				case waits && slices.Contains(p.Queues, timeline.QueueIncomplete) && l.groupThere(p.Name):
					return "left incomplete", "waits for its group to be known, which is there"
				case waits && !p.Terminating && len(p.Queues) == 0:
					return "lost", "is pending, and in no queue"
				case len(p.Queues) > 1:
					return "twice", fmt.Sprintf("is in %d queues: %v", len(p.Queues), p.Queues)
				case !waits && len(p.Queues) > 0:
					return "kept", fmt.Sprintf("is in queue %s, and does not wait for this scheduler", p.Queues[0])
				}
				return "", ""
			})
		},
	}}
}

// lower is the object of an entry within a sentence: "pod default/a", "PodGroup default/g".
func lower(object string) string {
	if rest, ok := strings.CutPrefix(object, "Pod "); ok {
		return "pod " + rest
	}
	return object
}

// hasSchedulingGates tells whether a pod was given scheduling gates at some time.
func (l *Life) hasSchedulingGates(name string) bool {
	for _, p := range l.Timeline.Cluster.Pods {
		if p.Namespace+"/"+p.Name == name && len(p.Spec.SchedulingGates) > 0 {
			return true
		}
	}
	for i := range l.Trace.Entries {
		if e := &l.Trace.Entries[i]; e.Creates() && e.Pod() == name && e.Is != nil && len(e.Is.(*v1.Pod).Spec.SchedulingGates) > 0 {
			return true
		}
	}
	return false
}

// lastChange is when the last thing happened before all was at rest.
func (l *Life) lastChange() time.Duration {
	for i := l.Trace.FlushedAt - 1; i >= 0; i-- {
		if e := &l.Trace.Entries[i]; e.What != timeline.Rested {
			return e.At
		}
	}
	return 0
}
