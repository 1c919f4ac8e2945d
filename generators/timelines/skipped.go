package timelines

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// skipped lets a group be handed out by the queue when all its pods terminate already, so that none of them is tried,
// and another pod of it come then. Finalizers keep the pods: those that are on no node would be gone at once.
func (h *grouper) skipped() {
	g := h.drawGang()
	g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	if h.Chance(30) {
		g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1}}
	}
	g.exists = true
	h.cluster.Extra = append(h.cluster.Extra, g.PodGroup)
	pop := timeline.Place{Name: timeline.Pop}
	h.hold1(pop)
	early := g.members[:max(1, len(g.members)-1)]
	for _, p := range early {
		p.Finalizers = []string{finalizer}
		h.add(timeline.Step{Create: p})
	}
	for _, p := range early {
		h.add(timeline.Step{Delete: "Pod " + model.Key(p)})
	}
	h.add(timeline.Step{Release: &pop})
	if h.Chance(30) {
		h.add(timeline.Step{Wait: draw.Pick(h.Source, time.Second, 11*time.Second)})
	}
	late := g.members[len(early):]
	if len(late) == 0 {
		p := g.members[0].DeepCopy()
		p.Name, p.Finalizers, p.Status = h.pod("m", 0, 1).Name, nil, v1.PodStatus{}
		late = []*v1.Pod{p}
	}
	for _, p := range late {
		p.Finalizers = nil
		h.add(timeline.Step{Create: p})
	}
	h.sometimesWait(60)
}
