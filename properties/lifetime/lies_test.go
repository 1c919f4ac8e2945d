package lifetime_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// lies are what a lying scheduler does, by property and name. Each is a change to the trace of
// an honest one, in which p preempts v on node-1 and is bound.
var lies = map[string]map[string]func(t *timeline.Trace){
	"gets-through": {
		"crashes":     func(t *timeline.Trace) { t.Crash = &model.Crash{Kind: model.Panic, Where: "x", Message: "y"} },
		"never rests": func(t *timeline.Trace) { t.Endless = "it goes on" },
	},
	"no-wait-for-the-flush": {
		"forgets a pod until the flush": func(t *timeline.Trace) {
			t.Entries = append(t.Entries, timeline.Entry{At: 6 * time.Minute, What: timeline.Fits, Object: "Pod default/p", Node: "node-1"})
		},
		"preempts at the flush": func(t *timeline.Trace) {
			t.Entries = append(t.Entries, timeline.Entry{At: 6 * time.Minute, What: timeline.Decided, Object: "Pod default/p", Node: "node-1", Victims: []string{"default/v"}})
		},
	},
	"tried-is-tracked": {
		"forgets that a pod is tried": each(timeline.Fits, func(e *timeline.Entry) { e.Untracked = true }),
	},
	"backoff-ends": {
		"lets a pod back off for too long": func(t *timeline.Trace) { backsOff(t, "", 0, 3500*time.Millisecond) },
		"forgets a pod that backs off":     func(t *timeline.Trace) { backsOff(t, "", 0) },
		"lets a pod back off for ever":     atRest("default/p", func(p *timeline.PodState) { p.Queues = []model.Queue{model.QueueBackoff} }),
	},
	"rejected-back-off": {
		"tries a rejected pod again at once": func(t *timeline.Trace) {
			t.Entries = append([]timeline.Entry{
				{What: timeline.Popped, Object: "Pod default/other"}, {What: timeline.Told, Object: "Pod default/other", Text: "FailedScheduling: 0/1 nodes are available"},
				{What: timeline.Requeued, Object: "Pod default/other", Queue: model.QueueBackoff}, {What: timeline.Popped, Object: "Pod default/other"},
			}, t.Entries...)
		},
	},
	"the-gone-are-not-tried": {
		"tries a pod that is gone": func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted"
			})
			t.Entries = append(t.Entries, timeline.Entry{What: timeline.Popped, Object: "Pod default/v", Is: t.Entries[i].Was})
		},
	},
	"the-terminating-are-not-scheduled": {
		"schedules a pod that terminates": func(t *timeline.Trace) {
			t.Entries = append(t.Entries, timeline.Entry{What: timeline.Handled, Object: "Pod default/p", Text: "updated, terminating"},
				timeline.Entry{What: timeline.Popped, Object: "Pod default/p"}, timeline.Entry{What: timeline.Fits, Object: "Pod default/p", Node: "node-1"})
		},
	},
	"evicted-once": {
		"evicts a pod that terminates": func(t *timeline.Trace) {
			t.Entries = append([]timeline.Entry{{What: timeline.Handled, Object: "Pod default/v", Text: "updated, terminating"}}, t.Entries...)
		},
		"evicts a pod twice": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Called && e.Call == timeline.Evict {
					t.Entries = slices.Insert(t.Entries, i, *e)
					return
				}
			}
		},
	},
	"no-second-preemption": {
		"preempts a victim once more meanwhile": func(t *timeline.Trace) { preemptsAgain(t, "default/v") },
		"preempts a victim once more as the last one is gone, before it is evicted": func(t *timeline.Trace) {
			t.Entries[first(t, timeline.Decided)].Victims = []string{"default/v", "default/w"}
			preemptsAgain(t, "default/v", timeline.Entry{What: timeline.Stored, Object: "Pod default/w", Text: "deleted"})
		},
		"preempts a victim once more as it is evicted, before the last one is": func(t *timeline.Trace) {
			t.Entries[first(t, timeline.Decided)].Victims = []string{"default/w", "default/v"}
			preemptsAgain(t, "default/w", timeline.Entry{What: timeline.Called, Call: timeline.Evict, Object: "Pod default/w", By: "default/p"})
		},
	},
	"no-namesake-is-evicted": {
		"evicts another pod of the name": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Called && e.Call == timeline.Evict {
					t.Entries = slices.Insert(t.Entries, i, timeline.Entry{What: timeline.Created, Object: e.Object})
					return
				}
			}
		},
	},
	"preempted-is-not-bound": {
		"binds a pod that it has preempted": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Called && e.Call == timeline.Bind {
					told := timeline.Entry{What: timeline.Told, Object: e.Object, Text: "Preempted: Preempted by pod x on node node-1 (in kube-scheduler memory)."}
					t.Entries = slices.Insert(t.Entries, i, told)
					return
				}
			}
		},
	},
	"errors-back-off": {
		"tries a pod again at once after an error": func(t *timeline.Trace) {
			failsToBind(t, timeline.Entry{At: 500 * time.Millisecond, What: timeline.Popped, Object: "Pod default/w"})
		},
		"tries a pod again before its failed cycle has ended": func(t *timeline.Trace) {
			failsToBind(t)
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Told })
			t.Entries = slices.Insert(t.Entries, i, timeline.Entry{What: timeline.Popped, Object: "Pod default/w"})
		},
	},
	"freed-room-is-told": {
		"does not tell that a nominated pod is gone": func(t *timeline.Trace) {
			nominated := &v1.Pod{Spec: v1.PodSpec{SchedulerName: model.DefaultSchedulerName, Priority: ptr.To[int32](5)}, Status: v1.PodStatus{NominatedNodeName: "node-1"}}
			t.Entries = append([]timeline.Entry{
				{What: timeline.Unfit, Object: "Pod default/o", Text: "0/1 nodes are available: 1 Insufficient cpu."},
				{What: timeline.Requeued, Object: "Pod default/o", Queue: model.QueueUnschedulable},
				{What: timeline.Handled, Object: "Pod default/w", Text: "deleted", Was: nominated},
			}, t.Entries...)
		},
		"does not tell of a failed binding": func(t *timeline.Trace) {
			failsToBind(t)
			t.Entries = append([]timeline.Entry{
				{What: timeline.Unfit, Object: "Pod default/o", Text: "0/1 nodes are available: 1 Insufficient cpu."},
				{What: timeline.Requeued, Object: "Pod default/o", Queue: model.QueueUnschedulable},
			}, t.Entries...)
		},
	},
	"event-makes-tryable": {
		"leaves a pod that fits now":      func(t *timeline.Trace) { leaves(t, timeline.Left{Pod: "default/p"}) },
		"keeps a pod gated that fits now": func(t *timeline.Trace) { leaves(t, timeline.Left{Pod: "default/p", Gated: true}) },
		"forgets what came while a pod was gated": func(t *timeline.Trace) {
			i := first(t, timeline.Ends)
			ends := t.Entries[i]
			tells := t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Object == "Pod default/p" && e.Text == "updated"
			})]
			tells.Left = []timeline.Left{{Pod: "default/p", Gated: true}}
			t.Entries = slices.Insert(t.Entries, victimGone(t)+1, ends, tells)
			t.Entries = slices.Delete(t.Entries, i, i+1)
		},
		"forgets what came while a pod was tried": func(t *timeline.Trace) {
			i := first(t, timeline.Requeued)
			late := t.Entries[i]
			t.Entries = slices.Insert(t.Entries, victimGone(t)+1, late)
			t.Entries = slices.Delete(t.Entries, i, i+1)
		},
	},
	"failed-binding-ends-nomination": {
		"leaves the nomination of a pod whose binding failed": func(t *timeline.Trace) {
			failsToBind(t)
			t.Entries = append([]timeline.Entry{
				{What: timeline.Called, Call: timeline.Patch, Object: "Pod default/w", Text: "nominated to node-1"},
				{What: timeline.Stored, Object: "Pod default/w", Text: "updated"},
			}, t.Entries...)
		},
	},
	"gate-opens": {
		"keeps a pod gated":       atRest("default/p", func(p *timeline.PodState) { p.Gated = true }),
		"never ends a preemption": atRest("default/p", func(p *timeline.PodState) { p.Preempting = true }),
		"gates a pod whose preemption is over": func(t *timeline.Trace) {
			again := t.Entries[first(t, timeline.Requeued)]
			again.Gated = true
			t.Entries = slices.Insert(t.Entries, last(t, timeline.Ends)+1, timeline.Entry{What: timeline.Popped, Object: again.Object, Is: again.Is}, again)
		},
		"keeps a pod gated whose victims are gone":             func(t *timeline.Trace) { leaves(t, timeline.Left{Pod: "default/p", Gated: true}) },
		"takes a preemption that is over for one that goes on": func(t *timeline.Trace) { leaves(t, timeline.Left{Pod: "default/p", Preempting: true}) },
	},
	"one-queue": {
		"loses a pod":              atRest("default/p", func(p *timeline.PodState) { p.Node = "" }),
		"keeps a pod that is gone": atRest("default/p", func(p *timeline.PodState) { p.Exists, p.Queues = false, []model.Queue{model.QueueActive} }),
		"leaves a pod waiting for the cycle of its group": atRest("default/p", func(p *timeline.PodState) {
			p.Node, p.Queues = "", []model.Queue{timeline.QueuePending}
		}),
		"has a pod twice": atRest("default/p", func(p *timeline.PodState) {
			p.Node, p.Queues = "", []model.Queue{model.QueueActive, model.QueueBackoff}
		}),
	},
	"nominations-agree": {
		"forgets a nomination":          atRest("default/p", func(p *timeline.PodState) { p.Node, p.Nominated = "", "node-1" }),
		"forgets to write a nomination": atRest("default/p", func(p *timeline.PodState) { p.Node, p.NominatedTo = "", []string{"node-1"} }),
	},
	"nominations-are-decided": {
		"keeps a nomination that was withdrawn": func(t *timeline.Trace) {
			each(timeline.Decided, func(e *timeline.Entry) { e.Node = "" })(t)
			atRest("default/p", func(p *timeline.PodState) { p.Node, p.Nominated = "", "node-1" })(t)
		},
	},
	"no-ghost-nominations": {
		"keeps the nomination of a pod that is gone":  atRest("default/p", func(p *timeline.PodState) { p.Exists, p.NominatedTo = false, []string{"node-1"} }),
		"keeps the nomination of a pod that is bound": atRest("default/p", func(p *timeline.PodState) { p.NominatedTo = []string{"node-1"} }),
		"nominates a pod to two nodes":                atRest("default/p", func(p *timeline.PodState) { p.NominatedTo = []string{"node-1", "node-2"} }),
	},
	"cache-agrees": {
		"keeps a pod in its cache":   atRest("default/p", func(p *timeline.PodState) { p.Exists = false }),
		"loses a pod from its cache": atRest("default/p", func(p *timeline.PodState) { p.CachedOn = nil }),
	},
	"victims-are-decided": {
		"evicts a pod that is no victim": each(timeline.Decided, func(e *timeline.Entry) { e.Victims = nil }),
		"evicts for no pod":              each(timeline.Called, func(e *timeline.Entry) { e.By = "" }),
	},
	"marked-before-evicted": {
		"evicts without a mark": each(timeline.Called, func(e *timeline.Entry) {
			if e.Call == timeline.Patch {
				e.Text = ""
			}
		}),
	},
	"no-eviction-after-a-failed-one": {
		"goes on after a failed eviction": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Called && e.Call == timeline.Evict {
					another := *e
					another.Object = "Pod default/another"
					e.Error = "timeout"
					t.Entries = append(t.Entries[:i+1:i+1], append([]timeline.Entry{another}, t.Entries[i+1:]...)...)
					return
				}
			}
		},
		"goes on after a victim could not be marked": func(t *timeline.Trace) {
			mark := t.Entries[evicts(t)]
			mark.Object, mark.Call, mark.Text, mark.Error = "Pod default/w", timeline.Patch, "DisruptionTarget=True", "timeout"
			t.Entries = slices.Insert(t.Entries, evicts(t), mark)
		},
	},
	"others-before-the-last-victim": {
		"preempts another victim after the last one": func(t *timeline.Trace) {
			each(timeline.Decided, func(e *timeline.Entry) { e.Victims = append([]string{"default/w"}, e.Victims...) })(t)
			another := t.Entries[evicts(t)]
			another.Object = "Pod default/w"
			t.Entries = slices.Insert(t.Entries, evicts(t)+1, another)
		},
	},
	"victims-are-told": {
		"evicts without an event": each(timeline.Told, func(e *timeline.Entry) { e.Text = "" }),
	},
	"tried-as-told": {
		"tries an old version of a pod": func(t *timeline.Trace) {
			e := &t.Entries[last(t, timeline.Popped)]
			old := e.Is.(*v1.Pod).DeepCopy()
			old.ResourceVersion = "0"
			e.Is = old
		},
	},
	"fits-as-told": {
		"takes a node that is full": func(t *timeline.Trace) {
			e := &t.Entries[first(t, timeline.Unfit)]
			e.What, e.Node = timeline.Fits, "node-1"
		},
		"finds no node though one is free": func(t *timeline.Trace) {
			i := last(t, timeline.Fits)
			t.Entries[i].What = timeline.Unfit
			t.Entries = slices.Insert(t.Entries, i+1, timeline.Entry{What: timeline.Decided, Object: "Pod default/p", Is: t.Entries[i].Is, Nomination: model.NominationCleared})
		},
		"forgets a pod that it has assumed": func(t *timeline.Trace) { goes(t, last(t, timeline.Fits)+1, "node-1") },
	},
	"nominated-room-is-kept": {
		"takes the room of a nominated pod": func(t *timeline.Trace) { goes(t, last(t, timeline.Popped), "node-1") },
	},
	"eligible-as-told": {
		"waits for victims that it does not have": each(timeline.Decided, func(e *timeline.Entry) { e.Victims, e.Nomination = nil, model.NominationKept }),
		"preempts while its victims terminate there": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "updated, terminating" {
					p := t.Entries[last(t, timeline.Popped)].Is
					again := t.Entries[first(t, timeline.Decided)]
					again.Is = p
					t.Entries = slices.Insert(t.Entries, i+1, timeline.Entry{What: timeline.Popped, Object: "Pod default/p", Is: p},
						timeline.Entry{What: timeline.Unfit, Object: "Pod default/p", Is: p}, again)
					return
				}
			}
		},
		"preempts for a pod that is bound": func(t *timeline.Trace) {
			i := first(t, timeline.Unfit)
			p := t.Entries[i].Is.(*v1.Pod)
			bound := p.DeepCopy()
			bound.Spec.NodeName = "node-2"
			t.Entries = slices.Insert(t.Entries, i, timeline.Entry{What: timeline.Stored, Object: "Pod default/p", Was: p, Is: bound})
		},
	},
	"preempts-as-allowed": {
		"preempts a pod too many":                 each(timeline.Decided, func(e *timeline.Entry) { e.Victims = append(e.Victims, "default/w") }),
		"preempts on another node":                each(timeline.Decided, func(e *timeline.Entry) { e.Node = "node-2" }),
		"preempts nothing though that would help": each(timeline.Decided, func(e *timeline.Entry) { e.Victims, e.Nomination = nil, model.NominationCleared }),
	},
	"preemption-leads-somewhere": {
		"preempts what replaces its victim, without end": func(t *timeline.Trace) {
			for _, pod := range []string{"v-1", "v-2", "v-3"} {
				t.Entries = append(t.Entries, comesBack("v", pod, "p")...)
			}
		},
		"lets two pods preempt what replaces the other": func(t *timeline.Trace) {
			for _, pod := range []string{"1", "2", "3"} {
				t.Entries = append(t.Entries, comesBack("p", "p-"+pod, "v")...)
				t.Entries = append(t.Entries, comesBack("v", "v-"+pod, "p")...)
			}
		},
	},
	"important-first": {
		"tries a less important pod first": func(t *timeline.Trace) { comesBefore(t, 20, 0) },
		"tries a later pod first":          func(t *timeline.Trace) { comesBefore(t, 10, -time.Second) },
	},
	"flush-tries-all": {
		"leaves a pod where it is": atRest("default/p", func(p *timeline.PodState) { p.Node, p.Queues = "", []model.Queue{model.QueueUnschedulable} }),
	},
	"gated-are-not-tried": {
		"tries a gated pod": each(timeline.Handled, func(e *timeline.Entry) {
			if p, ok := e.Is.(*v1.Pod); ok && p.Name == "p" {
				p = p.DeepCopy()
				p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
				e.Is = p
			}
		}),
	},
	"tries-its-own": {
		"tries the pod of another scheduler": each(timeline.Popped, func(e *timeline.Entry) {
			p := e.Is.(*v1.Pod).DeepCopy()
			p.Spec.SchedulerName = "other"
			e.Is = p
		}),
	},
	"binds-as-decided": {
		"binds to another node": each(timeline.Fits, func(e *timeline.Entry) { e.Node = "node-2" }),
	},
	"group-goes-whole": {
		"preempts a group in part": func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Decided && len(e.Victims) == 2 })
			t.Entries[i].Victims = t.Entries[i].Victims[:1]
		},
		"evicts a group in part and goes on": func(t *timeline.Trace) {
			t.Entries = slices.DeleteFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Called && e.Call == timeline.Evict && e.Object == "Pod default/u2"
			})
			t.FlushedAt--
			t.Quiet.Pods = append(t.Quiet.Pods, timeline.PodState{Name: "default/u2", Exists: true, Node: "node-2"})
		},
	},
	"group-is-tried-complete": {
		"tries a group before its last pod has come": func(t *timeline.Trace) {
			t.Entries = slices.DeleteFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Handled && e.Object == "Pod default/g2" })
		},
		"tries a group that does not exist": func(t *timeline.Trace) {
			t.Entries = append(t.Entries, timeline.Entry{What: timeline.Popped, Object: "PodGroup default/other"})
		},
	},
	"group-is-not-kept-out": {
		"keeps a group out for ever": atRest("default/g1", func(p *timeline.PodState) { p.Node, p.Gated = "", true }),
	},
	"group-is-bound-together": {
		"binds too few pods of a group": func(t *timeline.Trace) {
			i := lastOf(t, timeline.Fits, "Pod default/g2")
			t.Entries = slices.Delete(t.Entries, i, i+1)
		},
	},
	"group-backs-off-after-errors": {
		"tries a group again at once after an error": func(t *timeline.Trace) {
			failed := timeline.Entry{What: timeline.Requeued, Object: "Pod default/x", Group: "podgroup/default/x", Queue: model.QueueBackoff, Text: "error"}
			t.Entries = slices.Concat(tried("x"), []timeline.Entry{failed}, tried("x"), t.Entries)
		},
		"tries a group again at once after a binding that failed": func(t *timeline.Trace) {
			failed := []timeline.Entry{
				{What: timeline.Fits, Object: "Pod default/x", Group: "podgroup/default/x", Node: "node-1"},
				{What: timeline.Told, Object: "Pod default/x", Text: "FailedScheduling: timeout"},
				{What: timeline.Requeued, Object: "Pod default/x", Text: "error"},
			}
			t.Entries = slices.Concat(tried("x"), failed, tried("x"), t.Entries)
		},
	},
	"waits-for-its-victims": {
		"preempts while its victims terminate": func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Text == "updated, terminating" {
					more := []timeline.Entry{
						{What: timeline.Popped, Object: "Pod default/p"},
						{What: timeline.Decided, Object: "Pod default/p", Node: "node-2", Victims: []string{"default/w"}},
					}
					t.Entries = append(t.Entries[:i+1:i+1], append(more, t.Entries[i+1:]...)...)
					return
				}
			}
		},
	},
}

