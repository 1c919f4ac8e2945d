package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestCameBeforeCutShortNearMisses: a pod is tried though it is gone as it came in a cycle that was cut short only if it was not tried
// since, by the scheduler to which it came, and a pod without a group was put back after it came.
func TestCameBeforeCutShortNearMisses(t *testing.T) {
	const pod = "Pod default/m2"
	after := func(e timeline.Entry) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, where(t, timeline.Called, "Pod default/m1"), e)
			t.FlushedAt++
		}
	}
	checkWhole(t, "tried-though-gone-as-its-group-was-cut", "the-gone-are-not-tried", known.CycleCutShort, []nearMiss{
		{name: "tried since it came", trace: after(timeline.Entry{What: timeline.Popped, Object: pod})},
		{name: "nobody was put back", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Told, "Pod default/c")].Text = "Scheduled: it is bound"
		}},
		{name: "somebody was put back before it came", trace: func(t *timeline.Trace) {
			move(t, where(t, timeline.Told, "Pod default/c"), where(t, timeline.Handled, pod))
		}},
	})
}

// Only a member that had failed before the other pod was put back, and was told of after that, is queued twice.
func TestQueuedBesides(t *testing.T) {
	tl, trace := lived(t, "the-member-put-back-first-is-queued-twice")
	l := &known.Life{Timeline: tl, Trace: trace}
	second := 0
	for i, e := range l.Trace.Entries {
		if e.What == timeline.Popped && e.Object == "PodGroup default/g2" {
			second = i
			if where(&timeline.Trace{Entries: l.Trace.Entries[:i]}, timeline.Popped, e.Object) >= 0 {
				break
			}
		}
	}
	for member, twice := range map[string]bool{"default/m15": true, "default/m16": false, "default/m17": false, "default/m18": false} {
		require.Equal(t, twice, l.QueuedBesides(member, second), member)
	}
}

// TestTriedAgainMeanwhileNearMisses: a pod whose binding has failed, and that is in no queue when all is done about that, was put back
// if it was tried again before.
func TestTriedAgainMeanwhileNearMisses(t *testing.T) {
	checkWhole(t, "torn-group-and-a-pod-tried-again-meanwhile", "group-backs-off-after-errors", known.CycleCutShort, []nearMiss{
		{name: "not tried again", trace: func(t *timeline.Trace) {
			first := where(t, timeline.Popped, "Pod default/c")
			t.Entries = append(t.Entries[:first+1:first+1], slices.DeleteFunc(t.Entries[first+1:], func(e timeline.Entry) bool {
				return e.What == timeline.Popped && e.Object == "Pod default/c"
			})...)
			t.FlushedAt--
		}},
	})
}

// TestEndOfNominatedMetByGateNearMisses: the gate meets that a nominated pod is gone or nominated elsewhere, and not that another one is.
func TestEndOfNominatedMetByGateNearMisses(t *testing.T) {
	deleted := func(change func(e *timeline.Entry)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			change(&t.Entries[slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Object == "Pod default/w7" && e.Text == "deleted"
			})])
		}
	}
	checkWhole(t, "end-of-a-nominated-pod-met-by-gate", "event-makes-tryable", known.GateMeetsDeletion, []nearMiss{
		{name: "it was nominated nowhere", trace: deleted(func(e *timeline.Entry) {
			p := e.Was.(*v1.Pod).DeepCopy()
			p.Status.NominatedNodeName = ""
			e.Was = p
		})},
		{name: "told after the preemption", trace: func(t *timeline.Trace) {
			ended := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Ends && e.Object == "Pod default/p8" })
			move(t, slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
				return e.What == timeline.Handled && e.Object == "Pod default/w7" && e.Text == "deleted"
			}), ended+1)
		}},
	})
}
