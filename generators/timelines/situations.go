package timelines

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Situations are several steps at once, which would hardly follow one another by chance. Each
// is a class: what is held, what goes wrong, and who else is there is drawn.

// onItsWay stops a pod on its way to a node, sometimes one that has preempted there, lets others
// come that want its room, and lets something happen to it before it goes on.
func (g *generator) onItsWay() {
	preempts := g.Chance(25)
	if !preempts && g.Chance(80) {
		g.makeRoom()
	}
	p := g.pod("w", draw.Pick(g.Source, int32(0), 0, 0, 2, 4, 5), 1+g.Intn(2))
	if preempts {
		p = g.pod("w", int32(4+g.Intn(3)), 1+g.Intn(2))
	}
	name := model.Key(p)
	at := timeline.Place{Name: draw.Pick(g.Source, timeline.Permit, timeline.PreBind, timeline.PreBound, timeline.Bind, timeline.Bind), Pod: name}
	what := draw.Weighted(g.Source, 40, 20, 10, 20, 15)
	if what == 1 && g.Chance(40) {
		p.Finalizers = []string{finalizer}
	}
	g.add(timeline.Step{Hold: &at})
	g.add(timeline.Step{Create: p})
	if preempts {
		g.add(timeline.Step{Wait: graceTime}) // the victims go
	} else {
		g.sometimesWait(40)
	}
	other := timeline.Place{}
	switch {
	case at.Name != timeline.Bind && g.Chance(50): // what preempts it stops before it is done
		other = timeline.Place{Name: timeline.Record, Pod: name}
	case g.Chance(50):
		other = draw.Pick(g.Source, timeline.Place{Name: timeline.Unreserve, Pod: name}, timeline.Place{Name: timeline.Requeue}, timeline.Place{Name: timeline.Filter},
			timeline.Place{Name: timeline.Preempted}, timeline.Place{Name: timeline.Patch}, timeline.Place{Name: timeline.Handle, Kind: "Pod"})
	}
	if other.Name != "" {
		g.add(timeline.Step{Hold: &other})
	}
	for range 1 + g.Intn(2) {
		if g.Chance(50) {
			g.createPreemptor()
		} else {
			g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(6)), 1+g.Intn(2))})
		}
	}
	g.sometimesWait(40)
	switch what {
	case 0:
		g.add(timeline.Step{Fail: &timeline.Failure{
			Call: timeline.Bind, Pod: name, Times: draw.Pick(g.Source, 1, 1, 2, 4), Error: draw.Pick(g.Source, "InternalError", "Timeout", "Conflict"), Arrives: g.Chance(10),
		}})
	case 1:
		g.add(timeline.Step{Delete: "Pod " + name})
	case 2:
		g.relabel(name)
	case 3:
		g.makeRoom()
	}
	g.sometimesWait(50)
	g.letGo(at, other)
}

// inMemory lets a pod be preempted on its way to a node, in the scheduler's memory only: no deletion
// is seen of it, and its end comes while the preemption goes on, or after that.
func (g *generator) inMemory() {
	g.makeRoom()
	w, p := g.pod("w", 0, 1+g.Intn(2)), g.preemptor()
	p.Spec.SchedulingGates, w.Spec.SchedulerName = nil, p.Spec.SchedulerName
	p.Spec.Containers[0].Resources = *w.Spec.Containers[0].Resources.DeepCopy()
	at := timeline.Place{Name: draw.Pick(g.Source, timeline.Permit, timeline.PreBind, timeline.PreBind), Pod: model.Key(w)}
	begins := timeline.Place{Name: timeline.Preempt, Pod: model.Key(p)}
	after := draw.Pick(g.Source, timeline.Place{Name: timeline.Record, Pod: model.Key(w)}, timeline.Place{Name: timeline.Record, Pod: model.Key(w)},
		timeline.Place{Name: timeline.Unreserve, Pod: model.Key(w)}, timeline.Place{Name: timeline.Preempted, Pod: model.Key(p)})
	for _, s := range []timeline.Step{{Hold: &at}, {Create: w}, {Hold: &begins}, {Create: p}, {Hold: &after}, {Release: &begins}} {
		g.add(s)
	}
	g.sometimesWait(60)
	g.letGo(after, at)
}

