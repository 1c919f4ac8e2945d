package story

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func lived(t *testing.T, tl *timeline.Timeline) *lifetime.Life {
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	return &lifetime.Life{Timeline: tl, Trace: trace}
}

// drawn goes through timelines that are drawn, with a good many of each kind of event.
func drawn(t *testing.T, visit func(name string, l *lifetime.Life)) {
	for seed := range uint64(250) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		visit(fmt.Sprint("seed ", seed), lived(t, tl))
	}
}

// TestWaits holds what pods waited for against numbers that were worked out by hand from the
// traces. A cycle takes 1 ms.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		timeline string
		rows     []string
	}{{
		// p is created at 0 and in its cycle until 0.001. It decides to preempt v, whose grace period
		// is 0: v is gone at 0.001, and the goroutine ended. Of this the scheduler is told at
		// 4.002: late. At 2.002, p decides once more, and that goroutine ends at 4.002. All is at
		// rest at 79.002, and p is tried from 330.002 to 330.003.
		"kubernetes-141694", []string{
			"default/p since 0.000, bound to node-1: 330.003 = 2.000 preempting + 2.001 late events + 326.000 flush + 0.002 being scheduled",
		},
	}, {
		// v is deleted with a grace period of 1 s at 0.001, and gone at 1.001. Its event is met by the
		// gate. At rest at 75.001, tried from 330.001 to 330.002.
		"finding-victim-deletion-met-by-gate", []string{
			"default/p since 0.000, bound to node-1: 330.002 = 1.000 victims terminate + 329.000 flush + 0.002 being scheduled",
		},
	}, {
		// g1 waits for g2 until 10.000, and both are in their group's cycle until 10.001, and from 12.000 until 12.100. Their
		// victims are told to end at 10.001, and gone at 11.002.
		"group-waits-for-its-last-pod", []string{
			"default/g1 since 0.000, bound to node-1: 12.002 = 1.000 victims terminate + 1.000 waits for event + 10.000 its group + 0.002 being scheduled",
			"default/g2 since 10.000, bound to node-2: 2.002 = 1.000 victims terminate + 1.000 waits for event + 0.002 being scheduled",
		},
	}, {
		// v is told to end at 0.001 and ended by hand in the same instant. Of that the scheduler is told
		// by the list at 10.001. s is created and deleted in between, at 0.001.
		"relisted", []string{
			"default/p since 0.000, bound to node-1: 10.002 = 10.000 late events + 0.002 being scheduled",
			"default/s since 0.001, gone: 0.000",
		},
	}, {
		// v is in its cycle until 0.001, and its binding is held until 30.002. p decides on v at
		// 0.002, and the goroutine is held at the deletion until 30.002. v then terminates for 30 s,
		// until 60.002, and p is tried until 60.003.
		"kubernetes-134217", []string{
			"default/p since 0.001, bound to node-1: 60.002 = 30.000 preempting + 30.000 victims terminate + 0.002 being scheduled",
			"default/v since 0.000, bound to node-1: 30.002 = 30.001 binding + 0.001 being scheduled",
		},
	}, {
		// v fits at 0.001. Its binding ends at 1.003, as p preempts it on its way. It backs off
		// for 1 s until 2.003, is tried until 2.004, waits until all is at rest at 76.003, then for the
		// flush at 330.003, and is tried until 330.004. p decides at 0.002, and the goroutine is held
		// until 1.002; p is tried until 1.003.
		"kubernetes-140082", []string{
			"default/p since 0.001, bound to node-1: 1.002 = 1.000 preempting + 0.002 being scheduled",
			"default/v since 0.000, pending: 330.004 = 1.002 binding + 1.000 backoff + 327.999 flush + 0.003 being scheduled",
		},
	}, {
		// The first v is bound at 0.001 and gone at 0.002. The second is created at 0.002, while the
		// queue hands out no pod, and deleted at once: it is never tried.
		"finding-evicts-namesake", []string{
			"default/p since 0.001, bound to node-1: 330.002 = 330.000 flush + 0.002 being scheduled",
			"default/v since 0.000, bound to node-1: 0.001 = 0.001 being scheduled",
			"default/v since 0.002, gone: 0.000",
		},
	}, {
		// p is in the queue until 1.000, as none is handed out, and in its cycle until 1.001. v then
		// terminates until 31.100, and p is tried until 31.101. s is created at 1.000, waits in the queue until
		// 1.001 while p is in its cycle, and is tried until 1.002, from 31.101 to 31.102 and from 360.002 to
		// 360.003. All is at rest at 62.002.
		"kubernetes-72124", []string{
			"default/p since 0.000, bound to node-1: 31.101 = 30.099 victims terminate + 1.002 being scheduled",
			"default/s since 1.000, pending: 359.003 = 328.900 flush + 30.099 waits for event + 0.004 being scheduled",
		},
	}, {
		// v2 terminates for p5 from 0.001 to 30.100, and the scheduler is told at 31.003. p7 decides on
		// it too, at 0.003: as it terminates already there is no goroutine. p7 is tried from 31.003 to 31.004, o6
		// from 31.005 to 31.006, p5 from 31.004 to 31.005. It decides on v0, which terminates from then on,
		// also while p5 is tried again, from 31.006 to 31.007.
		"bound-pod-is-tried", []string{
			"default/o6 since 0.001, bound to node-1: 31.005 = 31.003 waits for event + 0.002 being scheduled",
			"default/p5 since 0.000, bound to node-1: 31.007 = 30.101 victims terminate + 0.903 late events + 0.001 waits for event + 0.002 being scheduled",
			"default/p7 since 0.002, bound to node-1: 31.002 = 30.097 victims terminate + 0.903 late events + 0.002 being scheduled",
		},
	}, {
		// p is told to end at 5.002, though its finalizer keeps it until the end.
		"finding-skipped-pod-frees-room-unnoticed", []string{
			"default/o since 0.000, bound to node-1: 330.005 = 325.001 flush + 5.001 waits for event + 0.003 being scheduled",
			"default/p since 5.001, told to end: 0.001 = 0.001 being scheduled",
		},
	}} {
		s, err := corpus.Load("../../../corpus/timelines/" + c.timeline + ".yaml")
		require.NoError(t, err)
		require.Equal(t, c.rows, rows(waits(lived(t, s.Cases[0].Timeline))), c.timeline)
	}
}

