package known_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
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

// TestGoneLeftBehindNearMisses: a pod that is gone is in a queue as its group's cycle was cut short only if it was left to wait for the end of that
// cycle, and its group was put back after a later one.
func TestGoneLeftBehindNearMisses(t *testing.T) {
	const m1, m2, group = "Pod default/m1", "Pod default/m2", "PodGroup default/g"
	last := func(t *timeline.Trace, what timeline.What, object string) int {
		for i := t.FlushedAt - 1; i >= 0; i-- {
			if e := &t.Entries[i]; e.What == what && e.Object == object {
				return i
			}
		}
		return -1
	}
	checkWhole(t, "gone-pod-left-behind-moves-with-its-group", "one-queue", known.CycleCutShort, []nearMiss{
		{name: "it did not wait", trace: func(t *timeline.Trace) { t.Entries[last(t, timeline.Requeued, m1)].Queue = model.QueueBackoff }},
		{name: "it is there", trace: func(t *timeline.Trace) {
			for i := range t.Quiet.Pods {
				p := &t.Quiet.Pods[i]
				p.Exists = p.Exists || p.Name == "default/m1"
				p.Queues = append(p.Queues, p.Queues...) // in two at once
			}
		}},
		{name: "tried since", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, last(t, timeline.Popped, m2), timeline.Entry{What: timeline.Popped, Object: m1, Group: "podgroup/default/g"})
			t.FlushedAt++
		}},
		{name: "its group is not tried again", trace: func(t *timeline.Trace) { t.Entries[last(t, timeline.Popped, group)].Object = "PodGroup default/h" }},
		{name: "its group is not put back", trace: func(t *timeline.Trace) {
			t.Entries = slices.Delete(t.Entries, last(t, timeline.Requeued, m2), last(t, timeline.Requeued, m2)+1)
			t.FlushedAt--
		}},
		{name: "nobody was put back alone", trace: func(t *timeline.Trace) {
			t.Entries[where(t, timeline.Told, "Pod default/c")].Text = "Scheduled: it is bound"
		}},
	})
}

// TestTriedAgainMeanwhileNearMisses: a pod whose binding has failed, and that is in no queue when all is done about that, was put back
// if it was tried again before.
func TestTriedAgainMeanwhileNearMisses(t *testing.T) {
	again := func(t *timeline.Trace) *timeline.Entry {
		first := where(t, timeline.Popped, "Pod default/c")
		return &t.Entries[first+1+where(&timeline.Trace{Entries: t.Entries[first+1:]}, timeline.Popped, "Pod default/c")]
	}
	checkWhole(t, "torn-group-and-a-pod-tried-again-meanwhile", "group-backs-off-after-errors", known.CycleCutShort, []nearMiss{
		{name: "one of its name was tried", trace: func(t *timeline.Trace) {
			p := again(t).Is.(*v1.Pod).DeepCopy()
			p.UID = "another"
			again(t).Is = p
		}},
		{name: "not tried again", trace: func(t *timeline.Trace) {
			first := where(t, timeline.Popped, "Pod default/c")
			t.Entries = append(t.Entries[:first+1:first+1], slices.DeleteFunc(t.Entries[first+1:], func(e timeline.Entry) bool {
				return e.What == timeline.Popped && e.Object == "Pod default/c"
			})...)
			t.FlushedAt--
		}},
	})
}

// TestEndOfNominatedMetByGateNearMisses: the gate meets that a nominated pod of at least its priority is gone or nominated elsewhere, and not
// that another one is.
func TestEndOfNominatedMetByGateNearMisses(t *testing.T) {
	const gone = "Pod default/w7"
	preemption := func(t *timeline.Trace) *timeline.Preemption { return t.LastPreemption("default/p8", t.FlushedAt) }
	deleted := func(t *timeline.Trace) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Object == gone && e.Text == "deleted"
		})
	}
	was := func(change func(p *v1.Pod)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			e := &t.Entries[deleted(t)]
			p := e.Was.(*v1.Pod).DeepCopy()
			change(p)
			e.Was = p
		}
	}
	// renominated has another update, by which the pod is nominated to a node, come as the deletion came, which comes after the preemption.
	renominated := func(node string, ready func(p *v1.Pod)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			at := deleted(t)
			update := t.Entries[at]
			before, after := update.Was.(*v1.Pod).DeepCopy(), update.Was.(*v1.Pod).DeepCopy()
			after.Status.NominatedNodeName = node
			ready(before)
			update.Was, update.Is, update.Text, update.Left = before, after, "updated", nil
			t.Entries = slices.Insert(t.Entries, at, update)
			t.FlushedAt++
			move(t, at+1, preemption(t).Ended+1)
		}
	}
	checkWhole(t, "end-of-a-nominated-pod-met-by-gate", "event-makes-tryable", known.GateMeetsDeletion, []nearMiss{
		{name: "it was nominated nowhere", trace: was(func(p *v1.Pod) { p.Status.NominatedNodeName = "" })},
		{name: "of lower priority", trace: was(func(p *v1.Pod) { p.Spec.Priority = new(int32(0)) })},
		{name: "nominated to where it was", trace: renominated("node-0", func(*v1.Pod) {})},
		{name: "nominated elsewhere, and of lower priority", trace: renominated("node-1", func(p *v1.Pod) { p.Spec.Priority = new(int32(0)) })},
		{name: "nominated elsewhere, and found to fit", trace: func(t *timeline.Trace) {
			renominated("node-1", func(*v1.Pod) {})(t)
			t.Entries = slices.Insert(t.Entries, where(t, timeline.Begins, "Pod default/p8"), timeline.Entry{What: timeline.Fits, Object: gone})
			t.FlushedAt++
		}},
		{name: "told after the preemption", trace: func(t *timeline.Trace) { move(t, deleted(t), preemption(t).Ended+1) }},
	})
	lower := was(func(p *v1.Pod) { p.Spec.Priority = new(int32(0)) })
	for _, change := range []func(t *timeline.Trace){
		renominated("node-1", func(*v1.Pod) {}),
		func(t *timeline.Trace) { lower(t); t.Entries[deleted(t)].Listed = true },
		func(t *timeline.Trace) { lower(t); move(t, deleted(t), preemption(t).Decided+1) }, // in its cycle
	} {
		checkWholeAs(t, "end-of-a-nominated-pod-met-by-gate", "event-makes-tryable", known.GateMeetsDeletion, nearMiss{trace: change})
	}
}
