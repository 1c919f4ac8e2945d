package timelines

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// diskLabel is a label of nodes that pods select them by.
const diskLabel = "disk"

// furnish gives a node what picky pods ask for, or not.
func (g *generator) furnish(n *v1.Node) {
	if g.selectors && g.Chance(60) {
		n.Labels[diskLabel] = draw.Pick(g.Source, "a", "b")
	}
	if amount := g.Intn(4); g.amounts && amount > 0 {
		q := *resource.NewQuantity(int64(amount), resource.DecimalSI)
		n.Status.Allocatable[g.resource], n.Status.Capacity[g.resource] = q, q
	}
}

// picky makes a pod ask for a label of its node, and for a little of a resource besides CPU.
func (g *generator) picky(p *v1.Pod) {
	if g.selectors && g.Chance(40) {
		p.Spec.NodeSelector = map[string]string{diskLabel: draw.Pick(g.Source, "a", "a", "b")}
	}
	if g.amounts && g.Chance(50) {
		g.request(p, 1+g.Intn(2))
	}
}

// request makes a pod ask for an amount of the resource besides CPU; 0 is none of it.
func (g *generator) request(p *v1.Pod, amount int) {
	c := &p.Spec.Containers[0].Resources
	delete(c.Requests, g.resource)
	c.Limits = nil
	if amount == 0 {
		return
	}
	q := *resource.NewQuantity(int64(amount), resource.DecimalSI)
	c.Requests[g.resource] = q
	if g.resource != v1.ResourceMemory && g.resource != v1.ResourceEphemeralStorage {
		c.Limits = v1.ResourceList{g.resource: q} // as the API demands of an extended resource
	}
}

// settleOn puts a pod of the start on a node: a kubelet runs it only where it may be.
func (g *generator) settleOn(p *v1.Pod, n *v1.Node) {
	p.Spec.NodeName, p.Spec.NodeSelector = n.Name, nil
	if !g.amounts {
		return
	}
	left := n.Status.Allocatable[g.resource]
	for _, other := range g.cluster.Pods {
		if other.Spec.NodeName == n.Name {
			left.Sub(other.Spec.Containers[0].Resources.Requests[g.resource])
		}
	}
	if asked := p.Spec.Containers[0].Resources.Requests[g.resource]; asked.Cmp(left) > 0 {
		g.request(p, int(left.Value()))
	}
}

// refurnish changes the label of a node that pods select, or what it has of the resource besides CPU.
func (g *generator) refurnish() {
	name := "Node " + g.nodes[g.Intn(len(g.nodes))]
	if g.selectors && (!g.amounts || g.Chance(50)) {
		var disk any // none
		if g.Chance(75) {
			disk = draw.Pick(g.Source, "a", "b")
		}
		g.change(name, map[string]any{"metadata": map[string]any{"labels": map[string]any{diskLabel: disk}}})
		return
	}
	amount := map[string]any{string(g.resource): strconv.Itoa(g.Intn(4))}
	g.change(name, map[string]any{"status": map[string]any{"allocatable": amount, "capacity": amount}})
}