// TestLies: each property notices each of its lies, and is quiet without one.
func TestLies(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines/preempted-and-bound.yaml")
	require.NoError(t, err)
	withGroups, err := corpus.Load("../../corpus/timelines/group-waits-for-its-last-pod.yaml")
	require.NoError(t, err)
	for _, p := range lifetime.All() {
		tl := *s.Cases[0].Timeline
		if strings.HasPrefix(p.Name, "group-") {
			tl = *withGroups.Cases[0].Timeline
		}
		if p.Name == "rejected-back-off" {
			tl.Cluster = tl.Cluster.DeepCopy()
			tl.Cluster.Settings.FeatureGates = map[string]bool{"SchedulerPopFromBackoffQ": false}
		}
		require.Len(t, lies[p.Name], len(p.Lies), p.Name)
		for _, name := range p.Lies {
			trace, err := life.Run(t.Context(), &tl)
			require.NoError(t, err)
			l := &lifetime.Life{Timeline: &tl, Trace: trace}
			require.Empty(t, lifetime.Check(l), "an honest scheduler")
			require.Contains(t, lies[p.Name], name)
			lies[p.Name][name](trace)
			l = &lifetime.Life{Timeline: &tl, Trace: trace}
			require.NotEmpty(t, p.Check(l), "%s does not notice that a scheduler %s", p.Name, name)
		}
	}
}

