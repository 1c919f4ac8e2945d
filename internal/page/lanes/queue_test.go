package lanes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
)

// lived is a life without steps, in which these were seen.
func lived(startups []timeline.Startup, entries ...timeline.Entry) *lifetime.Life {
	return &lifetime.Life{Timeline: &timeline.Timeline{Cluster: mk.Cluster(nil, mk.Node("n1", "2"))}, Trace: &timeline.Trace{System: "v1.37.1", Quiet: &timeline.State{}, Startups: startups, Entries: entries}}
}

// after is an entry about pod a, some time after the start.
func after(d time.Duration, e timeline.Entry) timeline.Entry {
	e.At = d
	if e.Object == "" {
		e.Object = "Pod default/a"
	}
	return e
}

// is tells where the pods are, as "active: default/a".
func (q *queue) is() string {
	q.note(left, 0)
	var all []string
	for _, p := range places {
		if pods := q.spells[len(q.spells)-1].pods[p.place]; len(pods) > 0 {
			all = append(all, fmt.Sprintf("%s: %s", p.place, strings.Join(pods, " ")))
		}
	}
	return strings.Join(all, ", ")
}

// A pod goes from place to place by what the scheduler is told and does.
func TestQueueFollows(t *testing.T) {
	pod, bound, other := mk.Pod("a", 0), mk.Pod("a", 0, mk.On("n1")), mk.Pod("x", 0)
	other.Spec.SchedulerName = "mine"
	waits := mk.Pod("g", 0)
	waits.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	open := mk.Pod("g", 0)
	requeued := func(to model.Queue, gated bool) timeline.Entry {
		return timeline.Entry{What: timeline.Requeued, Queue: to, Gated: gated}
	}
	node := func(left ...timeline.Left) timeline.Entry {
		return timeline.Entry{What: timeline.Handled, Object: "Node n1", Text: "updated", Left: left}
	}
	stays, kept := timeline.Left{Pod: "default/a"}, timeline.Left{Pod: "default/a", Gated: true}
	q := newQueue(lived(nil))
	for i, step := range []struct {
		at   time.Duration
		e    timeline.Entry
		want string
	}{
		{0, timeline.Entry{What: timeline.Created, Is: pod}, ""}, // the scheduler has not been told of it
		{0, timeline.Entry{What: timeline.Handled, Text: "added", Is: pod}, "active: default/a"},
		{0, timeline.Entry{What: timeline.Handled, Text: "added", Object: "Pod default/x", Is: other}, "active: default/a"},
		{0, timeline.Entry{What: timeline.Popped}, "flight: default/a"},
		{0, node(), "flight: default/a"},
		{0, requeued(model.QueueUnschedulable, false), "unschedulable: default/a"},
		{time.Millisecond, node(stays), "unschedulable: default/a"},
		{2 * time.Millisecond, node(), "backoff: default/a"},
		{time.Second, timeline.Entry{What: timeline.Popped}, "flight: default/a"},
		{time.Second, requeued(model.QueueUnschedulable, true), "gated: default/a"},
		{time.Second, node(kept), "gated: default/a"},
		{time.Second, node(stays), "unschedulable: default/a"},
		{3 * time.Second, node(), "active: default/a"}, // its second backoff, of 2 s, is over
		{3 * time.Second, timeline.Entry{What: timeline.Popped}, "flight: default/a"},
		{3 * time.Second, requeued(model.QueueBackoff, false), "backoff: default/a"},
		{7 * time.Second, timeline.Entry{What: timeline.Popped}, "flight: default/a"},
		{7 * time.Second, timeline.Entry{What: timeline.Fits, Node: "n1"}, "flight: default/a"},
		{7 * time.Second, timeline.Entry{What: timeline.Called, Call: timeline.Bind, Text: "to n1", Error: "Conflict"}, "flight: default/a"},
		{7 * time.Second, requeued(model.QueueActive, false), "active: default/a"},
		{8 * time.Second, timeline.Entry{What: timeline.Handled, Object: "Pod default/g", Text: "added", Is: waits, Left: []timeline.Left{{Pod: "default/g", Gated: true}}}, "active: default/a, gated: default/g"},
		{8 * time.Second, timeline.Entry{What: timeline.Handled, Object: "Pod default/g", Text: "updated", Was: waits, Is: open}, "active: default/a default/g"},
		{8 * time.Second, timeline.Entry{What: timeline.Handled, Object: "Pod default/g", Text: "deleted", Was: open}, "active: default/a"},
		{9 * time.Second, timeline.Entry{What: timeline.Popped}, "flight: default/a"},
		{9 * time.Second, timeline.Entry{What: timeline.Called, Call: timeline.Bind, Text: "to n1"}, ""},
		{9 * time.Second, timeline.Entry{What: timeline.Handled, Text: "updated", Was: pod, Is: bound}, ""},
		{9 * time.Second, timeline.Entry{What: timeline.Popped, Object: "Pod default/g"}, "flight: default/g"},
		{9 * time.Second, timeline.Entry{What: timeline.Rested, Object: "all"}, ""}, // its cycle was skipped
	} {
		q.life.Trace.Entries = append(q.life.Trace.Entries, after(step.at, step.e))
		q.follow(i)
		require.Equal(t, step.want, q.is(), "entry %d: %s", i, &q.life.Trace.Entries[i])
	}
}