// TestSchedulingGates: g has scheduling gates from 1 s on, the first of which is gone at 3 s and the last at
// 6 s; of this the scheduler is told at 8 s. h has some until the end, and is never tried. o is of
// another scheduler.
func TestSchedulingGates(t *testing.T) {
	s, err := corpus.Read(strings.NewReader(`
apiVersion: preemptcheck/v1alpha1
kind: Timeline
name: gates
steps:
- wait: 1s
- create: Pod default/g
- create: Pod default/o
- wait: 2s
- change: Pod default/g
  with: {spec: {schedulingGates: [{name: a, $patch: delete}]}}
- wait: 3s
- hold: {place: handle, kind: Pod}
- change: Pod default/g
  with: {spec: {schedulingGates: [{name: b, $patch: delete}]}}
- wait: 2s
- release: {place: handle, kind: Pod}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "1", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: g}
spec: {schedulingGates: [{name: a}, {name: b}], containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: h}
spec: {schedulingGates: [{name: a}], containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: o}
spec: {schedulerName: other, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
`), "gates")
	require.NoError(t, err)
	story := Tell(lived(t, s.Cases[0].Timeline), nil)
	require.Equal(t, []string{
		"default/g since 1.000, bound to node-1: 7.001 = 7.000 scheduling gates + 0.001 being scheduled",
		"default/h since 0.000, pending: 23.001 = 23.001 scheduling gates",
	}, rows(story.Waits))
	var text strings.Builder
	story.WriteText(&text)
	require.Contains(t, text.String(), ""+
		"POD         BECAME            PENDING   SCHEDULING GATES   BEING SCHEDULED\n"+
		"default/g   bound to node-1   7.001s    7.000s             0.001s\n"+
		"default/h   pending           23.001s   23.001s            -\n")
}

