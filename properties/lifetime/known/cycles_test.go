package known_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// where is the first entry of a kind about an object.
func where(t *timeline.Trace, what timeline.What, object string) int {
	return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == what && e.Object == object })
}

// move takes an entry to before another one.
func move(t *timeline.Trace, from, to int) {
	e := t.Entries[from]
	t.Entries = slices.Delete(t.Entries, from, from+1)
	if from < to {
		to--
	}
	t.Entries = slices.Insert(t.Entries, to, e)
}

// TestCycleCutShortNearMisses: a group's cycle is cut short only if a pod without a group comes back from its way to a node while
// the cycle goes on.
func TestCycleCutShortNearMisses(t *testing.T) {
	const alone, group, first, last = "Pod default/c", "PodGroup default/g", "Pod default/m1", "Pod default/m2"
	back := func(t *timeline.Trace) int { return where(t, timeline.Told, alone) } // that its binding has failed
	misses := []nearMiss{
		{name: "its binding does not fail", trace: func(t *timeline.Trace) { t.Entries[back(t)].Text = "Scheduled" }},
		{name: "it is gone", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Requeued, alone)].Queue = "" }},
		{name: "it comes back before the cycle", trace: func(t *timeline.Trace) { move(t, back(t), where(t, timeline.Popped, group)) }},
		{name: "it comes back after the cycle", trace: func(t *timeline.Trace) { move(t, back(t), where(t, timeline.Requeued, last)+1) }},
		{name: "it was on no way to a node", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, alone)].What = timeline.Started }},
		{name: "it is of a group", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Popped, alone)].Group = "podgroup/default/h" }},
	}
	checkWhole(t, "finding-failed-binding-cuts-group-cycle", "one-queue", known.CycleCutShort, append(misses[:len(misses):len(misses)],
		nearMiss{name: "the pod that waits comes back from no cycle of the group", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Requeued, first)].What = timeline.Told
		}}))
	checkWhole(t, "new-member-is-left-behind", "one-queue", known.CycleCutShort, []nearMiss{
		{name: "the binding does not fail", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Told, "Pod default/w2")].Text = "Scheduled" }},
		{name: "the pod comes after that", trace: func(t *timeline.Trace) {
			move(t, where(t, timeline.Handled, "Pod default/m6"), where(t, timeline.Told, "Pod default/w2")+1)
		}},
		{name: "the pod comes before the first cycle", trace: func(t *timeline.Trace) { move(t, where(t, timeline.Handled, "Pod default/m6"), 0) }},
	})
	checkWhole(t, "left-behind-pod-stays-when-gone", "one-queue", known.CycleCutShort, []nearMiss{
		{name: "the binding does not fail", trace: func(t *timeline.Trace) { t.Entries[back(t)].Text = "Scheduled" }},
		{name: "the pod comes after that", trace: func(t *timeline.Trace) { move(t, where(t, timeline.Handled, last), back(t)+1) }},
		{name: "it stays in another queue", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				t.Quiet.Pods[i].Queues = slices.Repeat([]model.Queue{model.QueueUnschedulable}, len(t.Quiet.Pods[i].Queues))
			}
		}},
	})
	checkWhole(t, "torn-group-is-tried-at-once", "group-backs-off-after-errors", known.CycleCutShort, append(misses[:len(misses):len(misses)],
		nearMiss{name: "the cycle was the one before", trace: func(t *timeline.Trace) {
			i := where(t, timeline.Popped, group)
			j := i + 1 + slices.IndexFunc(t.Entries[i+1:], func(e timeline.Entry) bool { return e.What == timeline.Popped && e.Object == group })
			again := slices.Clone(t.Entries[i : i+3])
			failed := []timeline.Entry{t.Entries[where(t, timeline.Requeued, first)], t.Entries[where(t, timeline.Requeued, last)]}
			t.Entries = slices.Insert(t.Entries, j, append(again, failed...)...)
			t.FlushedAt += 5
		}}))
}

