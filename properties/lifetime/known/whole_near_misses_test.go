package known_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// checkWhole asks whether a known finding explains all that a property finds in a timeline of the corpus, and nothing of it
// in its near misses.
func checkWhole(t *testing.T, name, property, id string, misses []nearMiss) {
	t.Helper()
	checkWholeAs(t, name, property, id, nearMiss{})
	for _, miss := range misses {
		t.Run(miss.name, func(t *testing.T) {
			for _, f := range findWhole(t, name, property, miss) {
				require.NotContains(t, f.Known, id, f)
			}
		})
	}
}

// checkWholeAs checks that a timeline, which was changed, is still known.
func checkWholeAs(t *testing.T, name, property, id string, change nearMiss) {
	t.Helper()
	for _, f := range findWhole(t, name, property, change) {
		require.Contains(t, f.Known, id, f)
	}
}

// findWhole is what is found of a property in a timeline of the corpus that was changed.
func findWhole(t *testing.T, name, property string, miss nearMiss) (found []lifetime.Finding) {
	t.Helper()
	s, err := corpus.Load("../../../corpus/timelines/" + name + ".yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	if miss.timeline != nil {
		miss.timeline(tl)
	}
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	if miss.trace != nil {
		miss.trace(trace)
	}
	for _, f := range lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}) {
		if f.Property == property {
			found = append(found, f)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// TestMetByGateNearMisses: a pod stays gated as the deletion of a victim was met by the gate only if its own last
// preemption went on then, ended well, and another victim was left.
func TestMetByGateNearMisses(t *testing.T) {
	ends := func(t *timeline.Trace, cycle int) *timeline.Entry {
		return &t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Ends && e.Cycle == cycle })]
	}
	const first, second = 1, 2
	misses := []nearMiss{
		{name: "its goroutine fails", trace: func(t *timeline.Trace) { ends(t, second).Text = "error" }},
		{name: "its goroutine goes on, that of the earlier pod ends twice", trace: func(t *timeline.Trace) { ends(t, second).Cycle = first }},
		{name: "its goroutine ends first", trace: func(t *timeline.Trace) {
			a, b := ends(t, first), ends(t, second)
			a.Cycle, b.Cycle = second, first
		}},
		{name: "no other victim is gone afterwards", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Pod() == "default/w" && e.Text == "deleted" {
					e.Text = "updated"
				}
			}
		}},
		{name: "it decides on nothing afterwards", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, t.FlushedAt-1, timeline.Entry{What: timeline.Decided, Object: "Pod default/p", Cycle: second + 1})
			t.FlushedAt++
		}},
	}
	checkWhole(t, "recreated-preemptor-met-by-gate", "no-wait-for-the-flush", known.GateMeetsDeletion, misses)
}

// TestMemoryMetByGateNearMisses: that a victim's way to the node is over is met by the gate only if the way is over
// before the goroutine is.
func TestMemoryMetByGateNearMisses(t *testing.T) {
	first := func(t *timeline.Trace, is func(e timeline.Entry) bool) *timeline.Entry {
		return &t.Entries[slices.IndexFunc(t.Entries, is)]
	}
	recorded := func(e timeline.Entry) bool {
		return e.Pod() == "default/v" && e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:")
	}
	checkWhole(t, "end-in-memory-met-by-gate", "no-wait-for-the-flush", known.GateMeetsDeletion, []nearMiss{
		{name: "nothing tells that its way is over", trace: func(t *timeline.Trace) { first(t, recorded).Text = "" }},
		{name: "it is told after the goroutine is over", trace: func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, recorded)
			e := t.Entries[i]
			t.Entries = slices.Delete(t.Entries, i, i+1)
			i = slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Ends })
			t.Entries = slices.Insert(t.Entries, i+1, e)
		}},
		{name: "it was rejected, and put back after the goroutine was over", trace: func(t *timeline.Trace) {
			first(t, func(e timeline.Entry) bool { return e.Pod() == "default/v" && e.What == timeline.Requeued }).Text = ""
		}},
		{name: "it is not preempted in memory", trace: func(t *timeline.Trace) {
			first(t, func(e timeline.Entry) bool { return e.PreemptsInMemory() }).Text = "Preempted: by a call"
		}},
		{name: "its goroutine fails", trace: func(t *timeline.Trace) {
			first(t, func(e timeline.Entry) bool { return e.What == timeline.Ends }).Text = "error"
		}},
	})
}