// rows are waits in a line each.
func rows(all []Wait) (lines []string) {
	for _, w := range all {
		var parts []string
		for _, part := range allParts {
			if w.For[part] != 0 {
				parts = append(parts, fmt.Sprintf("%.3f %s", w.For[part], part))
			}
		}
		line := fmt.Sprintf("%s since %.3f, %s: %.3f", w.Pod, w.Since, w.Became, w.Pending)
		if len(parts) > 0 {
			line += " = " + strings.Join(parts, " + ")
		}
		lines = append(lines, line)
	}
	return lines
}

// withGroups goes through the timelines of the corpus that have groups: none is drawn.
func withGroups(t *testing.T, visit func(name string, l *lifetime.Life)) {
	s, err := corpus.Load("../../../corpus/timelines")
	require.NoError(t, err)
	for _, c := range s.Cases {
		if c.Timeline.Cluster.Settings.FeatureGates[model.GateWorkload] {
			visit(c.Name, lived(t, c.Timeline))
		}
	}
}

// TestPartsAddUp: the parts of each wait add up to what lies between the creation of its pod and the entry that
// ends its wait, and none is negative. Each part occurs.
func TestPartsAddUp(t *testing.T) {
	seen := map[Part]int{}
	again := 0
	addUp := func(name string, l *lifetime.Life) {
		all := waits(l)
		for i, w := range all {
			require.NoError(t, addsUp(l, w), "%s, %s", name, w.Pod)
			for part := range w.For {
				seen[part]++
			}
			if i > 0 && all[i-1].Pod == w.Pod {
				require.LessOrEqual(t, all[i-1].Since+all[i-1].Pending, w.Since+1e-6, "%s, %s: two at once", name, w.Pod)
				again++
			}
		}
	}
	drawn(t, addUp)
	for _, part := range allParts {
		if part != Group {
			require.Greater(t, seen[part], 10, part)
		}
	}
	withGroups(t, addUp)
	require.GreaterOrEqual(t, seen[Group], 5)
	require.Greater(t, again, 10)
}

// addsUp looks at the trace only for when it has an entry of what became of the pod.
func addsUp(l *lifetime.Life, w Wait) error {
	sum := 0.0
	for part, d := range w.For {
		if d < 0 || !slices.Contains(allParts, part) {
			return fmt.Errorf("%.3f %s", d, part)
		}
		sum += d
	}
	ends := slices.ContainsFunc(l.Trace.Entries, func(e timeline.Entry) bool {
		at := math.Abs(e.At.Seconds()-w.Since-sum) < 1e-6
		switch {
		case w.Became == "pending":
			return e.At == l.Trace.Entries[len(l.Trace.Entries)-1].At && at
		case w.Became == "gone":
			return e.What == timeline.Removed && e.Pod() == w.Pod && at
		case w.Became == "told to end":
			return e.What == timeline.Deleting && e.Pod() == w.Pod && at
		}
		return e.Call == timeline.Bind && e.TookEffect() && e.Pod() == w.Pod && at
	})
	if !ends || math.Abs(sum-w.Pending) > 1e-6 {
		return fmt.Errorf("%s after %.3f, and the parts add up to %.3f", w.Became, w.Pending, sum)
	}
	return nil
}

// TestAddsUpNotices: a part that is left out, one that is negative, and one that counts twice.
func TestAddsUpNotices(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/kubernetes-141694.yaml")
	require.NoError(t, err)
	l := lived(t, s.Cases[0].Timeline)
	for _, lie := range []func(w *Wait){
		func(w *Wait) { delete(w.For, Late) },
		func(w *Wait) { w.For[Victims], w.For[Event] = -1, w.For[Event]+1 },
		func(w *Wait) { w.For[Victims] = w.For[Late] },
		func(w *Wait) { w.For[Victims], w.Pending = 1, w.Pending+1 },
	} {
		w := waits(l)[0]
		require.NoError(t, addsUp(l, w))
		lie(&w)
		require.Error(t, addsUp(l, w))
	}
}

