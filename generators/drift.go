package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// drift changes some nodes after their pods were placed, which stay where they are
// though they would not fit any more: it cordons and taints nodes, takes away
// room and labels. Until then a cluster is as a scheduler leaves it: no node holds
// more than it has room for.
func (g *generator) drift(nodes []*v1.Node, pods []*v1.Pod) {
	for _, n := range nodes {
		if !g.Chance(40) {
			continue
		}
		for range 1 + draw.Weighted(g.Source, 70, 30) {
			g.driftNode(n)
		}
	}
	for _, p := range pods {
		if g.Chance(15) {
			daemon(p)
		}
	}
}

func (g *generator) driftNode(n *v1.Node) {
	switch draw.Weighted(g.Source, 60, 20, 8, 6, 6) {
	case 0: // over-committed from now on
		room := n.Status.Allocatable
		for _, name := range append([]v1.ResourceName{v1.ResourcePods}, resourceNames[:]...) {
			q, there := room[name]
			switch keeps := g.Chance(30) || name == v1.ResourcePods && g.Chance(70); {
			case keeps || !there:
			case name == v1.ResourceCPU:
				room[name] = *apiresource.NewMilliQuantity(q.MilliValue()/2, q.Format)
			default:
				room[name] = *apiresource.NewQuantity(q.Value()/2, q.Format)
			}
		}
		n.Status.Capacity = room.DeepCopy()
	case 1:
		delete(n.Labels, draw.Pick(g.Source, "zone", "disk", "generation", v1.LabelHostname))
		if len(n.Labels) == 0 {
			n.Labels = nil
		}
	case 2: // the node controller adds the taint
		n.Spec.Unschedulable = true
		addTaint(n, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	case 3:
		addTaint(n, v1.Taint{Key: v1.TaintNodeDiskPressure, Effect: v1.TaintEffectNoSchedule})
	case 4:
		addTaint(n, v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule})
		addTaint(n, v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute})
	}
}

func addTaint(n *v1.Node, taint v1.Taint) {
	if !slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.MatchTaint(&taint) }) {
		n.Spec.Taints = append(n.Spec.Taints, taint)
	}
}

// daemon makes a bound pod one of those that run on a node whatever befalls it.
func daemon(p *v1.Pod) {
	p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	if p.Spec.Affinity != nil {
		return
	}
	p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{isNode(p.Spec.NodeName)}}}}
}
