package lanes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// place is where a pod is in the scheduler's queue; "" is nowhere.
type place string

// The places.
const (
	inFlight      place = "flight"
	active        place = "active"
	backoff       place = "backoff"
	unschedulable place = "unschedulable"
	gated         place = "gated"
)

// places are all, from the bottom of the lane to its top.
var places = []struct {
	place
	Text, Sign, Class string
}{
	{inFlight, "in flight", "▸", "qflight"}, {active, "active", "=", "qactive"}, {backoff, "in backoff", "↺", "qbackoff"}, {unschedulable, "unschedulable", "?", "qunschedulable"}, {gated, "gated", "#", "qgated"},
}

// A pod is podHeight pixels high in the lane, unless there are more than mostFull pods at a time: then all are
// together as high as that many.
const (
	podHeight = 20
	mostFull  = 5
)

// queue follows where the pods are in the scheduler's queue, by what the scheduler is told and does:
// from its being told of a pod until that is bound, or until it is told that the pod is gone.
type queue struct {
	life     *lifetime.Life
	pods     map[string]place
	group    map[string]string        // of pods, by the scheduler's name of it
	tried    []string                 // whose cycle is on
	left     map[string]bool          // unschedulable or gated after the last event
	failures map[string]int           // cycles that failed
	ready    map[string]time.Duration // when its backoff ends
	spells   []spell
}

// spell is how the queue is from some place of the axis on.
type spell struct {
	x    int
	at   time.Duration
	pods map[place][]string
}

func newQueue(l *lifetime.Life) *queue {
	q := &queue{life: l}
	q.start(0)
	return q
}

// start is that of a scheduler, before an entry: it is told of all pods.
func (q *queue) start(entry int) {
	q.tried = nil
	q.pods, q.group, q.left, q.failures, q.ready = map[string]place{}, map[string]string{}, map[string]bool{}, map[string]int{}, map[string]time.Duration{}
	var known []runtime.Object
	if at := slices.IndexFunc(q.life.Trace.Startups, func(s timeline.Startup) bool { return s.Entry >= entry }); at >= 0 {
		known = q.life.Trace.Startups[at].Objects
	}
	for _, o := range known {
		if p, ok := o.(*v1.Pod); ok {
			q.told(p)
		}
	}
}

// told adds a pod that has no node yet.
func (q *queue) told(p *v1.Pod) {
	key := model.Key(p)
	settings := &q.life.Timeline.Cluster.Settings
	if p.Spec.NodeName != "" || !settings.Schedules(p.Spec.SchedulerName) {
		delete(q.pods, key)
		return
	}
	q.group[key] = ""
	if together.On(q.life.Timeline) {
		q.group[key] = together.GroupOf(p)
	}
	if was := q.pods[key]; was == "" || was == gated && len(p.Spec.SchedulingGates) == 0 && q.group[key] == "" && q.failures[key] == 0 {
		q.pods[key] = active
	}
	if len(p.Spec.SchedulingGates) > 0 && q.pods[key] != inFlight {
		q.pods[key] = gated
	}
}

// follow goes past an entry.
func (q *queue) follow(i int) {
	e := &q.life.Trace.Entries[i]
	pod := e.Pod()
	switch e.What {
	case timeline.TakenOver:
		q.start(i + 1)
	case timeline.Handled:
		q.handled(e)
	case timeline.Popped:
		if pod == "" || e.Group == "" { // and not one more member in the cycle of its group
			q.skipped()
		}
		if pod != "" {
			q.pods[pod] = inFlight
			q.tried = append(q.tried, pod)
		}
	case timeline.Rested:
		q.skipped()
	case timeline.Fits:
		q.tried = slices.DeleteFunc(q.tried, func(p string) bool { return p == pod })
	case timeline.Called:
		if e.BindsTo() != "" && e.TookEffect() {
			delete(q.pods, pod)
		}
	case timeline.Requeued:
		if pod == "" {
			return
		}
		q.failures[pod]++
		q.ready[pod] = e.At + lifetime.BackoffOf(q.failures[pod])
		q.set(pod, requeued(e))
	}
}

// skipped drops pods whose cycle is over without a result: the scheduler runs one cycle after another, and skips
// a pod that terminates or that it has assumed on a node.
func (q *queue) skipped() {
	for _, p := range q.tried {
		if q.pods[p] == inFlight {
			delete(q.pods, p)
		}
	}
	q.tried = nil
}

func (q *queue) set(pod string, to place) {
	if to == "" {
		delete(q.pods, pod)
		return
	}
	q.pods[pod] = to
}

// requeued is where a pod is after its cycle.
func requeued(e *timeline.Entry) place {
	switch {
	case e.Gated, e.Queue == timeline.QueueIncomplete, e.Queue == timeline.QueuePending:
		return gated
	case e.Queue == model.QueueActive:
		return active
	case e.Queue == model.QueueBackoff:
		return backoff
	case e.Queue == model.QueueUnschedulable:
		return unschedulable
	}
	return ""
}