// cross lets something happen while two pods are in flight, of which the first to come is the
// first to go on.
func (g *generator) cross() {
	if g.Chance(60) {
		g.makeRoom()
	}
	p, q := g.pod("w", int32(4+g.Intn(3)), 1), g.preemptor()
	first := timeline.Place{Name: draw.Pick(g.Source, timeline.Permit, timeline.Permit, timeline.Unreserve), Pod: model.Key(p)}
	then := timeline.Place{Name: draw.Pick(g.Source, timeline.Requeue, timeline.Filter), Pod: model.Key(q)}
	g.add(timeline.Step{Hold: &first})
	g.add(timeline.Step{Create: p})
	g.add(timeline.Step{Hold: &then})
	g.add(timeline.Step{Create: q})
	for range 1 + g.Intn(2) {
		switch draw.Weighted(g.Source, 60, 15, 15, 10) {
		case 0:
			g.makeRoom()
		case 1:
			g.changeNode()
		case 2:
			g.tolerate(model.Key(q))
		case 3:
			g.wait()
		}
	}
	g.add(timeline.Step{Release: &first})
	g.sometimesWait(50)
	g.add(timeline.Step{Release: &then})
	g.sometimesWait(50)
}

// race lets something happen to a preemptor, or its preemption end, before the cycle is over
// that decided on it, or lets its victims go before its preemption ends.
func (g *generator) race() {
	p := g.preemptor()
	name := model.Key(p)
	what := draw.Weighted(g.Source, 40, 15, 15, 15, 15)
	if what == 2 && g.Chance(60) {
		p.Finalizers = []string{finalizer}
	}
	at, other := timeline.Place{Name: timeline.Record}, timeline.Place{}
	if g.Chance(65) {
		at = timeline.Place{Name: draw.Pick(g.Source, timeline.Requeue, timeline.Requeue, timeline.Requeue, timeline.Record, timeline.Patch), Pod: name}
		if g.Chance(50) {
			other = draw.Pick(g.Source, timeline.Place{Name: timeline.Preempt, Pod: name}, timeline.Place{Name: timeline.Preempted, Pod: name},
				timeline.Place{Name: timeline.Evict}, timeline.Place{Name: timeline.Handle, Kind: "Pod"}, timeline.Place{Name: timeline.Store, Kind: "Pod"})
		}
	}
	for _, hold := range []timeline.Place{at, other} {
		if hold.Name != "" {
			g.add(timeline.Step{Hold: &hold})
		}
	}
	if at.Pod != "" && g.Chance(60) {
		g.add(timeline.Step{Fail: &timeline.Failure{
			Call: draw.Pick(g.Source, timeline.Evict, timeline.Evict, timeline.Patch), Times: draw.Pick(g.Source, 1, 2), Error: draw.Pick(g.Source, "InternalError", "Timeout", "Conflict"), Arrives: g.Chance(25),
		}})
	}
	g.add(timeline.Step{Create: p})
	if at.Pod == "" && g.Chance(60) {
		g.add(timeline.Step{Wait: graceTime}) // the victims go
	}
	g.sometimesWait(30)
	switch what {
	case 0:
		g.relabel(name)
	case 1:
		g.tolerate(name)
	case 2:
		g.add(timeline.Step{Delete: "Pod " + name})
	case 3:
		g.makeRoom()
	}
	g.sometimesWait(30)
	g.letGo(at, other)
}