// TestCycleCutShortByPodThatGoesNearMisses: a pod that is in no queue when all is done about its failed binding was put back only if it was
// there, on no node, when that failed.
func TestCycleCutShortByPodThatGoesNearMisses(t *testing.T) {
	const alone = "Pod default/c"
	gone := func(t *timeline.Trace) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Stored && e.Object == alone && e.Is == nil })
	}
	was := func(change func(p *v1.Pod)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			e := &t.Entries[gone(t)]
			p := e.Was.(*v1.Pod).DeepCopy()
			change(p)
			e.Was = p
		}
	}
	checkWhole(t, "group-torn-by-a-pod-that-goes", "group-backs-off-after-errors", known.CycleCutShort, []nearMiss{
		{name: "it was gone by then", trace: func(t *timeline.Trace) { move(t, gone(t), where(t, timeline.Told, alone)) }},
		{name: "it was bound", trace: was(func(p *v1.Pod) { p.Spec.NodeName = "node-1" })},
		{name: "another pod of its name is gone", trace: was(func(p *v1.Pod) { p.UID = "another" })},
		{name: "it stays", trace: func(t *timeline.Trace) { t.Entries[gone(t)].What = timeline.Updated }},
		{name: "another scheduler has taken over", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, gone(t), timeline.Entry{What: timeline.TakenOver})
			t.FlushedAt++
		}},
	})
}

// TestLeftBehindNearMisses: that a pod is tried which is gone is known only if the cycle was cut short from which it came back.
func TestLeftBehindNearMisses(t *testing.T) {
	const first, alone = "Pod default/m1", "Pod default/c"
	checkWhole(t, "left-behind-pod-is-tried-when-gone", "the-gone-are-not-tried", known.CycleCutShort, []nearMiss{
		{name: "the binding does not fail", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Told, alone)].Text = "Scheduled" }},
		{name: "it has come back from no cycle", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Requeued, first)].What = timeline.Told }},
	})
}

// TestRoomOfLeftBehindNearMisses: room that is kept for a pod is taken so only if that pod was left behind, and has not come back since.
func TestRoomOfLeftBehindNearMisses(t *testing.T) {
	const left = "Pod default/m7"
	checkWhole(t, "room-of-pod-left-behind-is-taken", "nominated-room-is-kept", known.CycleCutShort, []nearMiss{
		{name: "it is in the queue", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Requeued, left)].Queue = model.QueueActive }},
		{name: "it was not put back", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Requeued, left)].What = timeline.Told }},
	})
}

