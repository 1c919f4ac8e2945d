package known_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// nearMiss is a witness of a known finding in which one fact is another.
type nearMiss struct {
	name string
	// timeline changes what happens, trace what was seen of it.
	timeline func(tl *timeline.Timeline)
	trace    func(t *timeline.Trace)
}

// excuses asks whether a known finding explains that default/p is left though it fits: when the scheduler has been told of
// the last of some objects, was taken over, or has tried p in vain.
func excuses(t *testing.T, id string, miss nearMiss, objects ...string) bool {
	t.Helper()
	s, err := corpus.Load("../../../corpus/timelines/finding-" + id + ".yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	if miss.timeline != nil {
		miss.timeline(tl)
	}
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	before := slices.IndexFunc(trace.Entries, func(e timeline.Entry) bool {
		return e.What == timeline.Called && e.Call == timeline.Bind && e.Pod() == "default/p"
	})
	if before >= 0 {
		trace.Entries = trace.Entries[:before]
	}
	if miss.trace != nil {
		miss.trace(trace)
	}
	at := -1
	for i, e := range trace.Entries {
		if e.What == timeline.TakenOver || e.What == timeline.Requeued && e.Pod() == "default/p" || e.What == timeline.Handled && slices.Contains(objects, e.Object) {
			at = i
		}
	}
	require.Positive(t, at, "it has to be tried in vain")
	l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
	return slices.Contains(l.Explain(&known.Broken{Property: "event-makes-tryable", Pod: "default/p", Node: "node-1", Entry: at}), id)
}

func checkNearMisses(t *testing.T, id string, misses []nearMiss, objects ...string) {
	t.Helper()
	require.True(t, excuses(t, id, nearMiss{}, objects...), "the witness")
	for _, miss := range misses {
		t.Run(miss.name, func(t *testing.T) { require.False(t, excuses(t, id, miss, objects...)) })
	}
}

// podOf is a pod of a timeline.
func podOf(tl *timeline.Timeline, name string) *v1.Pod {
	all := slices.Clone(tl.Cluster.Pods)
	for i := range tl.Steps {
		if p, ok := tl.Steps[i].Create.(*v1.Pod); ok {
			all = append(all, p)
		}
	}
	return all[slices.IndexFunc(all, func(p *v1.Pod) bool { return p.Name == name })]
}

// nodeOf is a node of a timeline.
func nodeOf(tl *timeline.Timeline, name string) *v1.Node {
	return tl.Cluster.Nodes[slices.IndexFunc(tl.Cluster.Nodes, func(n *v1.Node) bool { return n.Name == name })]
}

// unfitFor makes p's attempts fail for another reason.
func unfitFor(reason string) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Entries {
			if e := &t.Entries[i]; e.What == timeline.Unfit && e.Pod() == "default/p" {
				e.Text = "0/2 nodes are available: 2 " + reason + "."
			}
		}
	}
}

// wereOtherwise changes what a pod was and is in each entry.
func wereOtherwise(name string, change func(p *v1.Pod)) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Entries {
			for _, o := range []*runtime.Object{&t.Entries[i].Was, &t.Entries[i].Is} {
				if p, ok := (*o).(*v1.Pod); ok && p.Name == name {
					p = p.DeepCopy()
					change(p)
					*o = p
				}
			}
		}
	}
}

// takenOver puts at the end that another scheduler takes over.
func takenOver(t *timeline.Trace) {
	t.Entries = append(t.Entries, timeline.Entry{What: timeline.TakenOver})
}

// TestSpreadEasedNearMisses: a pod waits for the flush as topology spread was eased only if that is what helps it.
func TestSpreadEasedNearMisses(t *testing.T) {
	checkNearMisses(t, known.SpreadEased, []nearMiss{
		{name: "rejected by another plugin", trace: unfitFor("Insufficient cpu")},
		{name: "rejected for a label that is missing", trace: unfitFor("node(s) didn't match pod topology spread constraints (missing required label)")},
		{name: "terminates before the pod is tried", timeline: func(tl *timeline.Timeline) { slices.Reverse(tl.Steps[:2]) }},
		{name: "does not terminate", timeline: func(tl *timeline.Timeline) { tl.Steps = slices.Delete(tl.Steps, 1, 2) }},
		{name: "is not counted", trace: wereOtherwise("p", func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels = map[string]string{"app": "b"}
		})},
		{name: "is of another namespace", trace: wereOtherwise("v", func(p *v1.Pod) { p.Namespace = "other" })},
		{name: "the constraint need not be satisfied", trace: wereOtherwise("p", func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = v1.ScheduleAnyway
		})},
		{name: "was on no node", trace: wereOtherwise("v", func(p *v1.Pod) { p.Spec.NodeName = "" })},
		{name: "its labels change, too", trace: wereOtherwise("v", func(p *v1.Pod) {
			if p.DeletionTimestamp != nil {
				p.Labels["changed"] = "too"
			}
		})},
		{name: "it was another pod before", trace: wereOtherwise("v", func(p *v1.Pod) {
			if p.DeletionTimestamp == nil {
				p.UID = "another"
			}
		})},
		{name: "another node helps as well", timeline: func(tl *timeline.Timeline) {
			another := nodeOf(tl, "node-2").DeepCopy()
			another.Name, another.Labels, another.Spec = "node-3", map[string]string{v1.LabelHostname: "node-3"}, v1.NodeSpec{}
			tl.Steps = slices.Insert(tl.Steps, 2, timeline.Step{Create: another})
		}},
		{name: "another scheduler has taken over", trace: takenOver},
	}, "Pod default/v", "Node node-3")
}