// A scheduler that takes over has been told of the pods that it lists.
func TestQueueOfTheNextScheduler(t *testing.T) {
	q := newQueue(lived([]timeline.Startup{{Objects: []runtime.Object{mk.Pod("a", 0), mk.Pod("b", 0, mk.On("n1"))}}, {Entry: 2, Objects: []runtime.Object{mk.Pod("c", 0)}}},
		after(0, timeline.Entry{What: timeline.Popped}), after(0, timeline.Entry{What: timeline.TakenOver, Object: "scheduler"})))
	require.Equal(t, "active: default/a", q.is())
	q.follow(0)
	require.Equal(t, "flight: default/a", q.is())
	q.follow(1)
	require.Equal(t, "active: default/c", q.is())
}

// In the lane, pods are stacked by where they are, with their number, and their names when pointed at.
func TestQueueLane(t *testing.T) {
	a, b := mk.Pod("a", 0), mk.Pod("b", 0)
	l := lived([]timeline.Startup{{Objects: []runtime.Object{a, b}}},
		after(0, timeline.Entry{What: timeline.Popped}), after(time.Millisecond, timeline.Entry{What: timeline.Unfit, Text: "no room"}),
		after(time.Millisecond, timeline.Entry{What: timeline.Requeued, Queue: model.QueueUnschedulable}),
		after(30*time.Second, timeline.Entry{What: timeline.Popped, Object: "Pod default/b"}))
	v := &view{Story: story.Tell(l, nil)}
	v.moments(l.Trace)
	drawn := queueLane(l, v)
	require.Equal(t, 2*podHeight+10, drawn.H)
	var got []string
	for _, bar := range drawn.Bars {
		got = append(got, strings.ReplaceAll(bar.Title, "\n", "; "))
		require.Positive(t, bar.W)
		require.Equal(t, podHeight, bar.H)
	}
	require.Equal(t, []string{
		"queue: 1 in flight; default/a; from 0 s to 0.001 s", "queue: 1 active; default/b; from 0 s to 0.001 s",
		"queue: 1 active; default/b; from 0.001 s to 30 s", "queue: 1 unschedulable; default/a; from 0.001 s to 30 s",
		"queue: 1 in flight; default/b; from 30 s to the end", "queue: 1 unschedulable; default/a; from 30 s to the end",
	}, got)
	require.Equal(t, drawn.Bars[0].Y, drawn.Bars[1].Y+podHeight, "one is above the other")
	require.Equal(t, "? 1 unschedulable", drawn.Bars[3].Text)
	require.Nil(t, newQueue(lived(nil)).lane(200), "no pod comes to the queue")
}

// Many pods are as high as a few.
func TestQueueOfMany(t *testing.T) {
	var all []runtime.Object
	for i := range 40 {
		all = append(all, mk.Pod(fmt.Sprint("p", i), 0))
	}
	q := newQueue(lived([]timeline.Startup{{Objects: all}}))
	q.note(left, 0)
	drawn := q.lane(200)
	require.Equal(t, mostFull*podHeight+10, drawn.H)
	require.Len(t, drawn.Bars, 1)
	require.Equal(t, mostFull*podHeight, drawn.Bars[0].H)
	require.Equal(t, "= 40 active", drawn.Bars[0].Text)
}

// The cycle of a group ends with what comes of its last member, and not with the next cycle.
func TestGroupCycleEnd(t *testing.T) {
	const group = "podgroup/default/g"
	entries := []timeline.Entry{
		after(0, timeline.Entry{What: timeline.Popped, Object: "PodGroup default/g"}),
		after(0, timeline.Entry{What: timeline.Popped, Group: group}), after(0, timeline.Entry{What: timeline.Popped, Object: "Pod default/b", Group: group}),
		after(0, timeline.Entry{What: timeline.Fits, Group: group, Node: "n1"}),
		after(0, timeline.Entry{What: timeline.Requeued, Object: "Pod default/b", Group: group}),
		after(time.Minute, timeline.Entry{What: timeline.Requeued, Group: group}), // its way to the node has failed
		after(time.Hour, timeline.Entry{What: timeline.Popped, Object: "Pod default/c"}),
		after(time.Hour, timeline.Entry{What: timeline.Requeued, Object: "Pod default/b", Group: group}),
	}
	require.Equal(t, 4, groupCycleEnd(entries, 0))
	require.Equal(t, -1, groupCycleEnd(entries[:3], 0))
}