// TestDeletedLateNearMisses: a pod that is gone holds room as it was deleted late only if the scheduler was told so in the cycle of
// its group, and put it on the node at the end of it.
func TestDeletedLateNearMisses(t *testing.T) {
	const pod = "Pod default/m"
	told := func(t *timeline.Trace) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Object == pod && e.Text == "deleted"
		})
	}
	misses := []nearMiss{
		{name: "told before the cycle", trace: func(t *timeline.Trace) { move(t, told(t), where(t, timeline.Popped, pod)) }},
		{name: "told after the cycle", trace: func(t *timeline.Trace) { move(t, told(t), where(t, timeline.Fits, pod)+1) }},
		{name: "another pod of its name is gone", trace: func(t *timeline.Trace) {
			p := t.Entries[told(t)].Was.(*v1.Pod).DeepCopy()
			p.UID = "another"
			t.Entries[told(t)].Was = p
		}},
		{name: "without a group", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, pod)].Group = "" }},
		{name: "it has failed since", trace: func(t *timeline.Trace) {
			i := where(t, timeline.Fits, pod)
			t.Entries = slices.Insert(t.Entries, i+1, timeline.Entry{What: timeline.Requeued, Object: pod, Is: t.Entries[i].Is})
			t.FlushedAt++
		}},
	}
	twice := nearMiss{name: "two pods of its name are so", trace: func(t *timeline.Trace) {
		t.Quiet.Pods = append(t.Quiet.Pods, t.Quiet.Pod("default/m"))
	}}
	inAPI := nearMiss{name: "it is in the API, and not on its way to a node", trace: func(t *timeline.Trace) {
		i := slices.IndexFunc(t.Quiet.Pods, func(p timeline.PodState) bool { return p.Name == "default/m" })
		t.Quiet.Pods[i].Exists, t.Quiet.Pods[i].Assumed = true, false
	}}
	checkWhole(t, "finding-late-deletion-holds-room", "cache-agrees", known.LateDeletion, append(misses[:len(misses):len(misses)], twice))
	checkWhole(t, "finding-late-deletion-holds-room", "one-queue", known.LateDeletion, append(misses[:len(misses):len(misses)], twice, inAPI))
	checkWhole(t, "late-deletion-holds-room-of-a-group", "no-wait-for-the-flush", known.LateDeletion, []nearMiss{
		{name: "no member goes to that node", trace: func(t *timeline.Trace) {
			for i := range t.Courses {
				for j, node := range t.Courses[i].PlacedTo {
					if node == "node-1" {
						t.Courses[i].PlacedTo[j] = "node-2"
					}
				}
			}
		}},
		{name: "another cycle", trace: func(t *timeline.Trace) {
			for i := range t.Courses {
				t.Courses[i].Entry++
			}
		}},
	})
	checkWhole(t, "late-deletion-keeps-its-partner-waiting", "no-wait-for-the-flush", known.LateDeletion, []nearMiss{
		{name: "its partner goes elsewhere", trace: func(t *timeline.Trace) {
			for i := t.FlushedAt; i < len(t.Entries); i++ {
				if e := &t.Entries[i]; e.What == timeline.Fits && e.Pod() == "default/m17" {
					e.Node = "node-1"
				}
			}
		}},
		{name: "it does not need its partner", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if g, ok := t.Entries[i].Is.(*schedulingv1beta1.PodGroup); ok {
					g = g.DeepCopy()
					g.Spec.SchedulingPolicy.Gang.MinCount, t.Entries[i].Is = 1, g
				}
			}
		}},
		{name: "its partner is not deleted", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Text == "deleted" && e.Pod() == "default/m17" {
					e.What = timeline.Told
				}
			}
		}},
	})
	ghost := func(t *timeline.Trace) *v1.Pod { // in its own copy
		i := where(t, timeline.Fits, "Pod default/m2")
		p := t.Entries[i].Is.(*v1.Pod).DeepCopy()
		t.Entries[i].Is = p
		return p
	}
	checkWhole(t, "a-pod-deleted-late-is-still-a-peer", "no-wait-for-the-flush", known.LateDeletion, []nearMiss{
		{name: "nobody wants to be near it", trace: func(t *timeline.Trace) { ghost(t).Labels = map[string]string{"app": "b"} }},
		{name: "it is of another namespace", trace: func(t *timeline.Trace) { ghost(t).Namespace = "other" }},
	})
	checkWhole(t, "late-deletion-after-a-failed-binding", "one-queue", known.LateDeletion, []nearMiss{
		{name: "the binding before has not failed", trace: func(t *timeline.Trace) {
			t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.Call == timeline.Bind })].UID = "another"
		}},
		{name: "its own binding has failed as well", trace: func(t *timeline.Trace) {
			i := where(t, timeline.Requeued, pod)
			t.Entries = slices.Insert(t.Entries, i+1, t.Entries[i])
			t.FlushedAt++
		}},
	})
	checkWhole(t, "finding-late-deletion-holds-room", "no-wait-for-the-flush", known.LateDeletion, append(misses, nearMiss{
		name: "on another node", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, pod)].Node = "node-2" }}))
}

