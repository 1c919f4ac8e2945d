package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestGoneCountNearMisses: a group is tried with too few pods for those that are gone only if these were deleted while they waited for permission, and
// are as many as it lacks.
func TestGoneCountNearMisses(t *testing.T) {
	const name, m1, m2 = "finding-deleted-member-still-counts", "default/m1", "default/m2"
	both := func(what timeline.What, change func(e *timeline.Entry)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			ofPod(m1, what, change)(t)
			ofPod(m2, what, change)(t)
		}
	}
	atDeletion := func(e timeline.Entry) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			for _, pod := range []string{m1, m2} {
				at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
					return e.What == timeline.Handled && e.Pod() == pod && e.Text == "deleted"
				})
				e.Object = "Pod " + pod
				t.Entries = slices.Insert(t.Entries, at, e)
				t.FlushedAt++
			}
		}
	}
	checkWhole(t, name, "group-is-tried-complete", known.GoneCounts, []nearMiss{
		{name: "they were bound", trace: atDeletion(timeline.Entry{What: timeline.Called, Call: timeline.Bind})},
		{name: "they came back before", trace: atDeletion(timeline.Entry{What: timeline.Told, Text: "FailedScheduling: 0/1 nodes are available: 1 removed."})},
		{name: "their binding failed otherwise", trace: both(timeline.Told, func(e *timeline.Entry) { e.Text = "FailedScheduling: pod not found" })},
		{name: "they did not fail", trace: both(timeline.Told, func(e *timeline.Entry) { e.What = timeline.Stored })},
		{name: "they are of another group", trace: both(timeline.Fits, func(e *timeline.Entry) { e.Is = nil })},
		{name: "they did not fit", trace: both(timeline.Fits, func(e *timeline.Entry) { e.What = timeline.Unfit })},
		{name: "another scheduler has taken over", trace: func(t *timeline.Trace) {
			at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Created && e.Pod() == "default/m3" })
			t.Entries = slices.Insert(t.Entries, at, timeline.Entry{What: timeline.TakenOver})
			t.FlushedAt++
		}},
		{name: "the group needs more", trace: func(t *timeline.Trace) {
			more := func(o *runtime.Object) {
				if g, is := (*o).(*schedulingv1beta1.PodGroup); is {
					g = g.DeepCopy()
					g.Spec.SchedulingPolicy.Gang.MinCount = 4
					*o = g
				}
			}
			for i := range t.Startups[0].Objects {
				more(&t.Startups[0].Objects[i])
			}
			for i := range t.Entries {
				more(&t.Entries[i].Is)
			}
		}},
	})
}

// TestGoneAreBoundNearMisses: a pod is to be bound without its group for those that are gone only if these were deleted while they waited for
// permission, were not back when its cycle began, and are as many as the group lacks.
func TestGoneAreBoundNearMisses(t *testing.T) {
	const m1, m2 = "default/m1", "default/m2"
	beforeCycle := func(e timeline.Entry, pods ...string) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			for _, pod := range pods {
				at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Popped && e.Pod() == "default/m3" }) - 1
				e.Object = "Pod " + pod
				t.Entries = slices.Insert(t.Entries, at, e)
				t.FlushedAt++
			}
		}
	}
	back := timeline.Entry{What: timeline.Told, Text: "FailedScheduling: 0/1 nodes are available: 1 removed."}
	needs := func(n int32) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			more := func(o *runtime.Object) {
				if g, is := (*o).(*schedulingv1beta1.PodGroup); is {
					g = g.DeepCopy()
					g.Spec.SchedulingPolicy.Gang.MinCount = n
					*o = g
				}
			}
			for i := range t.Startups[0].Objects {
				more(&t.Startups[0].Objects[i])
			}
			for i := range t.Entries {
				more(&t.Entries[i].Is)
			}
		}
	}
	const name, property = "gone-pods-on-their-way-let-another-go", "group-is-bound-together"
	checkWhole(t, name, property, known.GoneCounts, []nearMiss{
		{name: "they were back", trace: beforeCycle(back, m1, m2)},
		{name: "they were bound", trace: beforeCycle(timeline.Entry{What: timeline.Called, Call: timeline.Bind}, m1, m2)},
		{name: "they had their permission", trace: func(t *timeline.Trace) {
			for _, pod := range []string{m1, m2} {
				ofPod(pod, timeline.Told, func(e *timeline.Entry) { e.Text = "FailedScheduling: pod not found" })(t)
			}
		}},
		{name: "another scheduler has taken over", trace: beforeCycle(timeline.Entry{What: timeline.TakenOver}, m1)},
		{name: "they are of another group", trace: func(t *timeline.Trace) {
			for _, pod := range []string{m1, m2} {
				ofPod(pod, timeline.Fits, func(e *timeline.Entry) { e.Is = nil })(t)
			}
		}},
		{name: "the group needs four", trace: needs(4)},
		{name: "the group needs three, and one was back", trace: func(t *timeline.Trace) { needs(3)(t); beforeCycle(back, m1)(t) }},
	})
	three := findWhole(t, name, property, nearMiss{trace: needs(3)})
	require.Contains(t, three[len(three)-1].Known, known.GoneCounts) // that of m3: the first cycle has too few, too
	checkWholeAs(t, name, property, known.GoneCounts, nearMiss{trace: beforeCycle(back, m1)})
}
