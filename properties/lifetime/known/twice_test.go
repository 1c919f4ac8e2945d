package known_test

import (
	"slices"
	"testing"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// ofPod changes all entries of one kind about a pod.
func ofPod(pod string, what timeline.What, change func(e *timeline.Entry)) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Entries {
			if e := &t.Entries[i]; e.What == what && e.Pod() == pod {
				change(e)
			}
		}
	}
}

// beforeRest puts an entry before all is at rest.
func beforeRest(e timeline.Entry) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		t.Entries = slices.Insert(t.Entries, t.FlushedAt-1, e)
		t.FlushedAt++
	}
}

// TestQueuedTwiceNearMisses: a pod is in its group twice only if it was changed between the failure of its binding and the end of that.
func TestQueuedTwiceNearMisses(t *testing.T) {
	const m7 = "default/m7"
	checkWhole(t, "member-is-twice-in-its-group", "one-queue", known.MemberTwice, []nearMiss{
		{name: "it is not changed", trace: ofPod(m7, timeline.Handled, func(e *timeline.Entry) { e.Text = "" })},
		{name: "its binding does not fail", trace: ofPod(m7, timeline.Called, func(e *timeline.Entry) { e.Error = "" })},
		{name: "its attempt does not end", trace: ofPod(m7, timeline.Told, func(e *timeline.Entry) { e.What = timeline.Stored })},
		{name: "it did not fit", trace: ofPod(m7, timeline.Fits, func(e *timeline.Entry) { e.What = timeline.Unfit })},
		{name: "it is changed when it has come back", trace: func(t *timeline.Trace) {
			move(t, slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Pod() == m7 && e.Text == "updated"
			}), t.FlushedAt-2)
		}},
		{name: "it is in two queues", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				if p := &t.Quiet.Pods[i]; p.Name == m7 {
					p.Queues = []model.Queue{model.QueueActive, model.QueueBackoff}
				}
			}
		}},
		{name: "it was tried by itself", trace: ofPod(m7, timeline.Fits, func(e *timeline.Entry) { e.Group = "" })},
		{name: "its group is tried again", trace: beforeRest(timeline.Entry{What: timeline.Popped, Object: "Pod " + m7, Group: "podgroup/default/g2"})},
		{name: "it is deleted", trace: beforeRest(timeline.Entry{What: timeline.Handled, Object: "Pod " + m7, Text: "deleted"})},
		{name: "another scheduler has taken over", trace: beforeRest(timeline.Entry{What: timeline.TakenOver})},
	})
}

// TestTerminatingTwiceNearMisses: a change before its binding fails counts only if the pod is forgotten, as it was told to end before that.
func TestTerminatingTwiceNearMisses(t *testing.T) {
	const m1 = "default/m1"
	// change is where the scheduler is told of a change of m1, the first of which is that it terminates.
	change := func(t *timeline.Trace, which int) *timeline.Entry {
		for i := range t.Entries {
			if e := &t.Entries[i]; e.What == timeline.Handled && e.Pod() == m1 && e.Text != "added" {
				if which == 0 {
					return e
				}
				which--
			}
		}
		return nil
	}
	checkWhole(t, "terminating-member-is-queued-twice", "one-queue", known.MemberTwice, []nearMiss{
		{name: "it does not terminate", trace: func(t *timeline.Trace) { change(t, 0).Text, change(t, 1).Text = "updated", "updated" }},
		{name: "it is not changed after that", trace: func(t *timeline.Trace) { change(t, 1).What = timeline.Stored }},
		{name: "its binding does not fail", trace: ofPod(m1, timeline.Called, func(e *timeline.Entry) { e.Error = "" })},
		{name: "it is not bound at all", trace: ofPod(m1, timeline.Called, func(e *timeline.Entry) { e.What = timeline.Stored })},
		{name: "its attempt does not end", trace: ofPod(m1, timeline.Told, func(e *timeline.Entry) { e.What = timeline.Stored })},
	})
}

// TestOutlivesItselfNearMisses: a pod that is gone is in the queue, or is tried, only if it was in its group twice as it was deleted.
func TestOutlivesItselfNearMisses(t *testing.T) {
	const m1 = "default/m1"
	unchanged := func(t *timeline.Trace) {
		ofPod(m1, timeline.Handled, func(e *timeline.Entry) {
			if e.Text != "deleted" {
				e.Text = "added"
			}
		})(t)
	}
	checkWhole(t, "member-stays-queued-when-gone", "one-queue", known.MemberTwice, []nearMiss{
		{name: "it is not changed", trace: unchanged},
		{name: "it is not told that it is deleted", trace: ofPod(m1, timeline.Handled, func(e *timeline.Entry) {
			if e.Text == "deleted" {
				e.What = timeline.Stored
			}
		})},
		{name: "it was tried since", trace: beforeRest(timeline.Entry{What: timeline.Popped, Object: "Pod " + m1, Group: "podgroup/default/g"})},
		{name: "another scheduler has taken over", trace: beforeRest(timeline.Entry{What: timeline.TakenOver})},
	})
	checkWhole(t, "finding-member-queued-twice", "the-gone-are-not-tried", known.MemberTwice, []nearMiss{
		{name: "it is not changed", trace: unchanged},
		{name: "its binding does not fail", trace: ofPod(m1, timeline.Called, func(e *timeline.Entry) { e.Error = "" })},
		{name: "it comes back before it is changed", trace: func(t *timeline.Trace) {
			told := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Told && e.Pod() == m1 })
			move(t, told, slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Pod() == m1 && e.Text == "updated"
			}))
		}},
	})
}