// TestAsAtRest: what is made of the trace is as it is in the scheduler and in the API when all is
// at rest: who is pending, and in which queue; who has scheduling gates, is on the way to a node or
// preempts.
func TestAsAtRest(t *testing.T) {
	n, routines := 0, 0
	drawn(t, func(name string, l *lifetime.Life) {
		if l.Trace.Quiet == nil {
			return
		}
		pending, err := asAtRest(l)
		require.NoError(t, err, name)
		n += pending
		routines += len(slices.DeleteFunc(slices.Clone(l.Trace.Entries), func(e timeline.Entry) bool { return e.What != timeline.Ends }))
	})
	require.Greater(t, n, 100)
	require.Greater(t, routines, 100)
}

func asAtRest(l *lifetime.Life) (n int, err error) {
	w := followed(l, l.Trace.FlushedAt-1)
	is, members := map[string]string{}, map[string]bool{}
	for _, p := range w.all {
		if !p.over {
			state := map[Part]model.Queue{Scheduling: model.QueueActive, Backoff: model.QueueBackoff, Event: model.QueueUnschedulable}[p.state]
			if p.gates {
				state = "gates"
			} else if state == model.QueueUnschedulable && leftOut(l, p) {
				state = "no queue"
			}
			preempting := p.routines > 0
			if p.pod.Spec.SchedulingGroup != nil { // which queue its group is in, and whether that preempts, is no part of its row
				state, preempting = "its group", false
				members[model.Key(p.pod)] = true
			}
			is[model.Key(p.pod)] += fmt.Sprintf("told %t, in %s, on its way %t, preempting %t", p.told, state, p.ways > 0, preempting)
		}
	}
	n = len(is)
	for _, p := range l.Trace.Quiet.Pods {
		if p.Exists && p.Node == "" && !p.Terminating && l.Timeline.Cluster.Settings.Schedules(p.Scheduler) {
			state := "no queue"
			if len(p.Queues) > 0 {
				state = string(p.Queues[0])
			}
			if p.Gated && strings.Contains(is[p.Name], "in gates") {
				state = "gates"
			}
			if members[p.Name] {
				state, p.Preempting = "its group", false
			}
			want := fmt.Sprintf("told true, in %s, on its way %t, preempting %t", state, p.Assumed, p.Preempting)
			if is[p.Name] != want {
				return 0, fmt.Errorf("%s: %s, but it is %s", p.Name, is[p.Name], want)
			}
			delete(is, p.Name)
		}
	}
	if len(is) > 0 {
		return 0, fmt.Errorf("pending: %v", is)
	}
	return n, nil
}

// leftOut tells whether the last cycle of a pod has put it into no queue, as upstream does where it takes
// it for another pod of its name.
func leftOut(l *lifetime.Life, p *pending) (is bool) {
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Requeued && e.Is.(*v1.Pod).UID == p.pod.UID {
			is = e.Queue == ""
		}
	}
	return is
}

// TestAsAtRestNotices: a trace that leaves out the end of a preemption, that a pod is back in a queue, that it is
// bound, or that it was created.
func TestAsAtRestNotices(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/finding-gated-by-vain-preemption.yaml")
	require.NoError(t, err)
	for _, what := range []timeline.What{timeline.Ends, timeline.Requeued, timeline.Created, timeline.Handled} {
		l := lived(t, s.Cases[0].Timeline)
		_, err := asAtRest(l)
		require.NoError(t, err)
		last := 0
		for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
			if e := &l.Trace.Entries[i]; e.What == what && e.Pod() == "default/p" {
				last = i
				if _, ok := e.Is.(*v1.Pod); what == timeline.Handled && ok {
					e.What = timeline.Stored
				}
			}
		}
		l.Trace.Entries[last].What = timeline.Stored
		_, err = asAtRest(l)
		require.Error(t, err, what)
	}
}
