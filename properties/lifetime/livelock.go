package lifetime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// noLivelock is that preemption leads somewhere. It takes controllers: of pods that nobody
// replaces, each is evicted once.
func noLivelock() Property {
	return Property{
		Name: "preemption-leads-somewhere",
		Promise: "pods are preempted to make the scheduling of a pending pod possible: without any change from outside, no pods are preempted, replaced and preempted again " +
			"while each time all is as it was before. Nothing is promised to a pod that has to be with pods of lower priority",
		Source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"the scheduler tries to preempt (evict) lower priority Pods to make scheduling of the pending Pod possible\"; " +
			"\"Inter-Pod affinity on lower-priority Pods\": \"There is no guarantee that the pending Pod can be scheduled\"",
		Lies:  []string{"preempts what replaces its victim, without end", "lets two pods preempt what replaces the other"},
		Check: livelock,
	}
}

// manyRounds is how often the same evictions have to follow one another, in the same states, to
// count as going on for ever. A scheduler that does what it is meant to gets to no state twice:
// who is evicted gives way to a pod of higher priority, and that one stays, unless it is evicted
// for one of a higher priority still.
const manyRounds = 3

// eviction is one of a trace, as one of many that are alike: which pod is evicted for which, by
// what they replace, and where all pods were, by what they replace.
type eviction struct {
	by, victim, state string
	entry             int
	// withVictim: the pod, or one of its group, has affinity to the victim.
	withVictim bool
}

// livelock looks for the shortest cycle of evictions that comes manyRounds times in succession
// after all that happens from outside.
func livelock(l *Life) []Finding {
	all := l.evictionsAtLast()
	same := func(i, j int) bool {
		return all[i].by == all[j].by && all[i].victim == all[j].victim && all[i].state == all[j].state
	}
	for period := 1; period*manyRounds <= len(all); period++ {
		run := period
		for i := period; i < len(all); i++ {
			if run++; !same(i, i-period) {
				run = period
			}
			if run < period*manyRounds {
				continue
			}
			var cycle []string
			round := all[i-period+1 : i+1]
			if slices.ContainsFunc(round, func(e eviction) bool { return e.withVictim }) {
				continue
			}
			for _, e := range round {
				cycle = append(cycle, fmt.Sprintf("pod %s evicts %s", e.by, e.victim))
			}
			return []Finding{{Pod: l.Trace.Entries[all[i].entry].By, Kind: "again and again", Since: all[i+1-period*manyRounds].entry, Entry: all[i].entry, Detail: fmt.Sprintf(
				"pods are preempted for ever: %d times in succession, each pod being there or one that replaces it, and all where it was, %s", manyRounds, strings.Join(cycle, ", then "))}}
		}
	}
	return nil
}

// evictionsAtLast are the first evictions of pods after the last step that does anything.
func (l *Life) evictionsAtLast() (all []eviction) {
	from := l.undisturbedFrom()
	owner := map[string]string{} // of each pod: the first one of those that replaced one another
	where := map[string]string{} // of those that are there
	pods := map[string]*v1.Pod{} // as they are
	for _, p := range l.Timeline.Cluster.Pods {
		where[p.Namespace+"/"+p.Name] = p.Spec.NodeName
		pods[p.Namespace+"/"+p.Name] = p
	}
	withVictim := func(by string, victim *v1.Pod) bool {
		for name, p := range pods {
			if (name == by || together.TriedAs(l.Trace, name) == by) && victim != nil && filter.GoesWith(p, victim) {
				return true
			}
		}
		return false
	}
	of := func(pod string) string {
		if first, ok := owner[pod]; ok {
			return first
		}
		return pod
	}
	evicted := map[string]bool{}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod := e.Pod()
		if is, ok := e.Is.(*v1.Pod); ok && (e.What == timeline.Created || e.What == timeline.Updated) {
			pods[pod] = is
		}
		switch {
		case e.Creates() && pod != "":
			where[pod] = ""
			delete(evicted, pod)
			delete(owner, pod)
			if e.By != "" {
				owner[pod] = of(e.By)
			}
		case e.What == timeline.Removed && pod != "", e.What == timeline.Deleting:
			delete(where, pod)
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect():
			where[pod] = e.BindsTo()
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By != "" && e.TookEffect() && !evicted[pod]:
			evicted[pod] = true
			if e.Step < from {
				break
			}
			var state []string
			for _, p := range slices.Sorted(maps.Keys(where)) {
				state = append(state, of(p)+" on "+where[p])
			}
			slices.Sort(state)
			all = append(all, eviction{of(e.By), of(pod), strings.Join(state, ", "), i, withVictim(e.By, pods[pod])})
		}
	}
	return all
}

// undisturbedFrom is the first step from which on time only passes, and nothing is held and no
// call fails.
func (l *Life) undisturbedFrom() int {
	steps := l.Timeline.Steps
	from := len(steps)
	for from > 0 && (steps[from-1].Wait > 0 || steps[from-1].Expect != nil) {
		from--
	}
	held := map[timeline.Place]bool{}
	for i := range steps {
		switch s := &steps[i]; {
		case s.Hold != nil:
			held[*s.Hold] = true
		case s.Release != nil:
			delete(held, *s.Release)
		case s.Fail != nil:
			return len(steps)
		}
	}
	if len(held) > 0 {
		return len(steps)
	}
	return from
}
