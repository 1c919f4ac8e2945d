package timelines

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// situation is what happens to groups, several steps at once.
func (h *grouper) situation() {
	situations := []struct {
		weight int
		has    bool
		draw   func()
	}{
		{16, true, h.arrives},
		{14, true, h.callsFail},
		{20, true, h.halfWay},
		{12, true, h.triesAgain},
		{12, len(h.running) > 0, h.preemptedTwice},
		{8, true, h.diesWithGroup},
		{8, true, h.groupUnknown},
		{10, true, h.competes},
		{6, true, h.runAgain},
		{30, len(h.running) > 0, h.goesInPart},
	}
	var weights, which []int
	for i, s := range situations {
		if s.has {
			weights, which = append(weights, s.weight), append(which, i)
		}
	}
	situations[which[draw.Weighted(h.Source, weights...)]].draw()
}

// comes creates a group and the first of its pods, in some order, or has the group be there from the start. The other
// pods are late: they are what is returned. Few groups never exist.
func (h *grouper) comes(g *group, late int) []*v1.Pod {
	late = min(late, len(g.members)-1)
	early, after := g.members[:len(g.members)-late], g.members[len(g.members)-late:]
	create := func() { h.add(timeline.Step{Create: g.PodGroup}) }
	g.exists, g.came = true, early
	at := -1
	switch draw.Weighted(h.Source, 50, 18, 27, 5) {
	case 0:
		h.cluster.Extra = append(h.cluster.Extra, g.PodGroup)
	case 1:
		create()
	case 2: // after some of its pods, or all
		at = h.Intn(len(early))
	case 3:
		g.exists = false
	}
	for i, p := range early {
		h.add(timeline.Step{Create: p})
		if i < len(early)-1 || at == i {
			h.sometimesWait(15)
		}
		if at == i {
			create()
		}
	}
	return after
}

// lateComers are how many members come late.
func (h *grouper) lateComers() int { return draw.Weighted(h.Source, 65, 25, 10) }

// rest creates the members that are late.
func (h *grouper) rest(g *group, late []*v1.Pod) {
	for _, p := range late {
		h.sometimesWait(60)
		h.add(timeline.Step{Create: p})
		g.came = append(g.came, p)
	}
}

// arrives lets a group wait for the last of its pods, or for more room, while others come and go.
func (h *grouper) arrives() {
	g := h.drawGang()
	late := h.comes(g, 1+h.Intn(2))
	h.sometimesWait(50)
	for range h.Intn(4) {
		h.comeAndGo(g)
	}
	h.rest(g, late)
	h.sometimesWait(70)
	if h.Chance(40) {
		h.comeAndGo(g)
	}
}

// comeAndGo is one thing that others do while a group waits.
func (h *grouper) comeAndGo(g *group) {
	switch draw.Weighted(h.Source, 22, 20, 12, 10, 8, 8, 10, 10) {
	case 0:
		h.add(timeline.Step{Create: h.pod("o", int32(h.Intn(9)), 1+h.Intn(2))})
	case 1:
		h.makeRoom()
	case 2:
		h.add(timeline.Step{Delete: "Pod " + h.member(g)})
	case 3:
		h.changeNode()
	case 4:
		h.relabel(h.member(g))
	case 5:
		h.changeMinCount(g)
	case 6:
		h.wait()
	case 7: // another member
		if g.Spec.ParentCompositePodGroupName != nil && len(h.running) > 1 {
			return
		}
		p := g.members[0].DeepCopy()
		p.Name, p.Spec.NodeName, p.Status = h.pod("m", 0, 1).Name, "", v1.PodStatus{}
		g.members, g.came = append(g.members, p), append(g.came, p)
		h.add(timeline.Step{Create: p})
	}
}

// member is one of the members that came.
func (h *grouper) member(g *group) string { return model.Key(g.came[h.Intn(len(g.came))]) }

