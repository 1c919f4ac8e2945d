package story

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// Wait says how long one pod was pending, and what for. All times are in seconds of the
// scheduler's clock. A pod that is deleted and created again under its name is another pod.
type Wait struct {
	Pod string
	// Since is when the pod was created, or 0 if it was there at the start.
	Since float64
	// Pending is the time from Since until the pod was bound, told to end or gone, or until the
	// last entry of the trace.
	Pending float64
	// For are the parts of Pending, which add up to it. Those that are zero are left out.
	For map[Part]float64
	// Became is "bound to NODE", "told to end", "gone" or "pending".
	Became string
}

// Part is what a pending pod waits for.
type Part string

// The parts. Each instant belongs to the first one that holds then.
const (
	// Binding: the pod was found to fit on a node, and is on its way there. From when it was
	// found to fit until it is bound, or back in a queue.
	Binding Part = "binding"
	// Gates: the pod has scheduling gates, as far as the scheduler has been told.
	Gates Part = "scheduling gates"
	// Preempting: a preemption for the pod goes on, so that PreEnqueue may keep it out of the
	// queue. From the decision until its goroutine has ended or, where victims are preempted
	// within the cycle, until the cycle is over. If all victims terminate already, as far as the
	// scheduler knows, there is nothing to do.
	Preempting Part = "preempting"
	// Victims: a victim of the pod terminates. It was told to end, and is still in the API.
	Victims Part = "victims terminate"
	// Late: something is so in the API, and the scheduler has not been told yet: that the pod
	// exists, or that a victim of it is gone.
	Late Part = "late events"
	// Backoff: the pod was put into the queue backoff at the end of its cycle.
	Backoff Part = "backoff"
	// Flush: as Event, but since the last thing that the scheduler was told or did before all is at rest: nothing makes
	// the pod be tried but the flush of pods that have waited for five minutes.
	Flush Part = "flush"
	// Event: at the end of its cycle the pod was to wait for an event that may help. It lasts
	// until the pod is tried again: a trace does not show when an event moves the pod from one
	// queue to another.
	Event Part = "waits for event"
	// Group: the pod was not tried yet since it was created, and is scheduled with a group, which may wait for others of
	// its pods.
	Group Part = "its group"
	// Scheduling: the pod is in the queue active, or in its scheduling cycle.
	Scheduling Part = "being scheduled"
)

// allParts are the parts in their order: at each instant the first one counts that holds.
var allParts = []Part{Binding, Gates, Preempting, Victims, Late, Backoff, Flush, Event, Group, Scheduling}

// pending is a pod from its creation until its wait is over.
type pending struct {
	pod      *v1.Pod
	since    time.Duration
	parts    map[Part]time.Duration
	became   string
	over     bool
	told     bool // the scheduler knows of it
	gates    bool // it has scheduling gates, as far as the scheduler knows
	ways     int  // to a node: times that it was found to fit, and that have not failed yet
	unfit    bool // it does not fit, as its present cycle has found
	routines int  // goroutines of preemptions for it that have not ended
	within   bool // victims are preempted within its present cycle
	victims  map[types.UID]bool
	seen     pods          // what its present cycle knows
	state    Part          // Scheduling, Backoff, Event or Flush
	idle     time.Duration // the part of Event since the last entry: nothing has happened since
}

// pods are those that a scheduler knows, by name.
type pods map[string]knownPod

type knownPod struct {
	uid types.UID
	// ends: it is on a node, and was told to end.
	ends bool
}

func (k pods) know(p *v1.Pod) {
	k[model.Key(p)] = knownPod{p.UID, p.Spec.NodeName != "" && p.DeletionTimestamp != nil}
}

// waiter follows the pods that are pending.
type waiter struct {
	*lifetime.Life
	clock time.Duration
	all   []*pending
	// api has the last pod of each name in the API, known the last one that the scheduler was
	// told of.
	api   map[string]types.UID
	known pods
	// What has become of pods: told to end, gone, and gone as the scheduler knows.
	ending, gone, toldGone map[types.UID]bool
	// routines are the pods whose preemptions go on, by name, the first one first: the trace
	// tells of goroutines by the names of their pods.
	routines map[string][]*pending
}

// waits are the times that pods were pending, by name and creation.
func waits(l *lifetime.Life) (all []Wait) {
	for _, p := range followed(l, len(l.Trace.Entries)).all {
		all = append(all, p.wait())
	}
	slices.SortStableFunc(all, func(a, b Wait) int { return cmp.Compare(a.Pod, b.Pod) })
	return all
}