// TestOutlivedNearMisses: a nomination outlives its pod only if that was nominated, placed in the cycle of its group, gone and
// created again by the time that this is taken back.
func TestOutlivedNearMisses(t *testing.T) {
	const pod, group = "Pod default/m1", "PodGroup default/g"
	last := func(t *timeline.Trace, is func(e timeline.Entry) bool) int {
		for i := len(t.Entries) - 1; i >= 0; i-- {
			if is(t.Entries[i]) {
				return i
			}
		}
		panic("no such entry")
	}
	deleted := func(e timeline.Entry) bool {
		return e.What == timeline.Handled && e.Object == pod && e.Text == "deleted"
	}
	again := func(e timeline.Entry) bool { return e.What == timeline.Stored && e.Object == pod && e.Text == "added" }
	tried := func(t *timeline.Trace) int { // in that cycle
		at := last(t, deleted)
		i := at - 1
		for t.Entries[i].What != timeline.Popped || t.Entries[i].Object != pod {
			i--
		}
		return i
	}
	over := func(t *timeline.Trace) int {
		i := last(t, deleted)
		for t.Entries[i].What != timeline.Decided || t.Entries[i].Object != group {
			i++
		}
		return i
	}
	checkWhole(t, "finding-recreated-member-keeps-nomination", "no-ghost-nominations", known.NominationOutlives, []nearMiss{
		{name: "it was not nominated", trace: func(t *timeline.Trace) {
			e := &t.Entries[tried(t)]
			p := e.Is.(*v1.Pod).DeepCopy()
			p.Status.NominatedNodeName = ""
			e.Is = p
		}},
		{name: "it was tried alone", trace: func(t *timeline.Trace) { t.Entries[tried(t)].Group = "" }},
		{name: "it was not placed", trace: func(t *timeline.Trace) {
			for i := tried(t); i < over(t); i++ {
				if e := &t.Entries[i]; e.What == timeline.Tried && e.Object == pod {
					e.Node = ""
				}
			}
		}},
		{name: "it is deleted after that is taken back", trace: func(t *timeline.Trace) { move(t, last(t, deleted), over(t)+1) }},
		{name: "it was deleted before the cycle", trace: func(t *timeline.Trace) { move(t, last(t, deleted), tried(t)) }},
		{name: "it is created again after that", trace: func(t *timeline.Trace) { move(t, last(t, again), over(t)+1) }},
		{name: "nominated to another node", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				for j := range t.Quiet.Pods[i].NominatedTo {
					t.Quiet.Pods[i].NominatedTo[j] = "node-2"
				}
			}
		}},
		{name: "another scheduler has taken over", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, over(t)+1, timeline.Entry{What: timeline.TakenOver})
			t.FlushedAt++
		}},
	})
}

// TestRestForEverNearMisses: that there is no end to it for pods that do not fit is known only if others of their group do each time.
func TestRestForEverNearMisses(t *testing.T) {
	each := func(what timeline.What, change func(e *timeline.Entry)) func(*timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if t.Entries[i].What == what {
					change(&t.Entries[i])
				}
			}
		}
	}
	checkWhole(t, "failed-members-take-turns", "gets-through", known.MemberAtOnce, []nearMiss{
		{name: "they were not rejected", trace: each(timeline.Unfit, func(e *timeline.Entry) { e.What = timeline.Told })},
		{name: "no binding fails", trace: each(timeline.Told, func(e *timeline.Entry) { e.Text = "" })},
		{name: "the rejected one is of another group", trace: each(timeline.Unfit, func(e *timeline.Entry) { e.Group = "podgroup/default/h" })},
	})
}

