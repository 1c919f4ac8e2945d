package lanes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// state is how a pod, or a group, stands for some time.
type state struct{ class, text string }

// drawing follows a trace, and draws the lanes.
type drawing struct {
	*view
	life *lifetime.Life
	// now and since are how each pod and group stands, and from which place on; done are its states before.
	now   map[string]state
	since map[string]int
	done  map[string][]bar
	order []string // as they come up
	tried map[string]bool
	begun map[string]int // preemptions that go on, by whom they are for
	// cycleOf is the group whose cycle is on, and cycleEnds the entry at which it is over.
	cycleOf   string
	cycleEnds int
	lanes     map[string]*lane
	queue     *lane

	pods     map[string]*v1.Pod
	on       map[string]string // the node of each pod
	nodes    map[string]*v1.Node
	names    []string // of nodes
	resource v1.ResourceName
	room     map[string][]bar
	roomFrom map[string]int
}

func newDrawing(l *lifetime.Life, v *view) *drawing {
	d := &drawing{
		view: v, life: l, now: map[string]state{}, since: map[string]int{}, done: map[string][]bar{}, tried: map[string]bool{}, begun: map[string]int{},
		lanes: map[string]*lane{}, pods: map[string]*v1.Pod{}, on: map[string]string{}, nodes: map[string]*v1.Node{}, resource: v1.ResourceCPU,
		room: map[string][]bar{}, roomFrom: map[string]int{}, cycleEnds: -1,
	}
	for _, kind := range []string{"cluster", "told", "cycle", "preemption", "call"} {
		d.lanes[kind] = &lane{Kind: kind, Name: map[string]string{"cluster": "cluster", "told": "told late", "cycle": "cycles", "preemption": "preemptions", "call": "API calls"}[kind]}
	}
	for _, n := range l.Timeline.Cluster.Nodes {
		d.addNode(n, 0)
	}
	for _, p := range l.Timeline.Cluster.Pods {
		d.addPod(p, 0)
	}
	return d
}

func (d *drawing) addNode(n *v1.Node, x int) {
	if d.nodes[n.Name] == nil {
		d.names = append(d.names, n.Name)
	}
	d.nodes[n.Name], d.roomFrom[n.Name] = n, x
}

// addPod lets a pod begin.
func (d *drawing) addPod(p *v1.Pod, x int) {
	key := model.Key(p)
	d.pods[key] = p
	switch {
	case p.Spec.NodeName == "":
		d.set(key, x, state{"queued", "pending"})
	case p.DeletionTimestamp != nil:
		d.set(key, x, state{"terminating", "terminates on " + p.Spec.NodeName})
	default:
		d.set(key, x, state{"bound", "on " + p.Spec.NodeName})
	}
	d.move(key, p.Spec.NodeName, x)
}

// set ends the state of a pod, and begins another one; "" is none.
func (d *drawing) set(key string, x int, s state) {
	was, there := d.now[key]
	if !there {
		d.order = append(d.order, key)
	}
	if from := d.since[key]; there && was.class != "" && x > from {
		b := bar{X: from, W: x - from, H: laneHeight - 8, Y: 4, Class: "st " + was.class, Text: was.text, Title: key + "\n" + was.text}
		d.done[key] = append(d.done[key], b)
		if was.class == "cycle" {
			b.Text = key
			d.lanes["cycle"].Bars = append(d.lanes["cycle"].Bars, b)
		}
	}
	d.now[key], d.since[key] = s, x
}

// move puts a pod on a node, or on none.
func (d *drawing) move(key, node string, x int) {
	if was := d.on[key]; was != node {
		d.endRoom(was, x)
		d.endRoom(node, x)
		d.on[key] = node
	}
}

