package timelines

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// crowd brings several preemptions, and a pod on its way to a node, into different states at once,
// each on a node of its own: one whose victim terminates, one that has marked its victim, one that
// is decided on, one that is assumed. Then other pods come to some of the places, and go on while
// all this lasts; or the scheduler dies in the midst of it.
func (g *generator) crowd() {
	for i := range g.held { // or nothing comes about
		g.add(timeline.Step{Release: &g.held[i]})
	}
	g.held = nil
	if g.takeovers && g.Chance(50) || g.Chance(35) {
		g.takeover()
		for i := range g.held {
			g.add(timeline.Step{Release: &g.held[i]})
		}
		g.held = nil
	}
	// A pod that terminates, and one that is nominated to its node.
	var going *v1.Pod
	if g.Chance(80) {
		going = g.crowded(30)
		g.hold1(timeline.Place{Name: timeline.Stop, Pod: model.Key(going)})
		g.add(timeline.Step{Create: g.beside(going, 9)})
	}
	// A pod that is assumed.
	var assumed timeline.Place
	if g.Chance(80) {
		w := g.beside(g.vacant(), 8)
		assumed = timeline.Place{Name: draw.Pick(g.Source, timeline.Permit, timeline.Permit, timeline.PreBind, timeline.PreBind, timeline.PreBound, timeline.PreBound, timeline.Bind), Pod: model.Key(w)}
		g.hold1(assumed)
		g.add(timeline.Step{Create: w})
	}
	// A victim that is marked, by a preemption that goes on.
	var marked timeline.Place
	if g.Chance(80) {
		victim := g.crowded(draw.Pick(g.Source, int64(0), 30))
		marked = timeline.Place{Name: timeline.Evict, Pod: model.Key(victim)}
		g.hold1(marked)
		if g.Chance(25) {
			g.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Evict, Pod: model.Key(victim), Times: 1,
				Error: draw.Pick(g.Source, "InternalError", "Timeout", "Conflict"), Arrives: g.Chance(70)}})
		}
		g.add(timeline.Step{Create: g.beside(victim, 9)})
	}
	// A preemption that is decided on.
	var begins timeline.Place
	if g.Chance(80) {
		p := g.beside(g.crowded(0), 9)
		begins = timeline.Place{Name: timeline.Preempt, Pod: model.Key(p)}
		g.hold1(begins)
		g.add(timeline.Step{Create: p})
	}
	for range 1 + g.Intn(3) {
		g.comesBy()
	}
	if g.takeovers && g.Chance(60) {
		g.takeover()
	}
	last := []timeline.Place{assumed, marked, begins}
	if going != nil {
		stop := timeline.Place{Name: timeline.Stop, Pod: model.Key(going)}
		if g.Chance(50) {
			g.add(timeline.Step{Wait: graceTime})
		}
		last = append(last, stop)
	}
	for n := len(last); n > 0; n-- {
		i := g.Intn(n)
		if at := last[i]; at.Name != "" {
			g.add(timeline.Step{Release: &at})
		}
		last[i] = last[n-1]
		last = last[:n-1]
	}
}

// comesBy lets a pod come to a place, and go on there.
func (g *generator) comesBy() {
	name := draw.Pick(g.Source, timeline.Pop, timeline.Filter, timeline.Preempt, timeline.Preempted, timeline.Permit, timeline.PreBind, timeline.PreBound, timeline.Unreserve,
		timeline.Unreserve, timeline.Unreserve, timeline.Record, timeline.Patch, timeline.Evict, timeline.Bind, timeline.Start, timeline.Start, timeline.Stop, timeline.Store, timeline.Handle)
	var p *v1.Pod
	at := timeline.Place{Name: name}
	switch name {
	case timeline.Preempt, timeline.Preempted, timeline.Evict, timeline.Stop:
		victim := g.crowded(0)
		p = g.beside(victim, 9)
		at.Pod = model.Key(p)
		if name == timeline.Evict || name == timeline.Stop {
			at.Pod = model.Key(victim)
		}
	case timeline.Record, timeline.Patch:
		p = g.beside(g.crowded(0), 0) // it fits nowhere
		at.Pod = model.Key(p)
	default:
		p = g.beside(g.vacant(), int32(g.Intn(10)))
		switch {
		case name.OfKind():
			at.Kind = "Pod"
		case name != timeline.Pop:
			at.Pod = model.Key(p)
		}
	}
	if name == timeline.Unreserve {
		g.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Bind, Pod: model.Key(p), Times: 1, Error: "Conflict"}})
	}
	if (name == timeline.Patch || name == timeline.Bind) && g.Chance(45) {
		g.add(timeline.Step{Fail: &timeline.Failure{Call: name, Pod: model.Key(p), Times: 1, Error: draw.Pick(g.Source, "Conflict", "InternalError"), Arrives: true}})
	}
	g.hold1(at)
	g.add(timeline.Step{Create: p})
	if g.Chance(20) {
		g.add(timeline.Step{Delete: "Pod " + model.Key(p)})
	}
	g.add(timeline.Step{Release: &at})
}

func (g *generator) hold1(p timeline.Place) { g.add(timeline.Step{Hold: &p}) }

// vacant is a new node of one CPU, as a pod that says so.
func (g *generator) vacant() *v1.Pod {
	n := g.node(1)
	g.cluster.Nodes = append(g.cluster.Nodes, n)
	return &v1.Pod{Spec: v1.PodSpec{NodeName: n.Name}}
}

// crowded is a pod that fills a new node of one CPU.
func (g *generator) crowded(grace int64) *v1.Pod {
	p := g.pod("v", 0, 1)
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds, p.Finalizers = g.vacant().Spec.NodeName, &grace, nil
	p.Status.Phase, p.Status.StartTime = v1.PodRunning, new(metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))
	g.cluster.Pods = append(g.cluster.Pods, p)
	return p
}

// beside is a pod that goes to the node of another one, and to no other.
func (g *generator) beside(other *v1.Pod, priority int32) *v1.Pod {
	p := g.pod("c", priority, 1)
	p.Spec.NodeSelector = map[string]string{v1.LabelHostname: other.Spec.NodeName}
	p.Spec.SchedulerName, p.Spec.PreemptionPolicy, p.Finalizers = model.DefaultSchedulerName, nil, nil
	p.Spec.Containers[0].Ports, p.Spec.Affinity, p.Spec.TopologySpreadConstraints = nil, nil, nil
	return p
}