// handled follows an event that the scheduler is told of, and what it moves.
func (q *queue) handled(e *timeline.Entry) {
	switch is, ok := e.Is.(*v1.Pod); {
	case ok:
		q.told(is)
	case e.Pod() != "" && q.pods[e.Pod()] != inFlight: // gone: of one in flight its cycle tells
		delete(q.pods, e.Pod())
		delete(q.failures, e.Pod())
	}
	if e.Replaced && e.Text == "deleted" {
		return // its second half tells who is left
	}
	was := q.left
	q.left = map[string]bool{}
	left := map[string]timeline.Left{}
	for _, l := range e.Left {
		left[l.Pod], q.left[l.Pod] = l, true
	}
	for pod, at := range q.pods {
		l, there := left[pod]
		switch {
		case at == inFlight:
		case there && l.Gated:
			q.pods[pod] = gated
		case there:
			q.pods[pod] = unschedulable
		case (at == unschedulable || at == gated) && (q.group[pod] == "" || was[pod]): // the event may help it
			if q.pods[pod] = active; e.At < q.ready[pod] {
				q.pods[pod] = backoff
			}
		}
	}
}

// note notes how the queue is from here on.
func (q *queue) note(x int, at time.Duration) {
	now := spell{x: x, at: at, pods: map[place][]string{}}
	for pod, in := range q.pods {
		now.pods[in] = append(now.pods[in], pod)
	}
	for _, pods := range now.pods {
		slices.Sort(pods)
	}
	if n := len(q.spells); n > 0 && q.spells[n-1].x == x {
		now.at = q.spells[n-1].at
		q.spells[n-1] = now
		return
	}
	q.spells = append(q.spells, now)
}

// lane draws the queue up to the end, a bar for each place and for as long as the queue is the same; nil if it is
// empty all the time.
func (q *queue) lane(end int) *lane {
	most := 0
	for _, s := range q.spells {
		n := 0
		for _, pods := range s.pods {
			n += len(pods)
		}
		most = max(most, n)
	}
	if most == 0 {
		return nil
	}
	tall := min(most, mostFull)
	unit := float64(podHeight*tall) / float64(most)
	l := &lane{Kind: fmt.Sprintf("queue tall%d", tall), Name: "queue", H: podHeight*tall + 10}
	for i := 0; i < len(q.spells); {
		s, next := q.spells[i], i+1
		for next < len(q.spells) && s.alike(q.spells[next]) {
			next++
		}
		to, until := end, "the end"
		if next < len(q.spells) {
			to, until = q.spells[next].x, clock(q.spells[next].at.Seconds())
		}
		below := 0
		for _, p := range places {
			pods := s.pods[p.place]
			if len(pods) == 0 {
				continue
			}
			bottom, top := int(unit*float64(below)), int(unit*float64(below+len(pods)))
			below += len(pods)
			title := []string{fmt.Sprintf("queue: %d %s", len(pods), p.Text), words.Some(pods, 10), "from " + clock(s.at.Seconds()) + " to " + until}
			text := fitting(to-s.x, fmt.Sprintf("%s %d %s", p.Sign, len(pods), p.Text), fmt.Sprintf("%s %d", p.Sign, len(pods)), fmt.Sprint(len(pods)))
			l.Bars = append(l.Bars, bar{X: s.x, W: to - s.x, Y: l.H - 5 - top, H: max(1, top-bottom), Class: "q " + p.Class, Text: text, Title: strings.Join(title, "\n")})
		}
		i = next
	}
	return l
}

// fitting is the first text for which a bar of a width has room; else the last one.
func fitting(width int, texts ...string) string {
	for _, text := range texts {
		if textWidth(text)+8 <= width {
			return text
		}
	}
	return texts[len(texts)-1]
}

// alike tells whether the same pods are at the same places.
func (s spell) alike(other spell) bool {
	for _, p := range places {
		if !slices.Equal(s.pods[p.place], other.pods[p.place]) {
			return false
		}
	}
	return true
}

// queueLane is the lane of the queue over the moments that are shown; nil if no pod comes to the queue. What
// the story does not tell is between the moments, by the clock.
func queueLane(l *lifetime.Life, v *view) *lane {
	q := newQueue(l)
	q.note(left, 0)
	next, entries := 0, l.Trace.Entries
	pass := func(moment, to int) {
		for ; next < to; next++ {
			at := entries[next].At
			q.follow(next)
			q.note(max(v.axis.place(moment, at.Seconds()), q.spells[len(q.spells)-1].x), at)
		}
	}
	for i := range v.Moments {
		pass(i-1, v.Told[i].Entry)
		pass(i, v.Told[i].Entry+1)
	}
	if v.More == 0 {
		pass(len(v.Moments)-1, len(entries))
	}
	return q.lane(v.Width - slot)
}