// unwritten nominates a pod in the scheduler's memory only, as the write of it to the status
// fails or takes its time, changes the pod, and lets others come that want its room, sometimes
// once a victim is gone.
func (g *generator) unwritten() {
	p := g.preemptor()
	name := model.Key(p)
	at := timeline.Place{Name: timeline.Patch, Pod: name}
	if g.Chance(50) {
		g.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Patch, Pod: name, Times: draw.Pick(g.Source, 1, 2, 4), Error: draw.Pick(g.Source, "InternalError", "Timeout", "Conflict")}})
		at = timeline.Place{Name: draw.Pick(g.Source, timeline.Preempted, timeline.Requeue), Pod: name}
	}
	g.add(timeline.Step{Hold: &at})
	g.add(timeline.Step{Create: p})
	g.sometimesWait(40)
	switch draw.Weighted(g.Source, 60, 20, 20) {
	case 0:
		g.relabel(name)
	case 1:
		g.tolerate(name)
	}
	for i := range min(len(g.cluster.Pods), 4) {
		if g.Chance(60) {
			g.add(timeline.Step{End: model.Key(g.cluster.Pods[i])})
		}
	}
	for range 1 + g.Intn(2) {
		g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(6)), 1+g.Intn(2))})
	}
	g.sometimesWait(50)
	g.letGo(at, timeline.Place{})
}

// overtake nominates a pod, lets others wait for the same room, and lets one that is more
// important take the node, or the nominated one go.
func (g *generator) overtake() {
	stop := timeline.Place{Name: timeline.Stop}
	g.add(timeline.Step{Hold: &stop})
	first := len(g.pods)
	for range 1 + g.Intn(2) {
		g.add(timeline.Step{Create: g.pod("p", int32(4+g.Intn(3)), 2+g.Intn(3))})
	}
	g.sometimesWait(50)
	for range 1 + g.Intn(2) {
		g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(6)), 1+g.Intn(2))})
	}
	g.sometimesWait(50)
	if g.Chance(60) {
		g.add(timeline.Step{Create: g.pod("q", int32(7+g.Intn(2)), 1+g.Intn(3))})
	} else {
		g.add(timeline.Step{Delete: "Pod " + g.pods[first]})
	}
	g.sometimesWait(50)
	g.letGo(stop, timeline.Place{})
}

// meet stops a preemption at one place and a pod on its way to a node at another, so that either
// goes on while the other is under way. Sometimes another scheduler takes over in between.
func (g *generator) meet() {
	preempts := timeline.Place{Name: draw.Pick(g.Source, timeline.Preempt, timeline.Evict, timeline.Evict, timeline.Evict, timeline.Evict, timeline.Patch, timeline.Preempted, timeline.Requeue,
		timeline.Record, timeline.Filter, timeline.Stop, timeline.Stop, timeline.Stop, timeline.Handle)}
	binds := timeline.Place{Name: draw.Pick(g.Source, timeline.Permit, timeline.PreBind, timeline.PreBind, timeline.PreBound, timeline.PreBound, timeline.Bind,
		timeline.Unreserve, timeline.Unreserve, timeline.Start, timeline.Start, timeline.Pop)}
	if preempts.Name.OfKind() {
		preempts.Kind = "Pod"
	}
	w, p := g.pod("w", int32(g.Intn(7)), 1), g.preemptor()
	p.Spec.SchedulingGates = nil
	hold := func(at timeline.Place) { g.add(timeline.Step{Hold: &at}) }
	if binds.Name == timeline.Unreserve {
		g.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Bind, Pod: model.Key(w), Times: draw.Pick(g.Source, 1, 4), Error: draw.Pick(g.Source, "InternalError", "Timeout"), Arrives: g.Chance(20)}})
	}
	if binds.Name != timeline.Pop {
		g.makeRoom()
		hold(binds)
		g.add(timeline.Step{Create: w})
		hold(preempts)
		g.add(timeline.Step{Create: p})
	} else {
		hold(preempts)
		g.add(timeline.Step{Create: p})
		hold(binds)
		g.add(timeline.Step{Create: w})
	}
	g.sometimesWait(30)
	for range g.Intn(3) {
		at := draw.Pick(g.Source, preempts, preempts, binds)
		g.add(timeline.Step{Next: &at})
	}
	if g.takeovers && g.Chance(60) {
		g.takeover()
		g.sometimesWait(40)
	}
	if g.Chance(30) {
		g.add(timeline.Step{Delete: "Pod " + draw.Pick(g.Source, model.Key(w), model.Key(p))})
	}
	g.letGo(binds, preempts)
}