// endRoom draws the room of a node up to here.
func (d *drawing) endRoom(name string, x int) {
	n := d.nodes[name]
	if n == nil || x <= d.roomFrom[name] {
		return
	}
	used, pods := 0.0, []string{}
	for _, key := range d.order {
		if p := d.pods[key]; p != nil && d.on[key] == name {
			q := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})[d.resource]
			used += q.AsApproximateFloat64()
			pods = append(pods, key)
		}
	}
	q := n.Status.Allocatable[d.resource]
	room := q.AsApproximateFloat64()
	share := 0.0
	if room > 0 {
		share = min(1, max(0, used/room))
	}
	height := int(share * (laneHeight - 6))
	from := d.roomFrom[name]
	text := fmt.Sprintf("%g of %g %s", used, room, d.resource)
	class := "room"
	if used > room {
		class = "room over"
	}
	d.room[name] = append(d.room[name],
		bar{X: from, W: x - from, Y: 3, H: laneHeight - 6, Class: "free"},
		bar{X: from, W: x - from, Y: laneHeight - 3 - height, H: height, Class: class, Text: text, Title: name + "\n" + text + " requested\n" + cmp.Or(words.Some(pods, 10), "no pods")})
	d.roomFrom[name] = x
}

// draw goes through the moments.
func (d *drawing) draw() {
	for i, m := range d.Moments {
		at := d.Told[i].Entry
		if at < 0 {
			continue
		}
		if at > d.cycleEnds {
			d.endCycle(d.Moments[max(0, i-1)].X)
		}
		d.entry(at, m)
		if at == d.cycleEnds {
			d.endCycle(m.X)
		}
	}
	end := d.Width - slot
	for _, key := range d.order {
		d.set(key, end, state{})
	}
	for _, name := range d.names {
		d.endRoom(name, end)
	}
	for who, from := range d.begun {
		d.lanes["preemption"].Bars = append(d.lanes["preemption"].Bars, preemptionBar(who, from, end))
	}
	d.queue = queueLane(d.life, d.view)
	d.stack()
}

// name is that of a pod or a group.
func name(e *timeline.Entry) string { return strings.TrimPrefix(e.Object, "Pod ") }

func (d *drawing) entry(at int, m moment) {
	e, kind := &d.life.Trace.Entries[at], m.Kind
	sign := map[timeline.What]string{
		timeline.Created: "+", timeline.Updated: "~", timeline.Removed: "−", timeline.Deleting: "†", timeline.Started: "▸", timeline.Decided: "✕", timeline.TakenOver: "↻", timeline.Relisted: "↻",
	}[e.What]
	if kind == "call" {
		sign = map[timeline.PlaceName]string{timeline.Patch: "P", timeline.Evict: "D", timeline.Bind: "B"}[e.Call]
	}
	if sign == "" || e.What == timeline.Decided && len(e.Victims) == 0 {
		sign = "•"
	}
	class := "ev " + kind
	if e.Error != "" {
		class += " failed"
	}
	if kind != "cycle" && kind != "preemption" || e.What == timeline.Decided {
		d.lanes[kind].Marks = append(d.lanes[kind].Marks, mark{m.X, class, sign, m.Text + "\n" + m.At})
	}
	key, x := name(e), m.X
	if e.Error != "" && e.What != timeline.Called {
		return
	}
	switch e.What {
	case timeline.Created:
		switch o := e.Is.(type) {
		case *v1.Pod:
			d.addPod(o, x)
		case *v1.Node:
			d.addNode(o, x)
		}
	case timeline.Removed:
		if e.Pod() != "" {
			d.move(key, "", x)
			d.set(key, x, state{})
		}
		if node, ok := strings.CutPrefix(e.Object, "Node "); ok {
			d.endRoom(node, x)
			delete(d.nodes, node)
		}
	case timeline.Deleting:
		d.set(key, x, state{"terminating", "terminates"})
	case timeline.Popped:
		d.tried[key] = true
		d.set(key, x, state{"cycle", "its cycle"})
		if e.Pod() == "" {
			d.cycleOf = key
			d.cycleEnds = groupCycleEnd(d.life.Trace.Entries, at)
		}
	case timeline.Fits:
		d.set(key, x, state{"binding", "is bound to " + e.Node})
	case timeline.Requeued:
		d.set(key, x, queued(e))
	case timeline.Begins:
		d.begun[key] = x
	case timeline.Ends:
		if from, ok := d.begun[key]; ok {
			d.lanes["preemption"].Bars = append(d.lanes["preemption"].Bars, preemptionBar(key, from, x))
			delete(d.begun, key)
		}
	case timeline.Called:
		if node := e.BindsTo(); node != "" && e.Error == "" {
			d.set(key, x, state{"bound", "on " + node})
			d.move(key, node, x)
		}
	}
}