// changeMinCount changes of how many of its pods a gang needs: "This field is mutable to support workload scaling"
// (scheduling/v1beta1/types.go:446@v0.37.1).
func (h *grouper) changeMinCount(g *group) {
	if g.Spec.SchedulingPolicy.Gang == nil || !g.exists {
		return
	}
	h.change("PodGroup "+model.Key(g.PodGroup), map[string]any{"spec": map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": 1 + h.Intn(len(g.members)+1)}}}})
}

// callsFail lets calls of a group's preemption or of its pods' binding fail, more often in the middle than at the
// beginning.
func (h *grouper) callsFail() {
	g, late := h.drawGang(), timeline.Place{}
	for range 1 + h.Intn(2) {
		f := timeline.Failure{Call: draw.Pick(h.Source, timeline.Evict, timeline.Evict, timeline.Patch, timeline.Bind), Times: draw.Pick(h.Source, 1, 1, 2, 4),
			Error: draw.Pick(h.Source, "InternalError", "Timeout", "Conflict"), Arrives: h.Chance(25)}
		switch {
		case f.Call == timeline.Bind || f.Call == timeline.Patch && h.Chance(50):
			f.Pod = model.Key(g.members[h.Intn(len(g.members))])
		case len(h.running) > 0 && h.Chance(60):
			f.Pod = h.aRunning()
		case h.Chance(50):
			f.Pod = h.aVictim()
		}
		h.add(timeline.Step{Fail: &f})
		if f.Call == timeline.Evict && h.Chance(35) { // it fails once the group is back from its cycle
			late = timeline.Place{Name: timeline.Evict, Pod: f.Pod}
		}
	}
	if late.Name != "" {
		h.add(timeline.Step{Hold: &late})
	}
	for range 1 + h.Intn(3) {
		if h.Chance(50) {
			h.makeRoom()
		}
	}
	h.rest(g, h.comes(g, h.lateComers()))
	h.sometimesWait(80)
	if late.Name != "" {
		h.letGo(late, timeline.Place{})
	}
}

// aRunning is a pod of a group that runs.
func (h *grouper) aRunning() string {
	g := h.running[h.Intn(len(h.running))]
	return model.Key(g.members[h.Intn(len(g.members))])
}

// aVictim is a pod of the start.
func (h *grouper) aVictim() string {
	if n := len(h.cluster.Pods); n > 0 {
		return model.Key(h.cluster.Pods[h.Intn(min(n, draw.MaxIntn))])
	}
	return h.anyPod()
}

// stops is a place at which something of a group can stop.
func (h *grouper) stops(g *group) timeline.Place {
	p := timeline.Place{Name: draw.Pick(h.Source, timeline.Preempt, timeline.Preempt, timeline.Preempted, timeline.Evict, timeline.Evict, timeline.Stop, timeline.Stop, timeline.Requeue, timeline.Filter,
		timeline.Patch, timeline.Permit, timeline.PreBind, timeline.PreBound, timeline.Bind, timeline.Unreserve, timeline.Record, timeline.Start, timeline.Store, timeline.Handle, timeline.Pop)}
	switch p.Name {
	case timeline.Preempt, timeline.Preempted:
		p.Pod = g.key()
	case timeline.Store, timeline.Handle:
		p.Kind = draw.Pick(h.Source, "Pod", "PodGroup")
	case timeline.Evict, timeline.Stop, timeline.Pop, timeline.Record:
	case timeline.Unreserve:
		h.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Bind, Pod: model.Key(g.members[0]), Times: 1, Error: "Conflict"}})
	default:
		if h.Chance(60) {
			p.Pod = model.Key(g.members[h.Intn(len(g.members))])
		}
	}
	return p
}

// halfWay stops a group at some place of its cycle, its preemption or its binding, lets something happen to it or to
// others, and lets it go on.
func (h *grouper) halfWay() {
	g := h.drawGang()
	at, other := h.stops(g), timeline.Place{}
	if slices.Contains([]timeline.PlaceName{timeline.Permit, timeline.PreBind, timeline.PreBound, timeline.Bind, timeline.Unreserve, timeline.Start}, at.Name) {
		for range 1 + h.Intn(3) {
			h.makeRoom()
		}
	}
	h.hold1(at)
	if h.Chance(35) {
		if other = h.stops(g); other == at {
			other = timeline.Place{}
		} else {
			h.hold1(other)
		}
	}
	late := h.comes(g, h.lateComers())
	h.sometimesWait(40)
	for range h.Intn(3) {
		h.add(timeline.Step{Next: &at})
	}
	for range 1 + h.Intn(2) {
		if h.Chance(40) {
			h.add(timeline.Step{Delete: "Pod " + h.member(g)})
		} else {
			h.comeAndGo(g)
		}
	}
	if h.Chance(30) {
		h.aside()
	}
	if len(late) > 0 && h.Chance(50) {
		h.rest(g, late)
		late = nil
	}
	h.letGo(at, other)
	h.rest(g, late)
	h.sometimesWait(60)
}