// dies lets the scheduler die at some point of a preemption or a binding, and another take over,
// which knows of it only what was written. What the first one had sent may still arrive.
func (g *generator) dies() {
	at := timeline.Place{Name: draw.Pick(g.Source, timeline.Preempt, timeline.Evict, timeline.Evict, timeline.Patch, timeline.Preempted, timeline.Requeue,
		timeline.Permit, timeline.PreBind, timeline.Bind, timeline.Handle, timeline.Store)}
	if at.Name.OfKind() {
		at.Kind = "Pod"
	}
	if at.Name == timeline.Permit || at.Name == timeline.PreBind || at.Name == timeline.Bind {
		g.makeRoom()
	}
	if g.Chance(30) {
		g.add(timeline.Step{Fail: &timeline.Failure{Call: draw.Pick(g.Source, timeline.Evict, timeline.Patch, timeline.Bind), Times: 1, Error: "Timeout", Arrives: g.Chance(60)}})
	}
	g.add(timeline.Step{Hold: &at})
	g.createPreemptor()
	for range g.Intn(3) { // for example the first of two victims is deleted, or marked
		g.add(timeline.Step{Next: &at})
	}
	g.sometimesWait(40)
	g.takeover()
	if g.Chance(50) {
		g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(6)), 1+g.Intn(2))})
	}
	g.sometimesWait(40)
	g.letGo(at, timeline.Place{})
}

// takeover makes another scheduler take over, sometimes one that lists from an API server that is
// behind, and that learns of the rest at once or later.
func (g *generator) takeover() {
	s := timeline.Step{Takeover: true}
	if g.Chance(50) {
		s.Behind = map[string]int{}
		kind := draw.Pick(g.Source, "Pod", "Pod", "Pod", "Node")
		s.Behind[kind] = 1 + g.Intn(6)
		if g.Chance(15) {
			s.Behind["Pod"] = 1 + g.Intn(6)
		}
		if g.Chance(70) {
			g.holdOnce(timeline.Place{Name: timeline.Store, Kind: kind})
		}
	}
	g.add(s)
}

// outOfTouch lets things happen that the scheduler is not told of, until it lists anew.
func (g *generator) outOfTouch() {
	if g.Chance(50) {
		g.createPreemptor()
	}
	kind := draw.Pick(g.Source, "Pod", "Pod", "Pod", "Node")
	at := timeline.Place{Name: timeline.Store, Kind: kind}
	g.add(timeline.Step{Hold: &at})
	for range 1 + g.Intn(4) {
		if kind == "Node" && g.Chance(50) {
			g.changeNode()
			continue
		}
		switch draw.Weighted(g.Source, 30, 15, 15, 15, 15, 10) {
		case 0:
			g.makeRoom()
		case 1:
			g.createPreemptor()
		case 2:
			g.relabel(g.anyPod())
		case 3:
			g.add(timeline.Step{Delete: "Pod " + g.anyPod()})
		case 4:
			g.wait()
		case 5:
			g.recreate()
		}
	}
	other := timeline.Place{}
	if g.Chance(30) {
		other = draw.Pick(g.Source, timeline.Place{Name: timeline.Handle, Kind: kind}, timeline.Place{Name: timeline.Requeue}, timeline.Place{Name: timeline.Preempted})
		g.add(timeline.Step{Hold: &other})
	}
	g.add(timeline.Step{Relist: kind})
	g.letGo(at, other)
}

