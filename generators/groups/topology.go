package groups

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// topologyPercent is in how many of 100 groups that preempt, and are no composite ones, all members have to be in one topology domain, and
// treePercent in how many composite ones all of some groups have to.
const topologyPercent, treePercent = 25, 60

// rack is a label that nothing else looks at.
const rack = "example.com/rack"

// drawTopology draws a topology constraint of some groups that preempt: a label that nodes have already, or racks. Some nodes are in
// no domain. While the gate is off the constraint is there too, now and then, and means nothing.
func (g *drawer) drawTopology(group *schedulingv1beta1.PodGroup) {
	last := draw.Apart(g.Source, 0)
	on, pinned := g.Gates[model.GateTopology]
	if !last.Chance(topologyPercent) {
		return
	}
	if !pinned {
		on = last.Chance(95)
	}
	Set(g.c, model.GateTopology, on)
	key := draw.Pick(last, rack, rack, v1.LabelTopologyZone, v1.LabelHostname)
	constrain(group, key)
	if key == rack {
		g.drawRacks(last)
	}
}

// drawTopologies draws topology constraints in some trees of groups that preempt: of the tree as a whole, of some of its groups, or of both.
func (g *drawer) drawTopologies(root *schedulingv1alpha3.CompositePodGroup, leaves []*schedulingv1beta1.PodGroup) {
	last := draw.Apart(g.Source, 0)
	if !last.Chance(treePercent) {
		return
	}
	racks := false
	if last.Chance(60) {
		key := draw.Pick(last, v1.LabelTopologyZone, v1.LabelTopologyZone, rack, v1.LabelHostname)
		root.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: key}}}
		racks = key == rack
	}
	for _, leaf := range leaves {
		if last.Chance(50) {
			key := draw.Pick(last, rack, rack, v1.LabelTopologyZone, v1.LabelHostname)
			constrain(leaf, key)
			racks = racks || key == rack
		}
	}
	if racks {
		g.drawRacks(last)
	}
}

func constrain(group *schedulingv1beta1.PodGroup, key string) {
	group.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: key}}}
}

// drawRacks puts most nodes in racks.
func (g *drawer) drawRacks(last draw.Source) {
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