// TestNodeMetByGateNearMisses: a pod is not woken up by a deletion on a node as the gate met that node's addition only if its last
// preemption went on then, is over, and kept it out.
func TestNodeMetByGateNearMisses(t *testing.T) {
	added := func(e timeline.Entry) bool {
		return e.What == timeline.Handled && e.Object == "Node node-1" && e.Text == "added"
	}
	ends := func(e timeline.Entry) bool { return e.What == timeline.Ends }
	// change is made to the last entry that is so.
	change := func(is func(e timeline.Entry) bool, to func(e *timeline.Entry)) func(*timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := len(t.Entries) - 1; i >= 0; i-- {
				if is(t.Entries[i]) {
					to(&t.Entries[i])
					return
				}
			}
			panic("no such entry")
		}
	}
	checkWhole(t, "node-met-by-gate", "event-makes-tryable", known.GateOutlives, []nearMiss{
		{name: "it is not gated then", trace: change(added, func(e *timeline.Entry) { e.Left[0].Gated = false })},
		{name: "its preemption does not go on then", trace: change(added, func(e *timeline.Entry) { e.Left[0].Preempting = false })},
		{name: "another pod is gated then", trace: change(added, func(e *timeline.Entry) { e.Left[0].Pod = "default/q" })},
		{name: "another node is added", trace: change(added, func(e *timeline.Entry) { e.Object = "Node node-2" })},
		{name: "the node is deleted", trace: change(added, func(e *timeline.Entry) { e.Text = "deleted" })},
		{name: "its goroutine goes on", trace: change(ends, func(e *timeline.Entry) { e.Cycle++ })},
		{name: "it decides on nothing afterwards", trace: func(t *timeline.Trace) {
			over := slices.IndexFunc(t.Entries, ends)
			t.Entries = slices.Insert(t.Entries, over+1, timeline.Entry{What: timeline.Decided, Object: "Pod default/p", Cycle: 2})
		}},
	})
}

// TestReboundNearMisses: pods are preempted for ever as refusals of nominated pods are skipped only if each that replaces a victim
// was bound for that.
func TestReboundNearMisses(t *testing.T) {
	checkWhole(t, "replaced-beside-nominated-pod", "preemption-leads-somewhere", string(release.NominatedRefusalsSkipped), []nearMiss{
		{name: "p does not shun them", trace: wereOtherwise("p", func(p *v1.Pod) { p.Spec.Affinity = nil })},
		{name: "one of them was not shunned", trace: wereOtherwise("v-2", func(p *v1.Pod) { p.Labels = nil })},
		{name: "one of them is bound by another attempt", trace: func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Fits && e.Pod() == "default/v-2" })
			t.Entries = slices.Insert(t.Entries, i+1, t.Entries[i])
		}},
	})
}

// TestReboundInKeptRoom: that a pod that replaces a victim was bound where it does not fit for another reason is no excuse.
func TestReboundInKeptRoom(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/replaced-beside-nominated-pod.yaml")
	require.NoError(t, err)
	l := &lifetime.Life{Timeline: s.Cases[0].Timeline}
	l.Trace, err = life.Run(t.Context(), l.Timeline)
	require.NoError(t, err)
	in, is := known.Life{Timeline: l.Timeline, Trace: l.Trace, Release: release.Linked}, known.Broken{}
	for _, f := range lifetime.Check(l) {
		b := known.Broken{Property: f.Property, Kind: f.Kind, Pod: f.Pod, Node: f.Node, Entry: f.Entry, Since: f.Since, Known: f.Known}
		if f.Property == "preemption-leads-somewhere" {
			is = b
			is.Known = nil
		} else {
			in.Cycles = append(in.Cycles, b)
		}
	}
	require.NotEmpty(t, in.Explain(&is))
	in.Cycles[1].Property = "fits-as-told"
	require.Empty(t, in.Explain(&is))
}

// TestMemberGoneNearMisses: a group waits for what a deleted pod of it waited for only if it has not been tried since,
// and no other pod of it waits for the same.
func TestMemberGoneNearMisses(t *testing.T) {
	handled := func(t *timeline.Trace, pod, text string) (int, *timeline.Entry) {
		i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Pod() == pod && e.Text == text
		})
		return i, &t.Entries[i]
	}
	gate := []v1.PodSchedulingGate{{Name: "example.com/gate"}}
	tried := func(t *timeline.Trace) {
		i, _ := handled(t, "default/g1", "deleted")
		t.Entries = slices.Insert(t.Entries, i+1, timeline.Entry{What: timeline.Popped, Object: "PodGroup default/g"})
		t.FlushedAt++
	}
	other := func(t *timeline.Trace) {
		_, e := handled(t, "default/g1", "deleted")
		p := e.Was.(*v1.Pod).DeepCopy()
		p.Spec.SchedulingGroup.PodGroupName = new("other")
		e.Was = p
	}
	checkWhole(t, "finding-deleted-member-keeps-group-out", "no-wait-for-the-flush", known.MemberGone, []nearMiss{
		{name: "the group is tried since", trace: tried},
		{name: "the pod that is deleted is of another group", trace: other},
		{name: "it had no scheduling gate", trace: func(t *timeline.Trace) {
			_, e := handled(t, "default/g1", "deleted")
			p := e.Was.(*v1.Pod).DeepCopy()
			p.Spec.SchedulingGates = nil
			e.Was = p
		}},
		{name: "another pod has one, too", trace: func(t *timeline.Trace) {
			_, e := handled(t, "default/g2", "added")
			p := e.Is.(*v1.Pod).DeepCopy()
			p.Spec.SchedulingGates = gate
			e.Is = p
		}},
	})
	checkWhole(t, "preempting-member-goes", "no-wait-for-the-flush", known.MemberGone, []nearMiss{
		{name: "the group is tried since", trace: tried},
		{name: "the pod that is deleted is of another group", trace: other},
		{name: "the nodes have not rejected it", trace: func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Unfit && e.Pod() == "default/g1" })
			t.Entries[i].Text = "minCount (2) cannot be satisfied"
		}},
		{name: "they have rejected the other one, too", trace: func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Unfit && e.Pod() == "default/g1" })
			also := t.Entries[i]
			_, g2 := handled(t, "default/g2", "added")
			also.Object, also.Is = "Pod default/g2", g2.Is
			t.Entries = slices.Insert(t.Entries, i, also)
			t.FlushedAt++
		}},
	})
	// Of the pods that are left one was rejected, but for what no victim's end changes.
	unfit := func(pod, text string) func(*timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Unfit && e.Pod() == pod {
					e.Text = text
				}
			}
		}
	}
	checkWhole(t, "member-that-preempts-goes", "group-is-not-kept-out", known.MemberGone, []nearMiss{
		{name: "a victim's end may help the other pod, too", trace: unfit("default/g1", "0/1 nodes are available: 1 Insufficient cpu.")},
		{name: "on one of two nodes", trace: unfit("default/g1", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")},
		{name: "nor would it help the pod that is deleted", trace: unfit("default/g2", "0/1 nodes are available: 1 node(s) were unschedulable. no preemption: 1 Insufficient cpu.")},
		{name: "nothing is preempted", trace: func(t *timeline.Trace) {
			t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Decided })].Victims = nil
		}},
	})
}