// triesAgain lets a group preempt, and be tried again before its victims are gone.
func (h *grouper) triesAgain() {
	g := h.drawGang()
	stop := timeline.Place{Name: timeline.Stop}
	h.hold1(stop)
	late := h.comes(g, h.lateComers())
	h.sometimesWait(50)
	for range 1 + h.Intn(3) {
		h.comeAndGo(g)
		h.sometimesWait(50)
	}
	h.aside()
	h.rest(g, late)
	for range h.Intn(3) {
		h.add(timeline.Step{Next: &stop})
	}
	h.sometimesWait(40)
	h.add(timeline.Step{Release: &stop})
	h.sometimesWait(60)
}

// preemptedTwice lets a group that runs be preempted, come back, and be preempted again.
func (h *grouper) preemptedTwice() {
	g := h.running[h.Intn(len(h.running))]
	for _, p := range g.members {
		h.add(timeline.Step{Replace: &timeline.Replacement{Pod: model.Key(p), After: draw.Pick(h.Source, 0, time.Second, 11*time.Second), Times: draw.Pick(h.Source, 1, 2, 2, 4)}})
	}
	first := h.comesForIt(g)
	h.add(timeline.Step{Wait: graceTime})
	for _, p := range first {
		h.add(timeline.Step{Delete: "Pod " + model.Key(p)})
	}
	h.add(timeline.Step{Wait: graceTime})
	h.sometimesWait(50)
	h.comesForIt(g)
	h.sometimesWait(70)
}

// comesForIt creates a pod, or a group, that takes the room of one of a running group's pods. It returns what came.
func (h *grouper) comesForIt(g *group) []*v1.Pod {
	if h.Chance(35) {
		other := h.drawGang()
		h.comes(other, 0)
		return other.members
	}
	p := h.beside(g.members[h.Intn(len(g.members))], 9)
	h.add(timeline.Step{Create: p})
	return []*v1.Pod{p}
}

// goesInPart lets something go wrong while a group that runs is preempted: a call fails, a pod of it is deleted, or one
// comes.
func (h *grouper) goesInPart() {
	g := h.running[h.Intn(len(h.running))]
	at := timeline.Place{Name: draw.Pick(h.Source, timeline.Evict, timeline.Evict, timeline.Evict, timeline.Patch, timeline.Preempt, timeline.Preempted, timeline.Stop, timeline.Handle)}
	if at.Name == timeline.Handle {
		at.Kind = "Pod"
	}
	if h.Chance(75) {
		pod := model.Key(g.members[h.Intn(len(g.members))])
		h.add(timeline.Step{Fail: &timeline.Failure{Call: draw.Pick(h.Source, timeline.Evict, timeline.Evict, timeline.Evict, timeline.Evict, timeline.Patch), Pod: pod, Times: draw.Pick(h.Source, 1, 1, 2, 4),
			Error: draw.Pick(h.Source, "InternalError", "Timeout", "Conflict"), Arrives: h.Chance(25)}})
	}
	hold := h.Chance(75)
	if hold {
		h.hold1(at)
	}
	h.comesForIt(g)
	if hold {
		if at.Name == timeline.Evict && h.Chance(60) { // one is evicted, and what is evicted next is not
			h.add(timeline.Step{Next: &at})
			h.add(timeline.Step{Fail: &timeline.Failure{Call: timeline.Evict, Times: draw.Pick(h.Source, 1, 2), Error: draw.Pick(h.Source, "InternalError", "Timeout", "Conflict")}})
		}
		for range h.Intn(3) {
			h.add(timeline.Step{Next: &at})
		}
		switch draw.Weighted(h.Source, 25, 15, 20, 20, 20) {
		case 0:
			h.add(timeline.Step{Delete: "Pod " + h.aRunning()})
		case 1:
			h.add(timeline.Step{End: h.aRunning()})
		case 2:
			h.comesForIt(g)
		case 3:
			h.comeAndGo(g)
		}
		h.letGo(at, timeline.Place{})
	}
	h.sometimesWait(70)
}