// standstill lets several things happen while the queue hands out no pod, and the scheduler be told
// of them before it goes on: some at once, some when the events of their kind are let go.
func (g *generator) standstill() {
	pop := timeline.Place{Name: timeline.Pop}
	g.holdOnce(pop)
	for _, kind := range []string{"Pod", "Node"} {
		if g.Chance(30) {
			g.holdOnce(timeline.Place{Name: draw.Pick(g.Source, timeline.Store, timeline.Handle), Kind: kind})
		}
	}
	for range 3 + g.Intn(4) {
		switch draw.Weighted(g.Source, 30, 15, 15, 25, 10, 5, 5, 5) {
		case 0:
			g.makeRoom()
		case 1:
			g.changeNode()
		case 2:
			g.createPreemptor()
		case 3:
			g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(7)), 1+g.Intn(2))})
		case 4:
			g.add(timeline.Step{Delete: "Pod " + g.anyPod()})
		case 5:
			g.nodeGoes()
		case 6:
			g.relabel(g.anyPod())
		case 7:
			g.tolerate(g.anyPod())
		}
	}
	for i := len(g.held) - 1; i >= 0; i-- {
		if p := g.held[i]; p.Name.OfKind() || p.Name == timeline.Stop {
			g.held = slices.Delete(g.held, i, i+1)
			g.add(timeline.Step{Release: &p})
		}
	}
	g.held = slices.DeleteFunc(g.held, func(p timeline.Place) bool { return p == pop })
	g.add(timeline.Step{Release: &pop})
}

// holdOnce holds a place, unless it is held already.
func (g *generator) holdOnce(p timeline.Place) {
	if !slices.Contains(g.held, p) {
		g.held = append(g.held, p)
		g.add(timeline.Step{Hold: &p})
	}
}

// makeRoom ends a pod of the start.
func (g *generator) makeRoom() {
	n := len(g.cluster.Pods)
	if n == 0 {
		return
	}
	name := model.Key(g.cluster.Pods[g.Intn(min(n, draw.MaxIntn))])
	g.add(timeline.Step{Delete: "Pod " + name})
	g.add(timeline.Step{End: name})
}

func (g *generator) sometimesWait(percent int) {
	if g.Chance(percent) {
		g.wait()
	}
}

// letGo ends two holds in either order, the second if it is one. Sometimes it leaves one to
// later steps.
func (g *generator) letGo(a, b timeline.Place) {
	all := []timeline.Place{a}
	switch {
	case b.Name == "":
	case g.Chance(50):
		all = append(all, b)
	default:
		all = []timeline.Place{b, a}
	}
	for i := range all {
		if i > 0 {
			g.sometimesWait(50)
			if g.Chance(10) {
				g.held = append(g.held, all[i])
				return
			}
		}
		g.add(timeline.Step{Release: &all[i]})
	}
	g.sometimesWait(50)
}

func (g *generator) relabel(pod string) {
	g.change("Pod "+pod, map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": draw.Pick(g.Source, "a", "b")}}})
}

// graceTime is longer than any grace period.
const graceTime = 31 * time.Second

const (
	taintKey  = "example.com/taint"
	finalizer = "example.com/hold"
)

// taint gives a node a taint, or takes it away.
func (g *generator) taint() {
	var taints []map[string]any // in JSON they come back as they are
	if g.Chance(65) {
		taints = []map[string]any{{"key": taintKey, "effect": v1.TaintEffectNoSchedule}}
	}
	g.change("Node "+g.nodes[g.Intn(len(g.nodes))], map[string]any{"spec": map[string]any{"taints": taints}})
}

// tolerate gives a pod a toleration of the taint.
func (g *generator) tolerate(pod string) {
	g.change("Pod "+pod, map[string]any{"spec": map[string]any{"tolerations": []map[string]any{{"key": taintKey, "operator": v1.TolerationOpExists}}}})
}