// TestDeletedOnItsWayNearMisses: that a pod is deleted on its way to a node is met by the gate only if it is not bound yet, and that
// while the preemption goes on.
func TestDeletedOnItsWayNearMisses(t *testing.T) {
	is := func(what timeline.What, pod, text string) func(e timeline.Entry) bool {
		return func(e timeline.Entry) bool { return e.What == what && e.Pod() == pod && e.Text == text }
	}
	deleted := is(timeline.Handled, "default/w7", "deleted")
	move := func(after func(e timeline.Entry) bool) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, deleted)
			e := t.Entries[i]
			t.Entries = slices.Delete(t.Entries, i, i+1)
			t.Entries = slices.Insert(t.Entries, slices.IndexFunc(t.Entries, after)+1, e)
		}
	}
	checkWhole(t, "deleted-on-its-way-met-by-gate", "event-makes-tryable", known.GateMeetsDeletion, []nearMiss{
		{name: "it is bound", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, slices.IndexFunc(t.Entries, deleted), timeline.Entry{What: timeline.Called, Call: timeline.Bind, Object: "Pod default/w7"})
		}},
		{name: "it is told after the goroutine is over", trace: move(func(e timeline.Entry) bool { return e.What == timeline.Ends })},
		{name: "its goroutine fails", trace: func(t *timeline.Trace) {
			t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Ends })].Text = "error"
		}},
	})
}

// TestForNamesakeNearMisses: a pod that is gone preempts while its victims terminate by the nomination of another one only if listers
// show that one, and do so before it is decided.
func TestForNamesakeNearMisses(t *testing.T) {
	again := func(t *timeline.Trace) int {
		first := true
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			is := e.What == timeline.Stored && e.Pod() == "default/p4" && e.Text == "added"
			is, first = is && !first, first && !is
			return is
		})
	}
	checkWhole(t, "preempts-as-namesake-meanwhile", "waits-for-its-victims", known.NamesakePreempts, []nearMiss{
		{name: "it is the same pod", trace: func(t *timeline.Trace) {
			e := &t.Entries[again(t)]
			p := e.Is.(*v1.Pod).DeepCopy()
			p.UID = t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Decided })].Is.(*v1.Pod).UID
			e.Is = p
		}},
		{name: "it comes after the decision", trace: func(t *timeline.Trace) {
			i := again(t)
			e := t.Entries[i]
			t.Entries = append(slices.Delete(t.Entries, i, i+1), e)
		}},
	})
}

// TestMemberComesBackNearMisses: a member stays nominated by a late update only if the nomination was written, and an update is told after
// its group has withdrawn it.
func TestMemberComesBackNearMisses(t *testing.T) {
	const member = "default/m5"
	change := func(is func(e *timeline.Entry) bool) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.Pod() == member && is(e) {
					e.Text = "nothing"
				}
			}
		}
	}
	checkWhole(t, "withdrawn-nomination-of-member-comes-back", "nominations-are-decided", known.NominationComesBack, []nearMiss{
		{name: "it is not written", trace: change(func(e *timeline.Entry) bool { return e.What == timeline.Called && e.Call == timeline.Patch })},
		{name: "no update comes", trace: change(func(e *timeline.Entry) bool {
			return e.What == timeline.Handled && strings.HasPrefix(e.Text, "updated")
		})},
		{name: "its group was not the last to decide", trace: func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.TakenOver })
			decided := slices.IndexFunc(t.Entries[i:], func(e timeline.Entry) bool { return e.What == timeline.Unfit && e.Pod() == member }) + i
			again := t.Entries[decided]
			t.Entries = slices.Insert(t.Entries, t.FlushedAt, again)
			t.FlushedAt++
		}},
	})
}