// diesWithGroup lets the scheduler die while a group preempts, or is bound.
func (h *grouper) diesWithGroup() {
	g := h.drawGang()
	at := h.stops(g)
	h.hold1(at)
	late := h.comes(g, h.lateComers())
	for range h.Intn(3) {
		h.add(timeline.Step{Next: &at})
	}
	h.sometimesWait(40)
	h.takeover()
	for i := range h.held {
		h.add(timeline.Step{Release: &h.held[i]})
	}
	h.held = nil
	h.rest(g, late)
	h.letGo(at, timeline.Place{})
	h.sometimesWait(50)
}

// groupUnknown lets the scheduler learn late of a group, or of its pods, or only by a new list.
func (h *grouper) groupUnknown() {
	g := h.drawGang()
	at := timeline.Place{Name: draw.Pick(h.Source, timeline.Store, timeline.Store, timeline.Handle), Kind: draw.Pick(h.Source, "PodGroup", "PodGroup", "Pod")}
	if h.root != nil && h.Chance(20) {
		at.Kind = "CompositePodGroup"
	}
	h.hold1(at)
	late := h.comes(g, h.lateComers())
	for range h.Intn(3) {
		h.comeAndGo(g)
	}
	if h.Chance(40) {
		h.add(timeline.Step{Relist: at.Kind})
	}
	h.sometimesWait(50)
	h.add(timeline.Step{Release: &at})
	h.rest(g, late)
	h.sometimesWait(60)
}

// competes lets a pod or another group come for the same room while the victims of a group terminate.
func (h *grouper) competes() {
	g := h.drawGang()
	stop := timeline.Place{Name: draw.Pick(h.Source, timeline.Stop, timeline.Stop, timeline.Preempt, timeline.Evict)}
	h.hold1(stop)
	late := h.comes(g, h.lateComers())
	h.sometimesWait(40)
	switch draw.Weighted(h.Source, 50, 30, 20) {
	case 0:
		h.comes(h.drawGang(), 0)
	case 1:
		h.add(timeline.Step{Create: h.pod("q", int32(7+h.Intn(3)), 1+h.Intn(3))})
	case 2:
		h.add(timeline.Step{Create: h.pod("o", int32(h.Intn(6)), 1+h.Intn(2))})
	}
	h.aside()
	h.rest(g, late)
	h.sometimesWait(50)
	h.add(timeline.Step{Release: &stop})
	h.sometimesWait(60)
}

// aside lets other pods come to places, and go on there, on nodes of their own, mostly ones that groups do not go to.
func (h *grouper) aside() {
	nodes, steps := len(h.cluster.Nodes), len(h.steps)
	for range 2 + h.Intn(4) {
		h.comesBy()
	}
	if h.Chance(70) { // to where comesBy stops nobody
		p := h.beside(h.crowded(0), 9)
		at := timeline.Place{Name: draw.Pick(h.Source, timeline.Requeue, timeline.Preempted), Pod: model.Key(p)}
		h.hold1(at)
		h.add(timeline.Step{Create: p})
		h.add(timeline.Step{Release: &at})
	}
	if h.Chance(20) {
		return
	}
	for _, n := range h.cluster.Nodes[nodes:] {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "example.com/aside", Effect: v1.TaintEffectNoSchedule})
	}
	for i := range h.steps[steps:] {
		if p := h.steps[steps+i].CreatedPod(); p != nil {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "example.com/aside", Operator: v1.TolerationOpExists})
		}
	}
}

// runAgain deletes all pods of a group, and then the group, as its protection lets nobody do before
// (pkg/controller/scheduling/podgroupprotection), and creates them anew.
func (h *grouper) runAgain() {
	g := h.drawGang()
	h.comes(g, 0)
	h.sometimesWait(70)
	for _, p := range g.members {
		h.add(timeline.Step{Delete: "Pod " + model.Key(p)})
		h.add(timeline.Step{End: model.Key(p)})
	}
	h.sometimesWait(50)
	if g.exists {
		h.add(timeline.Step{Delete: "PodGroup " + model.Key(g.PodGroup)})
		h.sometimesWait(30)
	}
	h.add(timeline.Step{Create: g.PodGroup})
	h.sometimesWait(20)
	for _, p := range g.members {
		h.add(timeline.Step{Create: p})
	}
	h.sometimesWait(60)
}
