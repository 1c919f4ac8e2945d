// Package reach tells which situations a timeline has led a scheduler into. That nothing is found
// means something only if the bugs' situations come about: generators are held to floors.
package reach

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// States are in which things may be when something happens.
const (
	// Decided: a preemption was decided on, and its goroutine has not begun.
	Decided = "a preemption is about to begin"
	// Preempting: the goroutine of a preemption is on.
	Preempting = "a preemption goes on"
	// Marked: a victim has its condition, and is not deleted yet.
	Marked = "a victim is marked"
	// Terminating: a victim was told to end, and is there.
	Terminating = "a victim terminates"
	// Nominated: room is kept for a pod.
	Nominated = "a pod is nominated"
	// Assumed: a pod was found to fit, and is not bound.
	Assumed = "a pod is assumed"
	// TakenOver: the scheduler is not the first one.
	TakenOver = "another scheduler has taken over"
)

// States are all of them.
func States() []string {
	return []string{Decided, Preempting, Marked, Terminating, Nominated, Assumed, TakenOver}
}

// What else may come about, beside that something goes on at a place in a state: these
// are the patterns of bugs in controllers (Sieve, Sun et al., OSDI 2022).
const (
	// Stale: the scheduler preempts a pod that is gone, which it was not told of yet.
	Stale = "decides by a stale view"
	// Unobserved: the scheduler is never told of something, as a new list leaves it out.
	Unobserved = "never observes an event"
	// Intermediate: the scheduler dies between two writes that belong together.
	Intermediate = "dies at an intermediate state"
	// Back: a scheduler begins with an older state than the one before it was told of.
	// DecidesBack: by that it finds a node for a pod, or preempts.
	Back        = "begins with an older view than the scheduler before it had"
	DecidesBack = "decides by an older view than the scheduler before it had"
)

// At is that what was held at a place goes on in a state.
func At(place timeline.PlaceName, state string) string {
	return fmt.Sprintf("goes on at %s while %s", place, state)
}

// Dies is that the scheduler dies in a state.
func Dies(state string) string { return "dies while " + state }

// Fails is that a call fails, and has taken effect or not.
func Fails(call timeline.PlaceName, arrives bool) string {
	if arrives {
		return fmt.Sprintf("%s fails, and took effect", call)
	}
	return fmt.Sprintf("%s fails", call)
}

// Told is that the scheduler is told that a pod was updated or deleted while that pod is in a state.
func Told(what, state string) string {
	return fmt.Sprintf("is told that a pod was %s while it is %s", what, state)
}

// PodStates are in which a pod may be when the scheduler is told of it.
func PodStates() []string { return []string{"in its cycle", "preempting", "nominated", "assumed"} }

// Probe is a situation that a campaign has to have come to some number of times before the absence
// of findings in its timelines says anything.
type Probe struct {
	Name string
	// Quota is in how many of Enough timelines it has to come about, at least.
	Quota int
	// OfGroups: it takes pod groups.
	OfGroups bool
}

// Enough is how many timelines a campaign has to have run before it is asked what it came to. Of so
// many, drawn with any seed, at least three times the quota come to each situation.
const Enough = 2000

const quota = 5

// Probes are all situations: each place in each state, each death, each failing call, what pods are
// told of in each state, and the patterns of bugs in controllers.
func Probes() (all []Probe) {
	add := func(names ...string) {
		for _, name := range names {
			all = append(all, Probe{Name: name, Quota: quota})
		}
	}
	for _, place := range timeline.Places() {
		for _, state := range States() {
			add(At(place, state))
		}
	}
	for _, state := range States() {
		add(Dies(state))
	}
	for _, call := range timeline.Calls() {
		add(Fails(call, false), Fails(call, true))
	}
	for _, state := range PodStates() {
		add(Told("updated", state), Told("deleted", state))
	}
	add(Stale, Unobserved, Intermediate, Back, DecidesBack)
	return append(all, ofGroups()...)
}

// life follows the states of a trace.
type life struct {
	cycle, about, on, nominated, assumed, marked, evicted, gone map[string]bool
	takenOver                                                   bool
	// known are the objects as the scheduler was told that they are, by name; nil is one that
	// is gone. missed are those about which it is told later what the one before it knew.
	known  map[string]runtime.Object
	missed map[string]runtime.Object
}

func newLife() *life {
	m := func() map[string]bool { return map[string]bool{} }
	o := func() map[string]runtime.Object { return map[string]runtime.Object{} }
	return &life{m(), m(), m(), m(), m(), m(), m(), m(), false, o(), o()}
}

