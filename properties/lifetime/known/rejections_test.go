package known_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestRejectionsForgottenNearMisses: a group waits as rejections were forgotten only if it is a composite one that has
// preempted, its nodes have rejected a pod, and nothing of that was recorded, in its last cycle.
func TestRejectionsForgottenNearMisses(t *testing.T) {
	const root = "CompositePodGroup default/root"
	first := func(t *timeline.Trace, what timeline.What) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == what && (e.Object == root || e.Object == "Pod default/g2")
		})
	}
	checkWhole(t, "finding-composite-group-forgets-rejections", "no-wait-for-the-flush", known.RejectionsForgotten, []nearMiss{
		{name: "the nodes have not rejected it", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Tried)].Text = "" }},
		{name: "it was placed", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Tried)].Node = "node-1" }},
		{name: "it is recorded", trace: func(t *timeline.Trace) {
			t.Entries[first(t, timeline.Unfit)].Text = "0/1 nodes are available: 1 Insufficient cpu."
		}},
		{name: "nobody is preempted", trace: func(t *timeline.Trace) { t.Entries[first(t, timeline.Decided)].Victims = nil }},
		{name: "the group is tried since", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, first(t, timeline.Unfit)+1, timeline.Entry{What: timeline.Popped, Object: root})
			t.FlushedAt++
		}},
	})
}

// TestFirstRejectionStandsNearMisses: a group waits as its first rejection stands only if its last preemption has ended well, the end of no victim
// is what any of the rejected pods waits for, and not all pods of it were rejected.
func TestFirstRejectionStandsNearMisses(t *testing.T) {
	const group, m2 = "PodGroup default/g", "Pod default/m2"
	rejectedFor := func(reason string) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Tried, m2)].Text = "0/2 nodes are available: " + reason + "."
		}
	}
	const timelineName, property = "finding-first-rejection-stands-for-group", "no-wait-for-the-flush"
	checkWhole(t, timelineName, property, known.FirstRejection, []nearMiss{
		{name: "its goroutine fails", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Ends, group)].Text = "error" }},
		{name: "its goroutine goes on", trace: func(t *timeline.Trace) {
			at := where(t, timeline.Ends, group)
			t.Entries = slices.Delete(t.Entries, at, at+1)
			t.FlushedAt--
		}},
		{name: "the victim's room was needed", trace: rejectedFor("1 node(s) didn't match Pod's node affinity/selector, 1 Insufficient cpu")},
		{name: "the victim's room was all that was needed", trace: rejectedFor("2 Too many pods")},
		{name: "by a plugin that is not known", trace: rejectedFor("2 node(s) are too far away")},
		{name: "before any plugin", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Tried, m2)].Text = "the pod is not wanted" }},
		{name: "the victim's port was in the way, too", trace: func(t *timeline.Trace) {
			for i, o := range t.Startups[0].Objects {
				if p, ok := o.(*v1.Pod); ok {
					p = p.DeepCopy()
					p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
					t.Startups[0].Objects[i] = p
				}
			}
		}},
		{name: "no pod was in the way", trace: rejectedFor("1 node(s) had untolerated taint(s), 1 node(s) didn't match Pod's node affinity/selector")},
		{name: "it had no goroutine", trace: func(t *timeline.Trace) { t.Entries[where(t, timeline.Begins, group)].Cycle = 9 }},
		{name: "the group is tried since", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, where(t, timeline.Ends, group)+1, timeline.Entry{What: timeline.Popped, Object: group})
			t.FlushedAt++
		}},
		{name: "the victim is not gone", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted" {
					e.Text = "updated"
				}
			}
		}},
		{name: "all are rejected", trace: func(t *timeline.Trace) {
			first := &t.Entries[where(t, timeline.Tried, "Pod default/m1")]
			first.Node, first.Text = "", t.Entries[where(t, timeline.Tried, m2)].Text
		}},
		{name: "none is rejected", trace: func(t *timeline.Trace) {
			e := &t.Entries[where(t, timeline.Tried, m2)]
			e.Node, e.Text = "node-1", ""
		}},
		{name: "it is not gated", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				t.Quiet.Pods[i].Gated = false
			}
		}},
	})
	checkWholeAs(t, timelineName, property, known.FirstRejection, nearMiss{trace: rejectedFor("2 node(s) didn't satisfy existing pods anti-affinity rules")})
}

// TestRejectedLeftBehindNearMisses: a group does not wait for its victims as the pod that was rejected was left behind only if it was, and no other
// rejected pod waits for them.
func TestRejectedLeftBehindNearMisses(t *testing.T) {
	const m1, m2 = "Pod default/m1", "Pod default/m2"
	checkWhole(t, "rejected-pod-is-left-behind-at-its-victims", "no-wait-for-the-flush", known.CycleCutShort, []nearMiss{
		{name: "another rejected pod came back", trace: func(t *timeline.Trace) {
			e := t.Entries[where(t, timeline.Tried, m1)]
			e.Object = m2
			t.Entries = slices.Insert(t.Entries, where(t, timeline.Tried, m1)+1, e)
			t.FlushedAt++
		}},
		{name: "it came back", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				if p := &t.Quiet.Pods[i]; p.Name == "default/m1" {
					p.Queues = []model.Queue{model.QueueUnschedulable}
				}
			}
		}},
		{name: "it waited for something else", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Tried, m1)].Text = "0/2 nodes are available: 2 node(s) were unschedulable."
		}},
		{name: "nobody was put back alone", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Told, "Pod default/c")].Text = "Scheduled: it is bound"
		}},
	})
}