// TestReplacedMemberNearMisses: what is broken to a group is known from a pod that was replaced in one update only if that is of the
// group, and the scheduler that is alive was told so.
func TestReplacedMemberNearMisses(t *testing.T) {
	checkWhole(t, "recreated-member-counts-twice", "group-is-tried-complete", known.RecreatedAsUpdate, []nearMiss{
		{name: "in two updates", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				t.Entries[i].Replaced = false
			}
		}},
		{name: "a pod of another group", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if t.Entries[i].Replaced {
					t.Entries[i].Object, t.Entries[i].Is, t.Entries[i].Was = "Pod default/other", nil, nil
				}
			}
		}},
	})
}

// TestLateTogetherNearMisses: that a group preempts nobody is known from late deletions only if the pod in the way is one of those of a
// group that goes whole, and what else came in the cycle is right.
func TestLateTogetherNearMisses(t *testing.T) {
	checkWhole(t, "late-deletions-are-one-unit", "group-goes-as-told", known.LateDeletion, []nearMiss{
		{name: "the one in the way is not deleted", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Text == "deleted" && e.Pod() == "default/m16" {
					e.What = timeline.Told
				}
			}
		}},
		{name: "a member is said to fit where there is no room", trace: func(t *timeline.Trace) {
			for i := range t.Courses {
				if first := t.Courses[i].First; len(first) > 0 && first[0].Pod == "default/m18" {
					first[0].Node, first[0].Filters = "node-3", nil
				}
			}
		}},
		{name: "the group lets its pods go", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if g, ok := t.Entries[i].Is.(*schedulingv1beta1.PodGroup); ok && g.Name == "g2" {
					g = g.DeepCopy()
					g.Spec.DisruptionMode, t.Entries[i].Is = nil, g
				}
			}
		}},
	})
}

// TestLateStandsForGroupNearMisses: that a pod preempts the rest of a group for a late deletion is known only if that pod is of the
// group, the group goes whole, and the other victims are right.
func TestLateStandsForGroupNearMisses(t *testing.T) {
	deleted := func(t *timeline.Trace) *timeline.Entry {
		return &t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Text == "deleted" && e.Pod() == "default/m2"
		})]
	}
	checkWhole(t, "late-deletion-stands-for-its-group", "preempts-as-allowed", known.LateDeletion, []nearMiss{
		{name: "it is not deleted late", trace: func(t *timeline.Trace) { deleted(t).What = timeline.Told }},
		{name: "the group lets its pods go", timeline: func(tl *timeline.Timeline) {
			for _, o := range tl.Cluster.Extra {
				if g, ok := o.(*schedulingv1beta1.PodGroup); ok {
					g.Spec.DisruptionMode = nil
				}
			}
		}, trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Decided, "Pod default/p")].Victims = []string{"default/m1", "default/v"}
		}},
		{name: "it spares the other pod that is in the way", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Decided, "Pod default/p")].Victims = []string{"default/m1"}
		}},
	})
}

// TestGroupKeptByAffinityNearMisses: a group is kept out as the first of its kind is not noticed only if that is why a pod of it was
// rejected, and the last of the kind is gone since then.
func TestGroupKeptByAffinityNearMisses(t *testing.T) {
	checkWhole(t, "member-preempts-its-only-peer", "group-is-not-kept-out", known.FirstUnnoticed, []nearMiss{
		{name: "it was rejected for another reason", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Unfit, "Pod default/m")].Text = "0/2 nodes are available: 2 Insufficient cpu."
		}},
		{name: "its peer stays", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted" {
					e.What = timeline.Stored
				}
			}
		}},
	})
}

// TestHiddenPeerNearMisses: of two like it, the one that is left is not known only if its node lacks the label.
func TestHiddenPeerNearMisses(t *testing.T) {
	labelled := func(t *timeline.Trace) {
		for _, s := range t.Startups {
			for i, o := range s.Objects {
				if n, ok := o.(*v1.Node); ok && n.Name == "node-2-copy" {
					n = n.DeepCopy()
					n.Labels = map[string]string{v1.LabelHostname: n.Name}
					s.Objects[i] = n
				}
			}
		}
	}
	checkWhole(t, "last-peer-goes-and-another-is-not-known", "group-is-not-kept-out", known.FirstUnnoticed, []nearMiss{
		{name: "its node has the label", trace: labelled},
		{name: "the other one stays", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted" {
					e.What = timeline.Stored
				}
			}
		}},
	})
}