// TestNodeForShunnedNearMisses: a pod that others shun waits for the flush only if nodes help it that were
// added, or changed their labels.
func TestNodeForShunnedNearMisses(t *testing.T) {
	affinity := func(own *v1.Affinity) func(tl *timeline.Timeline) {
		return func(tl *timeline.Timeline) { podOf(tl, "p").Spec.Affinity = own }
	}
	terms := []v1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}, TopologyKey: v1.LabelHostname}}
	checkNearMisses(t, known.NodeForShunned, []nearMiss{
		{name: "rejected by another plugin", trace: unfitFor("Insufficient cpu")},
		{name: "has anti-affinity of its own", timeline: affinity(&v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}})},
		{name: "the node was there before", timeline: func(tl *timeline.Timeline) { slices.Reverse(tl.Steps[:2]) }},
		{name: "no node is added", timeline: func(tl *timeline.Timeline) { tl.Steps = slices.Delete(tl.Steps, 1, 2) }},
		{name: "only its room changes", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Node node-2" {
					e.Was = e.Is
				}
			}
		}},
		{name: "the pod that shuns it is gone as well", timeline: func(tl *timeline.Timeline) {
			tl.Steps = slices.Insert(tl.Steps, 2, timeline.Step{Delete: "Pod default/v"})
		}},
		{name: "another scheduler has taken over", trace: takenOver},
	}, "Node node-2", "Pod default/v")
}

// TestRelabelledNearMisses: a pod waits for the flush as another one was relabelled on its way only if that is what
// helps it.
func TestRelabelledNearMisses(t *testing.T) {
	checkNearMisses(t, known.Relabelled, []nearMiss{
		{name: "rejected by another plugin", trace: unfitFor("Insufficient cpu")},
		{name: "the labels stay", timeline: func(tl *timeline.Timeline) { tl.Steps = slices.Delete(tl.Steps, 3, 4) }},
		{name: "bound before the pod is tried", timeline: func(tl *timeline.Timeline) {
			tl.Steps = append(slices.Delete(slices.Clone(tl.Steps[:5]), 2, 3), tl.Steps[2])
		}},
		{name: "assumed with these labels", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if p, ok := t.Entries[i].Is.(*v1.Pod); ok && t.Entries[i].What == timeline.Fits {
					p = p.DeepCopy()
					p.Labels = map[string]string{"app": "b"}
					t.Entries[i].Is = p
				}
			}
		}},
		{name: "the pod does not shun it", trace: wereOtherwise("p", func(p *v1.Pod) { p.Spec.Affinity = nil })},
		{name: "another scheduler has taken over", trace: takenOver},
	}, "Pod default/w")
}

// TestResizedNearMisses: a pod waits for the flush as another one was resized on its way only if that is what helps it.
func TestResizedNearMisses(t *testing.T) {
	checkNearMisses(t, known.Resized, []nearMiss{
		{name: "rejected by another plugin", trace: unfitFor("node(s) didn't match pod anti-affinity rules")},
		{name: "it asks for as much as before", timeline: func(tl *timeline.Timeline) {
			tl.Steps = slices.DeleteFunc(tl.Steps, func(s timeline.Step) bool { return s.Change != "" })
		}},
		{name: "it asks for more", trace: wereOtherwise("w", func(p *v1.Pod) {
			if q := p.Spec.Containers[0].Resources.Requests; q.Cpu().Value() == 4 {
				p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")}
			}
		})},
		{name: "another scheduler has taken over", trace: takenOver},
	}, "Pod default/w")
}

// TestShunnerGoneNearMisses: a pod that others shun waits for the flush as one of them is gone only if that is all that it
// waits for, and what helps it.
func TestShunnerGoneNearMisses(t *testing.T) {
	checkNearMisses(t, known.ShunnerGone, []nearMiss{
		{name: "rejected by another plugin", trace: unfitFor("Insufficient cpu")},
		{name: "rejected by another plugin, too", trace: unfitFor("Insufficient cpu, 1 node(s) didn't satisfy existing pods anti-affinity rules")},
		{name: "has anti-affinity of its own", timeline: func(tl *timeline.Timeline) {
			podOf(tl, "p").Spec.Affinity = podOf(tl, "v").Spec.Affinity.DeepCopy()
			podOf(tl, "p").Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"app": "c"}
		}},
		{name: "it does not shun the pod", trace: wereOtherwise("v", func(p *v1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"app": "c"}
		})},
		{name: "it has no terms", trace: wereOtherwise("v", func(p *v1.Pod) { p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil })},
		{name: "it was on no node", trace: wereOtherwise("v", func(p *v1.Pod) { p.Spec.NodeName = "" })},
		{name: "it is there", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted" {
					e.Text = "updated"
				}
			}
		}},
		{name: "another scheduler has taken over", trace: takenOver},
	}, "Pod default/v")
}

// TestMarkedPodEndsNearMisses: the end of a pod that a preemptor waits for wakes nobody only if that was marked as a victim, or evicted, and is gone.
func TestMarkedPodEndsNearMisses(t *testing.T) {
	const victim = "Pod default/w"
	checkWhole(t, "end-of-a-marked-pod-wakes-nobody", "no-wait-for-the-flush", known.VictimsEndUnnoticed, []nearMiss{
		{name: "it is not marked", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.Object == victim && e.MarksVictim() {
					e.Error = "Conflict"
				}
			}
		}},
		{name: "it is there still", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Handled && e.Object == victim && e.Text == "deleted" {
					e.What = timeline.Told
				}
			}
		}},
		{name: "nobody waits for it", trace: func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Decided && strings.Contains(e.Text, "not eligible") {
					e.Text = "0/1 nodes are available: 1 Insufficient cpu."
				}
			}
		}},
	})
}
