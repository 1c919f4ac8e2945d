package timelines

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// steps are the kinds of steps, and how often each is drawn where the timeline has it.
var steps = []struct {
	weight int
	has    func(g *generator) bool
	draw   func(g *generator)
}{
	{20, func(*generator) bool { return true }, (*generator).wait},
	{12, func(g *generator) bool { return g.made < 14 }, (*generator).createPreemptor},
	{6, func(g *generator) bool { return g.made < 14 }, func(g *generator) {
		p := g.pod("o", int32(g.Intn(4)), 1+g.Intn(2))
		g.picky(p)
		g.add(timeline.Step{Create: p})
	}},
	{8, func(g *generator) bool { return g.recreates }, (*generator).recreate},
	{14, func(*generator) bool { return true }, func(g *generator) { g.add(timeline.Step{Delete: "Pod " + g.anyPod()}) }},
	{8, func(*generator) bool { return true }, func(g *generator) { g.add(timeline.Step{End: g.anyPod()}) }},
	{25, func(g *generator) bool { return g.holds }, (*generator).hold},
	{25, func(g *generator) bool { return len(g.held) > 0 }, (*generator).release},
	{150, func(g *generator) bool { return g.stepwise && len(g.held) > 0 }, (*generator).next},
	{10, func(g *generator) bool { return g.failures }, (*generator).fail},
	{4, func(g *generator) bool { return g.takeovers }, (*generator).takeover},
	{26, func(g *generator) bool { return g.meets && g.made < 14 }, (*generator).meet},
	{14, func(g *generator) bool { return g.takeovers && g.made < 14 }, (*generator).dies},
	{30, func(g *generator) bool { return g.crowds && g.made < 14 }, (*generator).crowd},
	{12, func(g *generator) bool { return g.nodeChanges }, (*generator).changeNode},
	{12, func(g *generator) bool { return g.nodesGo }, (*generator).nodeGoes},
	{16, func(g *generator) bool { return g.selectors || g.amounts }, (*generator).refurnish},
	{18, func(g *generator) bool { return g.budgets }, (*generator).changeBudget},
	{18, func(g *generator) bool { return g.onTheWay && g.made < 14 }, (*generator).onItsWay},
	{10, func(g *generator) bool { return g.onTheWay && g.made < 14 }, (*generator).cross},
	{10, func(g *generator) bool { return g.onTheWay && g.made < 14 }, (*generator).inMemory},
	{14, func(g *generator) bool { return g.races && g.made < 14 }, (*generator).race},
	{10, func(g *generator) bool { return g.races && g.made < 14 }, (*generator).unwritten},
	{12, func(g *generator) bool { return g.overtakes && g.made < 14 }, (*generator).overtake},
	{20, func(g *generator) bool { return g.controllers }, (*generator).replace},
	{8, func(g *generator) bool { return g.relists }, (*generator).relist},
	{13, func(g *generator) bool { return g.relists && g.made < 14 }, (*generator).outOfTouch},
	{12, func(g *generator) bool { return g.taints }, (*generator).taint},
	{12, func(g *generator) bool { return g.taints }, func(g *generator) { g.tolerate(g.anyPod()) }},
	{10, func(g *generator) bool { return g.gates }, func(g *generator) {
		g.change("Pod "+g.anyPod(), map[string]any{"spec": map[string]any{"schedulingGates": nil}})
	}},
	{10, func(g *generator) bool { return g.changes }, func(g *generator) { g.relabel(g.anyPod()) }},
	{14, func(g *generator) bool { return g.resizes }, (*generator).resize},
	{8, func(g *generator) bool { return g.gates }, (*generator).narrow},
	{12, func(g *generator) bool { return g.touches }, func(g *generator) { g.touch(g.anyPod()) }},
	{32, func(g *generator) bool { return g.classes && g.made < 18 }, (*generator).changeClass},
	{8, func(g *generator) bool { return g.finalizers }, func(g *generator) {
		g.change("Pod "+g.anyPod(), map[string]any{"metadata": map[string]any{"finalizers": nil}})
	}},
}

func (g *generator) step() {
	weights := make([]int, 0, len(steps))
	which := make([]int, 0, len(steps))
	for i := range steps {
		if steps[i].has(g) {
			weights, which = append(weights, steps[i].weight), append(which, i)
		}
	}
	steps[which[draw.Weighted(g.Source, weights...)]].draw(g)
}

// anyPod is one of the pods, more often a late one.
func (g *generator) anyPod() string {
	n := len(g.pods)
	if n > 4 && g.Chance(50) {
		return g.pods[n-1-g.Intn(4)]
	}
	return g.pods[g.Intn(min(n, draw.MaxIntn))]
}

func (g *generator) wait() {
	if g.longWaits && g.Chance(30) {
		g.add(timeline.Step{Wait: draw.Pick(g.Source, 2*time.Minute, 6*time.Minute)}) // past the flush
		return
	}
	g.add(timeline.Step{Wait: draw.Pick(g.Source, time.Second, 100*time.Millisecond, 3*time.Second, 11*time.Second, 31*time.Second)})
}

func (g *generator) change(object string, with map[string]any) {
	patch, err := json.Marshal(with)
	if err != nil {
		panic(err) // these values have a JSON
	}
	g.add(timeline.Step{Change: object, With: patch})
}