// Of is all that came about in a trace.
func Of(trace *timeline.Trace) map[string]bool {
	is := map[string]bool{}
	l, g := newLife(), newGroups(is)
	startups := trace.Startups
	for i := range trace.Entries {
		for len(startups) > 0 && startups[0].Entry <= i {
			l.start(is, &startups[0])
			g.start(&startups[0])
			startups = startups[1:]
		}
		e := &trace.Entries[i]
		g.follow(e)
		pod := e.Pod()
		switch e.What {
		case timeline.Releasing:
			for _, place := range e.Let {
				for _, state := range l.states() {
					is[At(place.Name, state)] = true
				}
			}
		case timeline.TakenOver:
			for _, state := range l.states() {
				is[Dies(state)] = true
			}
			// A nomination without its victims' end, or a mark without a deletion.
			is[Intermediate] = is[Intermediate] || len(l.marked) > 0 || len(l.on) > 0
			l.cycle, l.about, l.on, l.nominated, l.assumed = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
			l.takenOver = true
		case timeline.Handled:
			l.told(is, e)
		case timeline.Called:
			if e.Error != "" && injected(e.Error) {
				is[Fails(e.Call, e.TookEffect())] = true
			}
			l.called(e)
		case timeline.Decided:
			is[DecidesBack] = is[DecidesBack] || len(e.Victims) > 0 && len(l.missed) > 0
			for _, victim := range e.Victims {
				is[Stale] = is[Stale] || l.gone[victim]
			}
			if len(e.Victims) > 0 {
				l.about[pod] = true
			}
			set(l.nominated, pod, e.Node != "")
		default:
			is[DecidesBack] = is[DecidesBack] || e.What == timeline.Fits && len(l.missed) > 0
			l.follow(e, pod)
		}
	}
	maps.DeleteFunc(is, func(_ string, so bool) bool { return !so })
	return is
}

// start looks at what a scheduler begins with, and at what the one before it knew.
func (l *life) start(is map[string]bool, s *timeline.Startup) {
	listed := map[string]runtime.Object{}
	for _, obj := range s.Objects {
		listed[name(obj)] = obj
	}
	clear(l.missed)
	for _, event := range s.Missed {
		if before, told := l.known[event.Object]; told && isOlder(listed[event.Object], before) {
			l.missed[event.Object] = before
		}
	}
	is[Back] = is[Back] || len(l.missed) > 0
	l.known = listed
}

// isOlder tells whether an object is from an earlier time than it was known before. Of one that
// is not there or was gone, this is not seen by its version: it was missed by the later one.
func isOlder(listed, before runtime.Object) bool {
	return before == nil || listed == nil || version(listed) < version(before)
}

func version(obj runtime.Object) int {
	o, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(o.GetResourceVersion()) // an API server in memory counts
	return n
}

// name is that of an object's entries.
func name(obj runtime.Object) string {
	switch o := obj.(type) {
	case *v1.Pod:
		return "Pod " + model.Key(o)
	case *v1.Node:
		return "Node " + o.Name
	}
	return ""
}

// follow follows what pods and goroutines come to.
func (l *life) follow(e *timeline.Entry, pod string) {
	switch e.What {
	case timeline.Popped:
		l.cycle[pod] = true
	case timeline.Fits:
		l.assumed[pod] = true
		delete(l.nominated, pod)
		delete(l.cycle, pod)
	case timeline.Requeued:
		delete(l.cycle, pod)
		delete(l.assumed, pod)
	case timeline.Begins:
		delete(l.about, pod)
		l.on[pod] = true
	case timeline.Ends:
		delete(l.about, pod) // if it was synchronous
		delete(l.on, pod)
	case timeline.Created:
		delete(l.gone, pod)
	case timeline.Removed:
		delete(l.marked, pod)
		delete(l.evicted, pod)
		l.gone[pod] = pod != ""
	}
}

func (l *life) called(e *timeline.Entry) {
	pod := e.Pod()
	switch {
	case !e.TookEffect():
	case e.Call == timeline.Patch && strings.Contains(e.Text, "DisruptionTarget"):
		l.marked[pod] = true
	case e.Call == timeline.Evict:
		delete(l.marked, pod)
		l.evicted[pod] = true
	case e.Call == timeline.Bind:
		delete(l.assumed, pod)
	}
}

// told looks at what the scheduler is told.
func (l *life) told(is map[string]bool, e *timeline.Entry) {
	if e.Listed && (e.Replaced || e.Text == "deleted") {
		is[Unobserved] = true
	}
	l.known[e.Object] = e.Is
	if before, ok := l.missed[e.Object]; ok && (before == nil && e.Is == nil || before != nil && e.Is != nil && version(e.Is) >= version(before)) {
		delete(l.missed, e.Object)
	}
	pod := e.Pod()
	if p, ok := e.Was.(*v1.Pod); !ok || p.Spec.NodeName != "" {
		return
	}
	what := "updated"
	if e.Is == nil {
		what = "deleted"
	}
	for state, has := range map[string]map[string]bool{"in its cycle": l.cycle, "nominated": l.nominated, "assumed": l.assumed} {
		if has[pod] {
			is[Told(what, state)] = true
		}
	}
	if l.on[pod] || l.about[pod] {
		is[Told(what, "preempting")] = true
	}
	if e.Is == nil {
		delete(l.nominated, pod)
	}
}

func (l *life) states() (all []string) {
	for _, s := range States() {
		so := map[string]bool{
			Decided: len(l.about) > 0, Preempting: len(l.on) > 0, Marked: len(l.marked) > 0, Terminating: len(l.evicted) > 0,
			Nominated: len(l.nominated) > 0, Assumed: len(l.assumed) > 0, TakenOver: l.takenOver,
		}[s]
		if so {
			all = append(all, s)
		}
	}
	return all
}

// injected tells whether an error is one that a timeline makes.
func injected(err string) bool {
	return slices.ContainsFunc([]string{"InternalError", "Timeout", "Conflict", "timeout", "conflict"}, func(s string) bool { return strings.Contains(err, s) })
}

func set(m map[string]bool, key string, is bool) {
	if is {
		m[key] = true
	} else {
		delete(m, key)
	}
}
