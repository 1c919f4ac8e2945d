package groups

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// topologyPercent is in how many of 100 groups that preempt, and are no composite ones, all members have to be in one topology domain.
const topologyPercent = 25

// rack is a label that nothing else looks at.
const rack = "example.com/rack"

// drawTopology draws a topology constraint of some groups that preempt: a label that nodes have already, or racks. Some nodes are in
// no domain. While the gate is off the constraint is there too, now and then, and means nothing.
func (g *drawer) drawTopology(group *schedulingv1beta1.PodGroup) {
	last := draw.Apart(g.Source)
	on, pinned := g.Gates[model.GateTopology]
	if !last.Chance(topologyPercent) {
		return
	}
	if !pinned {
		on = last.Chance(95)
	}
	Set(g.c, model.GateTopology, on)
	key := draw.Pick(last, rack, rack, v1.LabelTopologyZone, v1.LabelHostname)
	group.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: key}}}
	if key != rack {
		return
	}
	racks := 1 + draw.Weighted(last, 10, 50, 40)
	for _, n := range g.c.Nodes {
		if last.Chance(8) {
			continue
		}
		labels := map[string]string{rack: "rack-" + strconv.Itoa(last.Intn(racks))}
		for k, v := range n.Labels {
			labels[k] = v
		}
		n.Labels = labels
	}
}
