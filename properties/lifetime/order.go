package lifetime

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// order are the promises about which pods are tried, which of them first, and what comes of it.
func order() []Property {
	return []Property{{
		Name: "important-first",
		Promise: "The scheduler orders pending Pods by their priority and a pending Pod is placed ahead of other pending Pods with lower priority in the scheduling queue. " +
			"Of equal priorities, the one that came first is ahead.",
		Source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Effect of Pod priority on scheduling order\"; doc comment of PrioritySort.Less (queuesort/priority_sort.go:41@v1.37.1)",
		Lies:   []string{"tries a less important pod first", "tries a later pod first"},
		Groups: notOfMembers + ": its group is what is in the queue",
		Check:  importantFirst,
	}, {
		Name:    "flush-tries-all",
		Promise: "a pod that has been unschedulable for longer than five minutes is tried again",
		Source:  "doc comment of DefaultPodMaxInUnschedulablePodsDuration (scheduling_queue.go:60@v1.37.1)",
		Lies:    []string{"leaves a pod where it is"},
		Check:   flushTriesAll,
	}, {
		Name:    "gated-are-not-tried",
		Promise: "If schedulingGates is not empty, the pod will stay in the SchedulingGated state and the scheduler will not attempt to schedule the pod.",
		Source:  "doc comment of PodSpec.SchedulingGates (core/v1/types.go:4640@v0.37.1)",
		Lies:    []string{"tries a gated pod"},
		Check:   gatedAreNotTried,
	}, {
		Name:    "tries-its-own",
		Promise: "If specified, the pod will be dispatched by specified scheduler.",
		Source:  "doc comment of PodSpec.SchedulerName (core/v1/types.go:4505@v0.37.1)",
		Lies:    []string{"tries the pod of another scheduler"},
		Check: func(l *Life) (findings []Finding) {
			for i := range l.Trace.Entries {
				e := &l.Trace.Entries[i]
				if p, ok := e.Is.(*v1.Pod); ok && e.What == timeline.Popped && !l.Timeline.Cluster.Settings.Schedules(p.Spec.SchedulerName) {
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "tried", Entry: i,
						Detail: fmt.Sprintf("pod %s is tried at %.3fs, and its scheduler is %q", e.Pod(), e.At.Seconds(), p.Spec.SchedulerName)})
				}
			}
			return findings
		},
	}, {
		Name:    "binds-as-decided",
		Promise: "The scheduler finds feasible Nodes for a Pod … and picks a Node … to run the Pod. The scheduler then notifies the API server about this decision in a process called binding.",
		Source:  "docs: concepts/scheduling-eviction/kube-scheduler, \"kube-scheduler\"",
		Lies:    []string{"binds to another node"},
		Check:   bindsAsDecided,
	}}
}

// importantFirst looks at pods that the scheduler has been told of and has never tried: as they
// have no gate, they are in the active queue.
func importantFirst(l *Life) (findings []Finding) {
	type arrival struct {
		priority int32
		at       time.Duration
	}
	fresh := map[string]arrival{}
	arrives := func(obj runtime.Object, at time.Duration) {
		p, ok := obj.(*v1.Pod)
		if ok && !l.member(model.Key(p)) && p.Spec.NodeName == "" && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 && l.Timeline.Cluster.Settings.Schedules(p.Spec.SchedulerName) {
			fresh[model.Key(p)] = arrival{model.Priority(p), at}
		}
	}
	startups := l.Trace.Startups
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			clear(fresh)
			for _, obj := range startups[0].Objects {
				arrives(obj, e.At)
			}
		}
		pod := e.Pod()
		switch {
		case pod == "":
		case e.What == timeline.Handled && e.Was == nil && e.Is != nil && !e.Replaced:
			arrives(e.Is, e.At)
		case e.What == timeline.Handled:
			if is, ok := e.Is.(*v1.Pod); e.Replaced || !ok || is.Spec.NodeName != "" {
				delete(fresh, pod)
			}
		case e.What == timeline.Popped:
			popped, ok := e.Is.(*v1.Pod)
			if !ok || e.Group != "" {
				break
			}
			came, isFresh := fresh[pod]
			delete(fresh, pod)
			for _, other := range slices.Sorted(maps.Keys(fresh)) {
				switch o := fresh[other]; {
				case o.priority > model.Priority(popped):
					findings = append(findings, Finding{Pod: other, Kind: "less important", Entry: i, Detail: fmt.Sprintf(
						"at %.3fs pod %s of priority %d is tried, and pod %s of priority %d waits in the queue since %.3fs", e.At.Seconds(), pod, model.Priority(popped), other, o.priority, o.at.Seconds())})
				case isFresh && o.priority == came.priority && o.at < came.at:
					findings = append(findings, Finding{Pod: other, Kind: "later", Entry: i, Detail: fmt.Sprintf(
						"at %.3fs pod %s is tried, which came at %.3fs, and pod %s of the same priority waits in the queue since %.3fs", e.At.Seconds(), pod, came.at.Seconds(), other, o.at.Seconds())})
				}
			}
		}
	}
	return findings
}

func flushTriesAll(l *Life) (findings []Finding) {
	if !l.ended() {
		return nil
	}
	tried := map[string]bool{}
	for i := l.Trace.FlushedAt; i < len(l.Trace.Entries); i++ {
		if e := &l.Trace.Entries[i]; e.What == timeline.Popped {
			tried[e.Pod()] = true
		}
	}
	return l.atRest(func(p timeline.PodState) (string, string) {
		if p.Exists && !p.Gated && !tried[p.Name] && slices.Contains(p.Queues, model.QueueUnschedulable) {
			return "left", "is unschedulable, and it is not tried in the five and a half minutes after that"
		}
		return "", ""
	})
}

func gatedAreNotTried(l *Life) (findings []Finding) {
	gated := map[string]bool{} // as the scheduler was told
	told := func(obj runtime.Object) {
		if p, ok := obj.(*v1.Pod); ok {
			gated[model.Key(p)] = len(p.Spec.SchedulingGates) > 0
		}
	}
	startups := l.Trace.Startups
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			for _, obj := range startups[0].Objects {
				told(obj)
			}
		}
		switch {
		case e.What == timeline.Handled:
			told(e.Is)
		case e.What == timeline.Popped && gated[e.Pod()]:
			findings = append(findings, Finding{Pod: e.Pod(), Kind: "tried", Entry: i,
				Detail: fmt.Sprintf("pod %s is tried at %.3fs, and it has scheduling gates", e.Pod(), e.At.Seconds())})
		}
	}
	return findings
}

func bindsAsDecided(l *Life) (findings []Finding) {
	decided := map[string][]string{} // the nodes on which a pod was found to fit
	for i := range l.Trace.Entries {
		switch e := &l.Trace.Entries[i]; {
		case e.Creates():
			delete(decided, e.Pod())
		case e.What == timeline.Fits:
			decided[e.Pod()] = append(decided[e.Pod()], e.Node)
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect() && !slices.Contains(decided[e.Pod()], e.BindsTo()):
			findings = append(findings, Finding{Pod: e.Pod(), Kind: "elsewhere", Entry: i,
				Detail: fmt.Sprintf("pod %s is bound at %.3fs %s, and it was found to fit on %s", e.Pod(), e.At.Seconds(), e.Text, decided[e.Pod()])})
		}
	}
	return findings
}
