package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

const groupComes = "group-of-lower-priority-comes-unnoticed"

// handledGroup is where the scheduler is told of the group.
func handledGroup(t *timeline.Trace) int { return where(t, timeline.Handled, "PodGroup default/g") }

// TestUnitsChangedNearMisses: a pod waits for the flush as groups came and went only if it can preempt by that, and by nothing else
// that has happened since it was tried.
func TestUnitsChangedNearMisses(t *testing.T) {
	otherwise := func(change func(g *schedulingv1beta1.PodGroup)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			e := &t.Entries[handledGroup(t)]
			g := e.Is.(*schedulingv1beta1.PodGroup).DeepCopy()
			change(g)
			e.Is = g
		}
	}
	checkWhole(t, groupComes, "no-wait-for-the-flush", known.ChanceUnnoticed, []nearMiss{
		{name: "it came before the pod was tried", trace: func(t *timeline.Trace) { move(t, handledGroup(t), where(t, timeline.Popped, "Pod default/p")) }},
		{name: "it is of another name", trace: otherwise(func(g *schedulingv1beta1.PodGroup) { g.Name = "h" })},
		{name: "it is as important as the pod", trace: otherwise(func(g *schedulingv1beta1.PodGroup) { g.Spec.Priority = new(int32(3)) })},
		{name: "it is in another namespace", trace: otherwise(func(g *schedulingv1beta1.PodGroup) { g.Namespace = "other" })},
		{name: "the pod is more important than its victim itself", trace: wereOtherwise("p", func(p *v1.Pod) { p.Spec.Priority = new(int32(4)) })},
		{name: "another scheduler has taken over", trace: func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, handledGroup(t)+1, timeline.Entry{What: timeline.TakenOver})
			t.FlushedAt++
		}},
		{name: "it was only updated", trace: func(t *timeline.Trace) {
			e := &t.Entries[handledGroup(t)]
			e.Was, e.Text = e.Is, "updated"
		}},
		{name: "the pod is tried since", trace: func(t *timeline.Trace) {
			tried := t.Entries[where(t, timeline.Popped, "Pod default/p")]
			t.Entries = slices.Insert(t.Entries, handledGroup(t)+1, tried)
			t.FlushedAt++
		}},
	})
}

// TestUnitsChanged: the same comes about as a group goes, as what it is part of comes, and where there are other pods to preempt.
func TestUnitsChanged(t *testing.T) {
	group := func(tl *timeline.Timeline) *schedulingv1beta1.PodGroup {
		return tl.Steps[1].Create.(*schedulingv1beta1.PodGroup)
	}
	for name, change := range map[string]func(tl *timeline.Timeline){
		"a group goes that is more important than its pod": func(tl *timeline.Timeline) {
			g := group(tl)
			g.Spec.Priority, podOf(tl, "v").Spec.Priority = new(int32(5)), new(int32(1))
			tl.Cluster.Extra = append(tl.Cluster.Extra, g)
			tl.Steps[1] = timeline.Step{Delete: "PodGroup default/g"}
		},
		"a composite group comes that is less important": func(tl *timeline.Timeline) {
			tl.Cluster.Settings.FeatureGates[unit.GateComposite] = true
			tl.Cluster.Settings.FeatureGates["TopologyAwareWorkloadScheduling"] = true
			g := group(tl)
			g.Spec.Priority, g.Spec.ParentCompositePodGroupName = new(int32(5)), new("root")
			tl.Cluster.Extra = append(tl.Cluster.Extra, g)
			tl.Steps[1] = timeline.Step{Create: &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: "root"},
				Spec: schedulingv1alpha3.CompositePodGroupSpec{Priority: new(int32(1)), SchedulingPolicy: schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Basic: &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}}}}}
		},
		"another pod is too small to be enough": func(tl *timeline.Timeline) {
			small := podOf(tl, "v").DeepCopy()
			small.Name, small.Spec.SchedulingGroup, small.Spec.Priority = "u", nil, new(int32)
			tl.Cluster.Pods = append(tl.Cluster.Pods, small)
			nodeOf(tl, "node-1").Status.Allocatable[v1.ResourceCPU] = resource.MustParse("2")
			podOf(tl, "p").Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := corpus.Load("../../../corpus/timelines/" + groupComes + ".yaml")
			require.NoError(t, err)
			tl := s.Cases[0].Timeline
			change(tl)
			trace, err := life.Run(t.Context(), tl)
			require.NoError(t, err)
			findings := lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace})
			require.Len(t, findings, 1)
			require.Equal(t, "no-wait-for-the-flush", findings[0].Property)
			require.Equal(t, []string{known.ChanceUnnoticed}, findings[0].Known)
		})
	}
}
