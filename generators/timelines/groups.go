package timelines

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// groupsPercent is in how many of 100 timelines there are pod groups.
const groupsPercent = 25

// skippedPercent is in how many of 100 timelines with pod groups the last one is skipped when it is its turn.
const skippedPercent = 15

// grouper puts pod groups into a timeline that was drawn without. Its steps are about them, and come to those of
// the timeline.
type grouper struct {
	*generator
	// pinned are feature gates that are not drawn.
	pinned map[string]bool
	// running are groups of pods that run at the start.
	running []*group
	root    *schedulingv1alpha3.CompositePodGroup
	groups  int // how many there are
}

// group is a pod group and its pods.
type group struct {
	*schedulingv1beta1.PodGroup
	members []*v1.Pod
	// came are the members that were created so far, and exists tells whether the group was, or is there at the start.
	came   []*v1.Pod
	exists bool
}

// key is the group as timeline.Place.Pod names it.
func (g *group) key() string { return model.PodGroupKey(g.Namespace, g.Name) }

// drawGroups draws pod groups, or none. It comes last, and has a source of its own: a timeline without groups is
// as it was before there were any.
func (g *generator) drawGroups(last draw.Source, gates map[string]bool) {
	on, pinned := gates[model.GateWorkload]
	if pinned && !on || !pinned && !last.Chance(groupsPercent) {
		return
	}
	own := *g
	own.Source, own.steps, own.held = last, nil, nil
	h := &grouper{generator: &own, pinned: gates}
	h.set(model.GateWorkload, true)
	h.forgetSpread(g.steps)
	h.drawRunning()
	base := h.some(g.steps)
	for range 1 + draw.Weighted(last, 65, 35) {
		h.situation()
	}
	if h.root != nil && len(h.running) > 1 { // what is of several groups and pending is not run
		base = slices.DeleteFunc(base, h.replacesMember)
		own.steps = slices.DeleteFunc(own.steps, h.replacesMember)
	}
	all := h.mixed(base, own.steps)
	if last.Chance(skippedPercent) {
		own.steps = nil
		h.skipped()
		all = append(all, own.steps...)
	}
	*g = own
	g.steps = all
}

// set sets a feature gate.
func (h *grouper) set(gate string, on bool) {
	if h.cluster.Settings.FeatureGates == nil {
		h.cluster.Settings.FeatureGates = map[string]bool{}
	}
	h.cluster.Settings.FeatureGates[gate] = on
}

// forgetSpread leaves no pod that has to be spread: where pods of several nodes go at once, kube-scheduler draws which
// domain it compares with (docs/pod-groups.md, number 12).
func (h *grouper) forgetSpread(steps []timeline.Step) {
	h.spread = false
	for _, p := range h.cluster.Pods {
		p.Spec.TopologySpreadConstraints = nil
	}
	for i := range steps {
		if p := steps[i].CreatedPod(); p != nil {
			p.Spec.TopologySpreadConstraints = nil
		}
	}
}

// some are the steps of the timeline that stay: all, the first ones, or none.
func (h *grouper) some(steps []timeline.Step) []timeline.Step {
	n := len(steps)
	switch draw.Weighted(h.Source, 50, 25, 25) {
	case 1:
		n = min(n, 4+h.Intn(12))
	case 2:
		n = 0
	}
	steps = slices.Clone(steps[:n])
	if h.Chance(30) {
		return steps
	}
	var held []timeline.Place
	for _, s := range steps {
		switch {
		case s.Hold != nil:
			held = append(held, *s.Hold)
		case s.Release != nil:
			held = slices.DeleteFunc(held, func(p timeline.Place) bool { return p == *s.Release })
		}
	}
	for i := range held {
		steps = append(steps, timeline.Step{Release: &held[i]})
	}
	return steps
}

// mixed are two lists of steps as one, each in its order: one after the other, or one among the other.
func (h *grouper) mixed(base, own []timeline.Step) (all []timeline.Step) {
	if h.Chance(55) {
		return append(base, own...)
	}
	for len(base)+len(own) > 0 {
		from := &base
		if len(base) == 0 || len(own) > 0 && h.Chance(50) {
			from = &own
		}
		n := 1 + h.Intn(min(len(*from), 4))
		all, *from = append(all, (*from)[:n]...), (*from)[n:]
	}
	return all
}

// newGroup draws a group of a priority that waits, or that runs.
func (h *grouper) newGroup(priority *int32, size int) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g" + strconv.Itoa(h.groups), Namespace: metav1.NamespaceDefault}}
	h.groups++
	g.Spec.Priority = priority
	switch draw.Weighted(h.Source, 50, 30, 20) {
	case 0:
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	case 1:
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	}
	g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	if h.Chance(75) {
		few := size
		switch draw.Weighted(h.Source, 55, 33, 12) {
		case 1:
			few = 1 + h.Intn(size)
		case 2:
			few = size + 1
		}
		g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(few)}}
	}
	return g
}

// join makes a pod a member.
func (g *group) join(p *v1.Pod) {
	p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g.Name}
	g.members = append(g.members, p)
}