// endCycle ends the cycle of a group that is on, if one is.
func (d *drawing) endCycle(x int) {
	if d.cycleEnds >= 0 {
		d.set(d.cycleOf, x, state{})
		d.cycleEnds = -1
	}
}

// groupCycleEnd is the last entry of the cycle of a group that is popped at an entry: the trace tells of each
// member what comes of it, and not of the group. It is -1 if there is none.
func groupCycleEnd(entries []timeline.Entry, popped int) int {
	group, end := entries[popped].Preemptor(), -1
	bound := map[string]bool{} // what comes of them after that is no part of the cycle
	for i := popped + 1; i < len(entries); i++ {
		e := &entries[i]
		if e.What == timeline.TakenOver || e.What == timeline.Popped && e.Group == "" {
			break
		}
		if e.Group != group || bound[e.Pod()] {
			continue
		}
		switch e.What {
		case timeline.Fits:
			bound[e.Pod()], end = true, i
		case timeline.Requeued:
			end = i
		}
	}
	return end
}

func preemptionBar(who string, from, to int) bar {
	return bar{X: from, W: max(to-from, 6), Y: 4, H: laneHeight - 8, Class: "st preempting", Text: who, Title: who + "\nits victims are being preempted"}
}

// queued is where a pod waits after its cycle.
func queued(e *timeline.Entry) state {
	switch {
	case e.Gated:
		return state{"gated", "kept out of the queue"}
	case e.Queue == model.QueueUnschedulable:
		return state{"unschedulable", "waits for an event"}
	case e.Queue == model.QueueBackoff:
		return state{"backoff", "backoff"}
	case e.Queue == "":
		return state{"gated", "in no queue"}
	}
	return state{"queued", "queue " + string(e.Queue)}
}

// stack puts the lanes below one another: the queue, the others of the scheduler, the pods that are tried, other pods, nodes.
func (d *drawing) stack() {
	if d.queue != nil {
		d.Lanes = append(d.Lanes, *d.queue)
	}
	for _, kind := range []string{"cluster", "told", "cycle", "preemption", "call"} {
		if l := d.lanes[kind]; len(l.Bars)+len(l.Marks) > 0 {
			d.Lanes = append(d.Lanes, *l)
		}
	}
	pods := slices.Clone(d.order)
	slices.SortStableFunc(pods, func(a, b string) int { return rank(d.tried[a]) - rank(d.tried[b]) })
	shown := pods[:min(len(pods), MaxLanes)]
	d.leaveOut(len(pods)-len(shown), "pod")
	for _, key := range shown {
		d.Lanes = append(d.Lanes, lane{Name: key, Kind: "pod", Bars: d.done[key]})
	}
	nodes := d.names[:min(len(d.names), MaxLanes)]
	d.leaveOut(len(d.names)-len(nodes), "node")
	for _, n := range nodes {
		d.Lanes = append(d.Lanes, lane{Name: n, Kind: "ofnode", Bars: d.room[n]})
	}
	for i := range d.Lanes {
		l := &d.Lanes[i]
		l.Y, l.H = d.Height, max(l.H, laneHeight)
		d.Height += l.H
	}
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