// followed follows the pods through the first entries of a trace.
func followed(l *lifetime.Life, entries int) *waiter {
	w := &waiter{Life: l, api: map[string]types.UID{}, known: pods{}, ending: map[types.UID]bool{}, gone: map[types.UID]bool{},
		toldGone: map[types.UID]bool{}, routines: map[string][]*pending{}}
	startups := l.Trace.Startups
	for i := range l.Trace.Entries[:entries] {
		for len(startups) > 0 && startups[0].Entry == i {
			w.start(startups[0].Objects)
			startups = startups[1:]
		}
		w.pass(l.Trace.Entries[i].At)
		w.follow(&l.Trace.Entries[i])
	}
	return w
}

// wait is what is told of a pod.
func (p *pending) wait() Wait {
	w := Wait{Pod: model.Key(p.pod), Since: p.since.Seconds(), For: map[Part]float64{}, Became: cmp.Or(p.became, "pending")}
	var sum time.Duration
	for part, d := range p.parts {
		w.For[part] = d.Seconds()
		sum += d
	}
	w.Pending = sum.Seconds()
	return w
}

// pass lets the clock go on. All is as the entries so far have left it.
func (w *waiter) pass(to time.Duration) {
	if to > w.clock {
		for _, p := range w.all {
			if !p.over {
				part := w.part(p)
				p.parts[part] += to - w.clock
				if p.idle = 0; part == Event {
					p.idle = to - w.clock
				}
			}
		}
		w.clock = to
	}
}

// part is what a pod waits for now.
func (w *waiter) part(p *pending) Part {
	ends, late := false, !p.told
	for uid := range p.victims {
		switch {
		case uid == "" || w.toldGone[uid]: // "": one that the scheduler never knew
		case w.gone[uid]:
			late = true
		case w.ending[uid]:
			ends = true
		}
	}
	switch {
	case p.ways > 0:
		return Binding
	case p.gates:
		return Gates
	case p.routines > 0 || p.within:
		return Preempting
	case ends:
		return Victims
	case late:
		return Late
	}
	return p.state
}

// start is what a scheduler knows as it starts. Of what an earlier one had in memory there is
// nothing left.
func (w *waiter) start(objects []runtime.Object) {
	clear(w.routines)
	clear(w.known)
	for uid := range w.gone {
		w.toldGone[uid] = true
	}
	for _, p := range w.all {
		p.ways, p.routines, p.unfit, p.within = 0, 0, false, false
		p.told, p.gates, p.state = false, false, Scheduling
	}
	for _, obj := range objects {
		pod, ok := obj.(*v1.Pod)
		if !ok {
			continue
		}
		delete(w.toldGone, pod.UID) // its list may be older than that
		w.known.know(pod)
		if w.api[model.Key(pod)] == "" { // it was there before the first scheduler
			w.create(pod)
		}
		if p := w.of(pod); p != nil {
			p.told, p.gates = true, len(pod.Spec.SchedulingGates) > 0
		}
	}
}

// create follows a pod from now on, if it is one that this scheduler has to schedule.
func (w *waiter) create(pod *v1.Pod) {
	w.api[model.Key(pod)] = pod.UID
	if w.of(pod) == nil && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && w.Timeline.Cluster.Settings.Schedules(pod.Spec.SchedulerName) {
		w.all = append(w.all, &pending{pod: pod, since: w.clock, parts: map[Part]time.Duration{}, victims: map[types.UID]bool{}, state: w.fresh(pod)})
	}
}

// fresh is what a pod waits for that was not tried yet.
func (w *waiter) fresh(pod *v1.Pod) Part {
	if together.On(w.Timeline) && together.GroupOf(pod) != "" {
		return Group
	}
	return Scheduling
}

// members are the pods of a group that still wait.
func (w *waiter) members(group string) (all []*pending) {
	for _, p := range w.all {
		if !p.over && together.GroupOf(p.pod) == group {
			all = append(all, p)
		}
	}
	return all
}

// of is the pod that still waits and is this one, not only of its name; nil if there is none.
func (w *waiter) of(obj runtime.Object) *pending {
	if pod, ok := obj.(*v1.Pod); ok {
		for _, p := range w.all {
			if !p.over && p.pod.UID == pod.UID && model.Key(p.pod) == model.Key(pod) {
				return p
			}
		}
	}
	return nil
}

// named is the pod of a name that still waits; nil if there is none.
func (w *waiter) named(name string) *pending {
	for _, p := range w.all {
		if !p.over && model.Key(p.pod) == name {
			return p
		}
	}
	return nil
}

// follow takes an entry into account.
func (w *waiter) follow(e *timeline.Entry) {
	name := e.Pod()
	switch e.What {
	case timeline.Rested:
		for _, p := range w.all {
			if p.state == Event {
				p.state = Flush
				p.parts[Event] -= p.idle
				p.parts[Flush] += p.idle
			}
		}
		return
	case timeline.TakenOver: // the next scheduler starts after it
		return
	}
	switch {
	case e.Error != "" && e.What != timeline.Called:
		return
	case name == "":
		w.ofGroup(e)
		return
	}
	switch e.What {
	case timeline.Created:
		if pod, ok := e.Is.(*v1.Pod); ok {
			w.create(pod)
		}
	case timeline.Deleting:
		w.ending[w.api[name]] = true
		w.end(name, "told to end")
	case timeline.Removed:
		w.gone[w.api[name]] = true
		w.end(name, "gone")
	case timeline.Called:
		w.called(e)
	case timeline.Handled:
		w.handled(e)
	case timeline.Ends:
		if of := w.routines[name]; len(of) > 0 {
			of[0].routines--
			w.routines[name] = of[1:]
		}
	default:
		w.cycle(e)
	}
}

