package generators

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// drawExtenders draws one extender or two. They filter only nodes with room for the
// preemptor, so some node may get it.
func (g *generator) drawExtenders(c *model.Cluster) []model.Extender {
	extenders := make([]model.Extender, 1+weighted(g.source, 50, 50))
	managed := []string{"example.com/gpu", "example.com/fpga"} // the preemptor may ask for the first
	for i := range extenders {
		e := &extenders[i]
		e.Name = extenderNames[i]
		if g.chance(18) {
			// No two extenders may manage the same resource.
			at := min(weighted(g.source, 60, 40), len(managed)-1)
			e.ManagedResources = []string{managed[at]}
			managed = append(managed[:at:at], managed[at+1:]...)
		}
		e.Ignorable, e.NodeCacheCapable = g.chance(50), g.chance(40)
		if g.chance(45) {
			if len(c.Nodes) > 0 && g.chance(30) {
				at := g.intn(len(c.Nodes))
				c.Nodes[at] = g.emptied(at)
			}
			e.Filter = &model.ExtenderFilter{
				Fails:    g.chance(12),
				Rejects:  g.someNodes(45),
				Excludes: g.someNodes(20),
				Omits:    g.someNodes(12),
			}
		}
		if e.Filter == nil || g.chance(70) {
			e.Preempt = g.drawExtenderPreempt()
		}
	}
	return extenders
}

func (g *generator) drawExtenderPreempt() *model.ExtenderPreempt {
	p := &model.ExtenderPreempt{}
	switch weighted(g.source, 61, 20, 5, 14) {
	case 1:
		p.Drops = g.someNodes(40)
	case 2:
		p.Nothing = true
	case 3:
		p.Fails = pick(g.source, model.PreemptError, model.PreemptUnknownNode, model.PreemptUnknownPod)
	}
	for _, name := range g.someNodes(80) {
		change := model.VictimChange{Node: name, Reverses: g.chance(72)}
		if g.chance(57) {
			// None is an error of the extender.
			keeps := int32(weighted(g.source, 5, 80, 15))
			change.Keeps = &keeps
		}
		if g.chance(25) {
			violations := int64(g.intn(3))
			change.Violations = &violations
		}
		p.Changes = append(p.Changes, change)
	}
	return p
}

// emptied is a node with room for everything.
func (g *generator) emptied(at int) *v1.Node {
	n := g.nodes[at]
	n.maxPods = len(podCounts) - 1
	for r := range n.room {
		n.room[r] = plenty
	}
	return renderNode(at, &n)
}

// someNodes draws each node's name with a chance.
func (g *generator) someNodes(percent int) (names []string) {
	for i := range g.nodes {
		if g.chance(percent) {
			names = append(names, nodeNames[i])
		}
	}
	return names
}

var extenderNames = []string{"extender-0", "extender-1"}