// TestPromisesOfReleases: what an older release had not promised yet is nothing that it breaks, and
// what it is known for no longer explains what a later one does.
func TestPromisesOfReleases(t *testing.T) {
	s, err := corpus.Load("../../corpus/timelines/preempted-and-bound.yaml")
	require.NoError(t, err)
	kinds := func(system string, lie func(t *timeline.Trace)) (all []string) {
		trace, err := life.Run(t.Context(), s.Cases[0].Timeline)
		require.NoError(t, err)
		lie(trace)
		trace.System = system
		for _, f := range lifetime.Check(&lifetime.Life{Timeline: s.Cases[0].Timeline, Trace: trace}) {
			all = append(all, strings.Join(append([]string{f.Property, f.Kind}, f.Known...), " "))
		}
		return all
	}
	again := lies["evicted-once"]["evicts a pod that terminates"]
	require.NotContains(t, kinds("v1.34.4", again), "evicted-once terminating")
	for _, system := range []string{"v1.35.4", "v1.37.1", "a tree"} {
		require.Contains(t, kinds(system, again), "evicted-once terminating")
	}
	meanwhile := lies["no-second-preemption"]["preempts a victim once more meanwhile"]
	require.Contains(t, kinds("v1.34.4", meanwhile), "no-second-preemption preempts second-preemption-meanwhile")
	require.Contains(t, kinds("v1.35.4", meanwhile), "no-second-preemption preempts")
}
