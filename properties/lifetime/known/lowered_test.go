package known_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestGroupLowers: a group that comes gives its pods another priority, which may be lower than their own.
func TestGroupLowers(t *testing.T) {
	group := func(change func(e *timeline.Entry, g *schedulingv1beta1.PodGroup)) func(*timeline.Trace) {
		return func(tr *timeline.Trace) {
			for i := range tr.Entries {
				if g, ok := tr.Entries[i].Is.(*schedulingv1beta1.PodGroup); ok {
					g = g.DeepCopy()
					tr.Entries[i].Is = g
					change(&tr.Entries[i], g)
				}
			}
		}
	}
	// before has an entry come right before the flush.
	before := func(e timeline.Entry) func(*timeline.Trace) {
		return func(tr *timeline.Trace) {
			tr.Entries = append(tr.Entries[:tr.FlushedAt:tr.FlushedAt], append([]timeline.Entry{e}, tr.Entries[tr.FlushedAt:]...)...)
			tr.FlushedAt++
		}
	}
	checkWhole(t, "group-of-lower-priority-comes-unnoticed", "no-wait-for-the-flush", known.ChanceUnnoticed, []nearMiss{
		{name: "it is another group", trace: group(func(_ *timeline.Entry, g *schedulingv1beta1.PodGroup) { g.Name = "other" })},
		{name: "it is in another namespace", trace: group(func(_ *timeline.Entry, g *schedulingv1beta1.PodGroup) { g.Namespace = "other" })},
		{name: "it is as important as the pod", trace: group(func(_ *timeline.Entry, g *schedulingv1beta1.PodGroup) { g.Spec.Priority = new(int32(3)) })},
		{name: "it is within another", trace: group(func(_ *timeline.Entry, g *schedulingv1beta1.PodGroup) {
			g.Spec.ParentCompositePodGroupName = new("root")
		})},
		{name: "it was there", trace: group(func(e *timeline.Entry, _ *schedulingv1beta1.PodGroup) { e.Text = "updated" })},
		{name: "the pod is tried since", trace: before(timeline.Entry{What: timeline.Popped, Object: "Pod default/p", Is: &v1.Pod{}})},
		{name: "another scheduler has taken over", trace: before(timeline.Entry{What: timeline.TakenOver})},
		{name: "the victim itself has the lower priority", trace: wereOtherwise("p", func(p *v1.Pod) { p.Spec.Priority = new(int32(4)) })},
	})
}