// drawRunning makes groups of pods that run at the start. Their priority is that of the pods, or another one.
func (h *grouper) drawRunning() {
	left := slices.Clone(h.cluster.Pods)
	for range draw.Weighted(h.Source, 15, 55, 30) {
		size := 1 + draw.Weighted(h.Source, 15, 45, 40)
		if len(left) < size {
			break
		}
		g := &group{PodGroup: h.newGroup(new(int32(h.Intn(4))), size)}
		for range size {
			i := h.Intn(min(len(left), draw.MaxIntn))
			g.join(left[i])
			left = slices.Delete(left, i, i+1)
		}
		h.sameAs(g)
		if h.Chance(10) {
			g.Spec.Priority = nil
		}
		g.came = g.members
		switch draw.Weighted(h.Source, 82, 10, 8) {
		case 0:
			g.exists = true
			h.cluster.Extra = append(h.cluster.Extra, g.PodGroup)
		case 1:
			g.exists = true
			h.add(timeline.Step{Create: g.PodGroup})
		}
		h.running = append(h.running, g)
	}
	h.drawRoot()
}

// sameAs gives members the priority of their group, mostly, and what else members have in common.
func (h *grouper) sameAs(g *group) {
	same := h.Chance(60)
	for _, p := range g.members {
		if same {
			p.Spec.Priority = g.Spec.Priority
		}
		p.Spec.SchedulerName, p.Spec.PreemptionPolicy, p.Spec.PriorityClassName = model.DefaultSchedulerName, nil, ""
	}
}

// drawRoot puts the groups that run into a composite one, in some timelines.
func (h *grouper) drawRoot() {
	on, pinned := h.pinned[model.GateComposite]
	if len(h.running) == 0 || pinned && !on || !pinned && !h.Chance(15) {
		return
	}
	h.set(model.GateComposite, true)
	h.set(model.GateTopology, true)
	h.root = &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: "root", Namespace: metav1.NamespaceDefault}}
	spec := &h.root.Spec
	spec.Priority = h.running[0].Spec.Priority
	spec.SchedulingPolicy.Basic = &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}
	spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "workload", TemplateName: h.root.Name}
	spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
	if h.Chance(35) {
		spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{Single: &schedulingv1alpha3.SingleCompositeDisruptionMode{}}
	}
	for _, g := range h.running {
		g.Spec.ParentCompositePodGroupName, g.Spec.Priority = &h.root.Name, spec.Priority
		g.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "workload", TemplateName: g.Name}
	}
	h.cluster.Extra = append(h.cluster.Extra, h.root)
}

// replacesMember tells whether a step has a controller make pods of groups that run.
func (h *grouper) replacesMember(s timeline.Step) bool {
	return s.Replace != nil && slices.ContainsFunc(h.running, func(g *group) bool {
		return slices.ContainsFunc(g.members, func(p *v1.Pod) bool { return model.Key(p) == s.Replace.Pod })
	})
}

// drawGang draws a group whose pods are still to come.
func (h *grouper) drawGang() *group {
	size := 1 + draw.Weighted(h.Source, 12, 45, 28, 15)
	g := &group{PodGroup: h.newGroup(new(int32(4+h.Intn(5))), size)}
	cpus, never, bound := 1+draw.Weighted(h.Source, 80, 20), h.Chance(6), h.Chance(20)
	for range size {
		p := h.pod("m", *g.Spec.Priority, cpus)
		p.Spec.SchedulerName, p.Spec.PreemptionPolicy, p.Spec.PriorityClassName = model.DefaultSchedulerName, nil, ""
		if never {
			p.Spec.PreemptionPolicy = new(v1.PreemptNever)
		}
		if bound && h.Chance(60) {
			p.Spec.NodeSelector = map[string]string{v1.LabelHostname: h.nodes[h.Intn(len(h.nodes))]}
		}
		if h.gates && h.Chance(25) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
		}
		g.join(p)
	}
	if h.Chance(6) { // which fails
		g.members[0].Spec.Priority = new(*g.Spec.Priority - 1)
	}
	h.drawPolicy(g)
	return g
}

// drawPolicy has a group say itself whether it preempts others, in some timelines, as its pods say.
func (h *grouper) drawPolicy(g *group) {
	on, drawn := h.cluster.Settings.FeatureGates[podgroup.GatePolicy]
	if !drawn {
		var pinned bool
		if on, pinned = h.pinned[podgroup.GatePolicy]; !pinned {
			on = h.Chance(10)
		}
		if on {
			h.set(podgroup.GatePolicy, on)
		}
	}
	if !on {
		return
	}
	policy := schedulingv1beta1.PreemptLowerPriority
	if g.members[0].Spec.PreemptionPolicy != nil {
		policy = schedulingv1beta1.PreemptNever
	}
	g.Spec.PreemptionPolicy = &policy
	for _, p := range g.members {
		p.Spec.PreemptionPolicy = new(v1.PreemptionPolicy(policy))
	}
}
