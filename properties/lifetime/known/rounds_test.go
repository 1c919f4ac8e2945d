package known_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestSpreadIgnoredNearMisses: that pods are preempted for ever is known from spread constraints only if each of them was placed beside
// the pod that evicts it, which was nominated there then, and which nothing but its spread constraints keeps from there beside it.
func TestSpreadIgnoredNearMisses(t *testing.T) {
	const w = "default/w"
	asSeen := func(change func(p *v1.Pod)) func(t *timeline.Trace) { // of the pod that preempts
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				e := &t.Entries[i]
				if is, ok := e.Is.(*v1.Pod); ok && e.Pod() == w {
					is = is.DeepCopy()
					change(is)
					e.Is = is
				}
			}
		}
	}
	placed := func(e *timeline.Entry) bool { return e.What == timeline.Fits && e.Pod() != w }
	checkWhole(t, "finding-nominated-spread-ignored", "preemption-leads-somewhere", known.SpreadIgnored, []nearMiss{
		{name: "it has no constraint", trace: asSeen(func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = nil })},
		{name: "its constraint is a preference", trace: asSeen(func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = v1.ScheduleAnyway
		})},
		{name: "its constraint counts others", trace: asSeen(func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels = map[string]string{"app": "b"}
		})},
		{name: "there is no room for both either", trace: asSeen(func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("3")
		})},
		{name: "it shuns them, too", trace: asSeen(func(p *v1.Pod) {
			term := v1.PodAffinityTerm{LabelSelector: p.Spec.TopologySpreadConstraints[0].LabelSelector, TopologyKey: v1.LabelHostname}
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
		})},
		{name: "it does not fit there anyway", trace: asSeen(func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "fast"} })},
		{name: "it is not nominated", trace: func(t *timeline.Trace) {
			asSeen(func(p *v1.Pod) { p.Status.NominatedNodeName = "" })(t)
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Decided && e.Pod() == w {
					e.Node = ""
				}
			}
		}},
		{name: "another pod evicts them", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.By == w {
					e.By = "default/x"
				}
			}
		}},
		{name: "they are placed elsewhere", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; placed(e) {
					e.Node = "node-2"
				}
			}
		}},
		{name: "one of them is placed elsewhere", trace: func(t *timeline.Trace) {
			at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return placed(&e) && e.Pod() == "default/v-2" })
			t.Entries[at].Node = "node-2"
		}},
	})
}

// TestGroupSpreadIgnoredNearMisses: the same of a group, one of whose pods was nominated there.
func TestGroupSpreadIgnoredNearMisses(t *testing.T) {
	checkWhole(t, "group-preempts-what-replaces-its-victim", "preemption-leads-somewhere", known.SpreadIgnored, []nearMiss{
		{name: "the pod is of no group", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				e := &t.Entries[i]
				if is, ok := e.Is.(*v1.Pod); ok && e.Pod() == "default/w" {
					is = is.DeepCopy()
					is.Spec.SchedulingGroup, e.Is = nil, is
				}
			}
		}},
		{name: "another group evicts them", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.By == "podgroup/default/g" {
					e.By = "podgroup/default/other"
				}
			}
		}},
	})
}

// TestRefusedNearMisses: the same of a pod that shuns what replaces the victims, where the cycle of their group passed over that.
func TestRefusedNearMisses(t *testing.T) {
	asSeen := func(change func(p *v1.Pod)) func(t *timeline.Trace) { // of the pod that shuns
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				e := &t.Entries[i]
				if is, ok := e.Is.(*v1.Pod); ok && e.Pod() == "default/m7" && e.What == timeline.Handled {
					is = is.DeepCopy()
					change(is)
					e.Is = is
				}
			}
		}
	}
	checkWhole(t, "replaced-beside-a-nominated-gang-that-shuns", "preemption-leads-somewhere", string(release.NominatedRefusalsSkipped), []nearMiss{
		{name: "it shuns others", trace: asSeen(func(p *v1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"app": "c"}
		})},
		{name: "it is nominated elsewhere", trace: asSeen(func(p *v1.Pod) { p.Status.NominatedNodeName = "node-0" })},
		{name: "another group evicts them", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.By == "podgroup/default/g1" {
					e.By = "podgroup/default/other"
				}
			}
		}},
		{name: "one of them is placed elsewhere", trace: func(t *timeline.Trace) {
			at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Fits && e.Pod() == "default/v0-4" })
			t.Entries[at].Node = "node-2"
		}},
	})
}