// ofGroup follows the preemption for a group: each of its pods waits for it.
func (w *waiter) ofGroup(e *timeline.Entry) {
	group := e.Preemptor()
	switch {
	case group == "":
	case e.What == timeline.Decided:
		for _, p := range w.members(group) {
			w.decided(p, e)
		}
	case e.What == timeline.Ends:
		for _, p := range w.routines[group] {
			p.routines = 0
		}
		delete(w.routines, group)
	}
}

// end is the end of the wait of a pod.
func (w *waiter) end(name, became string) {
	if p := w.named(name); p != nil {
		p.over, p.became = true, became
	}
}

// called follows a call of the scheduler.
func (w *waiter) called(e *timeline.Entry) {
	switch {
	case !e.TookEffect():
	case e.Call == timeline.Bind:
		w.end(e.Pod(), "bound "+strings.TrimSuffix(e.Text, ", took effect"))
	case e.Call == timeline.Evict:
		for _, p := range w.members(e.By) {
			p.victims[w.api[e.Pod()]] = true
		}
		if p := w.named(e.By); p != nil { // it need not be the pod that was decided on
			p.victims[w.api[e.Pod()]] = true
		}
	}
}

// handled follows an event that the scheduler is told of.
func (w *waiter) handled(e *timeline.Entry) {
	is, ok := e.Is.(*v1.Pod)
	if !ok {
		if was, ok := e.Was.(*v1.Pod); ok {
			w.toldGone[was.UID] = true
		}
		return
	}
	w.known.know(is)
	if p := w.of(is); p != nil {
		gates := len(is.Spec.SchedulingGates) > 0
		if !p.told || p.gates && !gates {
			p.state = w.fresh(is)
		}
		p.told, p.gates = true, gates
	}
}

// cycle follows the cycle of a pod.
func (w *waiter) cycle(e *timeline.Entry) {
	p := w.of(e.Is)
	if p == nil {
		return
	}
	switch e.What {
	case timeline.Popped:
		p.state, p.unfit, p.seen = Scheduling, false, maps.Clone(w.known)
	case timeline.Fits:
		p.ways++
	case timeline.Unfit:
		p.unfit = true
	case timeline.Decided:
		w.decided(p, e)
	case timeline.Requeued:
		if !p.unfit { // its way to a node has failed
			p.ways = max(0, p.ways-1)
		}
		p.unfit, p.within = false, false
		switch e.Queue {
		case model.QueueActive:
			p.state = Scheduling
		case model.QueueBackoff:
			p.state = Backoff
		default:
			p.state = Event
		}
	}
}

// decided follows the decision of which victims are preempted for a pod.
func (w *waiter) decided(p *pending, e *timeline.Entry) {
	all := true // terminate already
	for _, v := range e.Victims {
		p.victims[p.seen[v].uid] = true
		all = all && p.seen[v].ends
	}
	switch {
	case all || e.Failed:
	case w.Timeline.Cluster.Settings.AsyncPreemption():
		p.routines++
		w.routines[e.Preemptor()] = append(w.routines[e.Preemptor()], p)
	default:
		p.within = true
	}
}

// writeWaits writes a table of who waited for what, with the parts that are not zero for all.
func writeWaits(w io.Writer, all []Wait) {
	header := []string{"POD", "BECAME", "PENDING"}
	lives := map[string]int{}
	again := false
	for _, x := range all {
		lives[x.Pod]++
		again = again || lives[x.Pod] > 1
	}
	if again {
		header = []string{"POD", "CREATED AT", "BECAME", "PENDING"}
	}
	var parts []Part
	for _, part := range allParts {
		if slices.ContainsFunc(all, func(x Wait) bool { return x.For[part] > 0 }) {
			parts = append(parts, part)
			header = append(header, strings.ToUpper(string(part)))
		}
	}
	seconds := func(s float64) string { return fmt.Sprintf("%.3fs", s) }
	t := table.New("", header...)
	for _, x := range all {
		row := []string{x.Pod}
		if again {
			row = append(row, seconds(x.Since))
		}
		row = append(row, x.Became, seconds(x.Pending))
		for _, part := range parts {
			row = append(row, ifElse(x.For[part] > 0, seconds(x.For[part]), "-"))
		}
		t.Row(row...)
	}
	t.WriteText(w)
}
