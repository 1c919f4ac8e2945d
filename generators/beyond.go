package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/devices"
	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// goBeyond gives a share of clusters something that is not modelled, or was not for
// long. It comes last, so that all other clusters are as they were without it.
func (g *generator) goBeyond(c *model.Cluster) {
	switch {
	case g.claims && g.Chance(75):
		c.Extra = devices.Details(g.Source, c.Preemptor, c.Extra)
	case !g.claims && requestsGPUs(c.Preemptor) && g.Chance(6):
		c.Extra = append(c.Extra, devices.Extend(g.Source, resourceNames[gpu], c.Nodes)...)
	case g.extended && g.Chance(4):
		g.crowd(c)
	}
}

func requestsGPUs(p *v1.Pod) bool {
	for i := range p.Spec.Containers {
		if _, asks := p.Spec.Containers[i].Resources.Requests[resourceNames[gpu]]; asks {
			return true
		}
	}
	return false
}

// extendFurther gives details to clusters in which devices back an extended resource, makes
// some more of these, and has some pods with claims ask for devices so, too. It comes after
// all else, and draws from a source of its own.
func (g *generator) extendFurther(s draw.Source, c *model.Cluster) {
	name := resourceNames[gpu]
	switch {
	case c.Preemptor == nil:
	case g.claims && s.Chance(8):
		devices.Beside(s, name, c)
	case devices.Extends(c.Extra):
		c.Extra = devices.Detailed(s, name, c)
	case !g.claims && requestsGPUs(c.Preemptor) && s.Chance(7):
		c.Extra = append(c.Extra, devices.Extend(s, name, c.Nodes)...)
		c.Extra = devices.Detailed(s, name, c)
	}
}

// crowd adds so many nodes with room for the preemptor that the scheduler looks at some
// of them only, all or most of which an extender does not let pass.
func (g *generator) crowd(c *model.Cluster) {
	if len(g.nodes) == 0 {
		return
	}
	e := &c.Settings.Extenders[g.Intn(len(c.Settings.Extenders))]
	if e.Filter == nil {
		e.Filter = &model.ExtenderFilter{}
	}
	var crowd []*v1.Node
	for range 101 + g.Intn(20) {
		n := g.emptied(g.Intn(len(g.nodes)))
		n.Name = NodeName(len(c.Nodes) + len(crowd))
		n.Labels[v1.LabelHostname] = n.Name
		crowd = append(crowd, n)
		e.Filter.Rejects = append(e.Filter.Rejects, n.Name)
	}
	g.mix(e.Filter, crowd)
	if g.Chance(50) { // the others are come to last, if at all
		c.Nodes = slices.Concat(crowd, c.Nodes)
	} else {
		c.Nodes = slices.Concat(c.Nodes, crowd)
	}
	if g.Chance(50) {
		c.Settings.PercentageOfNodesToScore = new(draw.Pick(g.Source, int32(5), 90, 100))
	}
}

// mix lets the nodes of a crowd, all of which an extender rejects, differ: it says something
// else of some, or some are cordoned.
func (g *generator) mix(f *model.ExtenderFilter, crowd []*v1.Node) {
	otherwise := func(percent int, to func(n *v1.Node)) {
		for _, n := range crowd {
			if g.Chance(percent) {
				to(n)
			}
		}
	}
	accept := func(n *v1.Node) {
		f.Rejects = slices.DeleteFunc(f.Rejects, func(name string) bool { return name == n.Name })
	}
	switch draw.Weighted(g.Source, 30, 20, 15, 15, 20) {
	case 1:
		otherwise(30, func(n *v1.Node) { f.Excludes = append(f.Excludes, n.Name) })
	case 2:
		otherwise(20, func(n *v1.Node) { accept(n); f.Omits = append(f.Omits, n.Name) })
	case 3:
		otherwise(10, func(n *v1.Node) { n.Spec.Unschedulable = true })
	case 4: // they are come to last
		for _, n := range crowd[len(crowd)-1-g.Intn(12):] {
			accept(n)
		}
	}
}

// unusual gives some clusters what is admitted and hardly ever seen. It comes last, too.
func (g *generator) unusual(c *model.Cluster) {
	if g.Chance(3) {
		makeStatic(g.Source, c.Pods)
	}
	if (g.hostPorts || g.bottleneck == byHostPort) && g.Chance(60) {
		respell(g.Source, append([]*v1.Pod{c.Preemptor}, c.Pods...))
	}
	if g.claims {
		devices.Crowd(g.Source, c.Extra)
	}
}

// makeStatic makes some of the bound pods mirror pods. Static pods refer to no other
// objects (docs: tasks/configure-pod-container/static-pod).
func makeStatic(s draw.Source, pods []*v1.Pod) {
	for _, p := range pods {
		if p.Spec.NodeName != "" && len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) == 0 && s.Chance(40) {
			p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "0f7a"}
		}
	}
}

// respell spells some of the host addresses in another way.
func respell(s draw.Source, pods []*v1.Pod) {
	for _, p := range pods {
		for _, containers := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				for j := range containers[i].Ports {
					if other, ok := spellings[containers[i].Ports[j].HostIP]; ok && s.Chance(40) {
						containers[i].Ports[j].HostIP = other
					}
				}
			}
		}
	}
}