// place is somewhere to hold.
func (g *generator) place() timeline.Place {
	if g.skew && g.Chance(45) {
		return timeline.Place{Name: draw.Pick(g.Source, timeline.Store, timeline.Handle), Kind: draw.Pick(g.Source, "Pod", "Pod", "Pod", "Node", "PodDisruptionBudget")}
	}
	names := []timeline.PlaceName{timeline.Preempt, timeline.Requeue, timeline.Filter, timeline.Evict, timeline.Patch, timeline.Preempted, timeline.Record, timeline.Pop, timeline.Stop}
	if g.binding {
		names = append(names, timeline.Bind, timeline.PreBind, timeline.Permit, timeline.PreBound, timeline.Bind, timeline.Unreserve, timeline.Start, timeline.Start)
	}
	return timeline.Place{Name: draw.Pick(g.Source, names...)}
}

func (g *generator) hold() {
	p := g.place()
	if !p.Name.OfKind() && p.Name != timeline.Pop && g.Chance(40) {
		p.Pod = g.anyPod()
	}
	for _, other := range g.held {
		if other == p {
			g.wait()
			return
		}
	}
	g.held = append(g.held, p)
	g.add(timeline.Step{Hold: &p})
}

// holdMany holds many places from the start, so that nearly all orders come about.
func (g *generator) holdMany() {
	for _, p := range []timeline.Place{
		{Name: timeline.Store, Kind: "Pod"}, {Name: timeline.Handle, Kind: "Pod"}, {Name: timeline.Preempt}, {Name: timeline.Requeue},
		{Name: timeline.Filter}, {Name: timeline.Evict}, {Name: timeline.Preempted}, {Name: timeline.Bind}, {Name: timeline.Patch},
	} {
		if g.Chance(50) {
			g.held = append(g.held, p)
			g.add(timeline.Step{Hold: &p})
		}
	}
}

func (g *generator) release() {
	i := g.Intn(len(g.held))
	p := g.held[i]
	g.held = append(g.held[:i:i], g.held[i+1:]...)
	g.add(timeline.Step{Release: &p})
}

func (g *generator) next() {
	p := g.held[g.Intn(len(g.held))]
	g.add(timeline.Step{Next: &p})
}

func (g *generator) fail() {
	f := timeline.Failure{
		Call: draw.Pick(g.Source, timeline.Evict, timeline.Patch, timeline.Bind), Arrives: g.Chance(30), Times: draw.Pick(g.Source, 1, 2, 3, 8),
		Error: draw.Pick(g.Source, "InternalError", "Timeout", "Conflict"),
	}
	if g.Chance(40) {
		f.Pod = g.anyPod()
	}
	g.add(timeline.Step{Fail: &f})
}

// replace makes a controller replace a pod, more often one that may be a victim.
func (g *generator) replace() {
	name := g.anyPod()
	if n := len(g.cluster.Pods); n > 0 && g.Chance(60) {
		name = model.Key(g.cluster.Pods[g.Intn(min(n, draw.MaxIntn))])
	}
	g.add(timeline.Step{Replace: &timeline.Replacement{
		Pod: name, After: draw.Pick(g.Source, 0, 0, time.Second, 11*time.Second), Times: draw.Pick(g.Source, 1, 2, 3, 8),
	}})
}

func (g *generator) relist() {
	g.add(timeline.Step{Relist: draw.Pick(g.Source, "Pod", "Pod", "Pod", "Node", "Node", "PodDisruptionBudget")})
}

func (g *generator) changeNode() {
	name := "Node " + g.nodes[g.Intn(len(g.nodes))]
	if g.Chance(50) {
		g.change(name, map[string]any{"spec": map[string]any{"unschedulable": draw.Pick(g.Source, true, false)}})
		return
	}
	cpus := strconv.Itoa(1 + g.Intn(5))
	g.change(name, map[string]any{"status": map[string]any{"allocatable": map[string]any{"cpu": cpus}, "capacity": map[string]any{"cpu": cpus}}})
}

// changeBudget changes what a budget allows, which pods it is for, deletes it, or makes it anew.
func (g *generator) changeBudget() {
	const name = "PodDisruptionBudget default/budget"
	switch draw.Weighted(g.Source, 60, 15, 25) {
	case 0:
		g.change(name, map[string]any{"status": map[string]any{"disruptionsAllowed": g.Intn(3)}})
	case 1:
		g.change(name, map[string]any{"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": draw.Pick(g.Source, "a", "b")}}}})
	case 2:
		g.add(timeline.Step{Delete: name})
		g.sometimesWait(50)
		g.add(timeline.Step{Create: g.cluster.PodDisruptionBudgets[0].DeepCopy()})
	}
}

// nodeGoes deletes a node, and the pods on it as the garbage collector does, or makes a node,
// sometimes one of the name that went.
func (g *generator) nodeGoes() {
	if n := len(g.gone); n > 0 && g.Chance(60) {
		back := g.gone[n-1]
		g.gone = g.gone[:n-1]
		g.add(timeline.Step{Create: back})
		return
	}
	if len(g.nodes) < 6 && g.Chance(50) {
		g.add(timeline.Step{Create: g.node(1 + g.Intn(4))})
		return
	}
	name := g.nodes[g.Intn(len(g.nodes))]
	g.add(timeline.Step{Delete: "Node " + name})
	if i := slices.IndexFunc(g.cluster.Nodes, func(n *v1.Node) bool { return n.Name == name }); i >= 0 {
		g.gone = append(g.gone, g.cluster.Nodes[i].DeepCopy()) // it comes back as it was
	}
	for _, p := range g.cluster.Pods {
		if p.Spec.NodeName == name {
			g.add(timeline.Step{Delete: "Pod " + model.Key(p)})
			g.add(timeline.Step{End: model.Key(p)})
		}
	}
}