// TestPeerMetByGateNearMisses: a group is kept out as the gate met a pod like a pod of it only if that one waits for such pods, and was
// gated by a preemption that is over when the other came.
func TestPeerMetByGateNearMisses(t *testing.T) {
	// of changes what was seen of the scheduler being told of c, which is there at last.
	of := func(change func(e *timeline.Entry)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/c" {
					change(e)
				}
			}
		}
	}
	insert := func(e ...timeline.Entry) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, t.FlushedAt-1, e...)
			t.FlushedAt += len(e)
		}
	}
	checkWhole(t, "peer-met-by-gate", "group-is-not-kept-out", known.GateOutlives, []nearMiss{
		{name: "it was rejected for another reason", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Unfit, "Pod default/m")].Text = "0/2 nodes are available: 2 Insufficient cpu."
		}},
		{name: "the other pod is not like it", trace: wereOtherwise("c", func(p *v1.Pod) { p.Labels = nil })},
		{name: "the other pod is of another namespace", trace: wereOtherwise("c", func(p *v1.Pod) { p.Namespace = "other" })},
		{name: "the other pod is on no node", trace: wereOtherwise("c", func(p *v1.Pod) { p.Spec.NodeName = "" })},
		{name: "the other pod was there before", trace: of(func(e *timeline.Entry) { e.Was = e.Is })},
		{name: "it was not gated then", trace: of(func(e *timeline.Entry) {
			for i := range e.Left {
				e.Left[i].Gated = false
			}
		})},
		{name: "another pod was", trace: of(func(e *timeline.Entry) {
			for i := range e.Left {
				e.Left[i].Pod = "default/other"
			}
		})},
		{name: "its preemption goes on", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Ends, "PodGroup default/g")].What = timeline.Told }},
		{name: "it is tried again", trace: insert(timeline.Entry{What: timeline.Popped, Object: "Pod default/m", Group: "podgroup/default/g"})},
		{name: "another scheduler has taken over", trace: insert(timeline.Entry{What: timeline.TakenOver})},
	})
}

// TestMemberElsewhereNearMisses: room that was kept for a pod of a group is free unnoticed only if the pod was nominated there, and
// goes elsewhere.
func TestMemberElsewhereNearMisses(t *testing.T) {
	const member = "Pod default/m1"
	checkWhole(t, "nominated-member-goes-elsewhere", "no-wait-for-the-flush", known.KeptRoomFreed, []nearMiss{
		{name: "it was nominated elsewhere", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Unfit, member)].Node = "node-2" }},
		{name: "it stays where it is", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, member)].What = timeline.Told }},
		{name: "it goes there", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Fits, member)].Node = "node-1" }},
	})
}

// TestUnwrittenNominationNearMisses: room that was kept for a pod of a group is free unnoticed as its cycle leaves it what is written only if
// it was nominated there, and that was not written.
func TestUnwrittenNominationNearMisses(t *testing.T) {
	members := func(change func(e *timeline.Entry)) func(*timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Unfit && e.Group != "" {
					change(e)
				}
			}
		}
	}
	checkWhole(t, "unwritten-nomination-of-a-group-is-lost", "no-wait-for-the-flush", known.KeptRoomFreed, []nearMiss{
		{name: "they were nominated elsewhere", trace: members(func(e *timeline.Entry) {
			if e.Node != "" {
				e.Node = "node-9"
			}
		})},
		{name: "it was written", trace: members(func(e *timeline.Entry) {
			pod := e.Is.(*v1.Pod).DeepCopy()
			pod.Status.NominatedNodeName = "node-0"
			e.Is = pod
		})},
	})
}
