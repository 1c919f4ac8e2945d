// Package timelines draws timelines: small clusters in which several pods want to preempt,
// and what happens to them step by step.
//
// Each timeline draws first which kinds of events it has at all, as rare ones would hardly
// meet otherwise (swarm testing, Groce et al., ISSTA 2012).
package timelines

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Timeline draws a timeline. It is not admitted yet.
func Timeline() *rapid.Generator[*timeline.Timeline] {
	return rapid.Custom(func(t *rapid.T) *timeline.Timeline { return generate(draw.FromRapid(t)) })
}

// FromSeed returns the timeline of that number: the same on every machine.
func FromSeed(seed uint64) *timeline.Timeline { return generate(draw.FromSeed(seed)) }

// features are the kinds of events that a timeline has.
type features struct {
	holds, stepwise, skew, failures, takeovers, nodeChanges, nodesGo, budgets, binding, gates, changes,
	finalizers, shortGrace, secondProfile, sync, asyncCalls, ports, waitsBackoff, recreates bool
}

func drawFeatures(s draw.Source) features {
	return features{
		holds: s.Chance(75), stepwise: s.Chance(35), skew: s.Chance(60), failures: s.Chance(25), takeovers: s.Chance(12),
		nodeChanges: s.Chance(25), nodesGo: s.Chance(15), budgets: s.Chance(25), binding: s.Chance(20), gates: s.Chance(15),
		changes: s.Chance(20), finalizers: s.Chance(10), shortGrace: s.Chance(60), secondProfile: s.Chance(10),
		sync: s.Chance(10), asyncCalls: s.Chance(10), ports: s.Chance(15),
		waitsBackoff: s.Chance(20), recreates: s.Chance(25),
	}
}

// generator draws one timeline.
type generator struct {
	draw.Source
	features
	cluster *model.Cluster
	steps   []timeline.Step
	nodes   []string
	pods    []string // names of all pods that are or were there
	held    []timeline.Place
	made    int
}

func generate(s draw.Source) *timeline.Timeline {
	g := &generator{Source: s, features: drawFeatures(s), cluster: &model.Cluster{Pods: []*v1.Pod{}}}
	if g.sync || g.asyncCalls || g.waitsBackoff {
		g.cluster.Settings.FeatureGates = map[string]bool{}
	}
	if g.sync {
		g.cluster.Settings.FeatureGates["SchedulerAsyncPreemption"] = false
	}
	if g.asyncCalls {
		g.cluster.Settings.FeatureGates["SchedulerAsyncAPICalls"] = true
	}
	if g.waitsBackoff {
		g.cluster.Settings.FeatureGates["SchedulerPopFromBackoffQ"] = false
	}
	if g.secondProfile {
		g.cluster.Settings.SecondProfile = &model.Profile{SchedulerName: "second"}
	}
	for range 1 + draw.Weighted(s, 45, 30, 15, 10) {
		g.addNode()
	}
	if g.budgets {
		g.cluster.PodDisruptionBudgets = append(g.cluster.PodDisruptionBudgets, budget(s.Intn(3)))
	}
	if g.stepwise {
		g.holdMany()
	}
	count := 5 + s.Intn(20)
	if g.stepwise {
		count += 20 + s.Intn(30)
	}
	g.createPreemptor()
	for len(g.steps) < count {
		g.step()
	}
	return &timeline.Timeline{Cluster: g.cluster, Steps: g.steps}
}

func (g *generator) add(s timeline.Step) { g.steps = append(g.steps, s) }

// addNode adds a node to the start, with pods that fill it, or nearly.
func (g *generator) addNode() {
	cpus := 1 + g.Intn(4)
	n := node(len(g.nodes), cpus)
	g.nodes = append(g.nodes, n.Name)
	g.cluster.Nodes = append(g.cluster.Nodes, n)
	for left := cpus; left > 0; {
		size := 1 + g.Intn(left)
		left -= size
		if g.Chance(15) {
			continue
		}
		p := g.pod("v", int32(g.Intn(4)), size)
		p.Spec.NodeName = n.Name
		p.Status.Phase = v1.PodRunning
		start := metav1.NewTime(time.Date(2024, 1, 1, 0, g.Intn(4), 0, 0, time.UTC))
		p.Status.StartTime = &start
		g.cluster.Pods = append(g.cluster.Pods, p)
	}
}

func node(i, cpus int) *v1.Node {
	name := fmt.Sprintf("node-%d", i)
	resources := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), v1.ResourcePods: resource.MustParse("20")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Allocatable: resources, Capacity: resources},
	}
}

// pod is a pod of the namespace default.
func (g *generator) pod(prefix string, priority int32, cpus int) *v1.Pod {
	name := prefix + strconv.Itoa(g.made)
	g.made++
	g.pods = append(g.pods, "default/"+name)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": draw.Pick(g.Source, "a", "b")}},
		Spec: v1.PodSpec{
			Priority: &priority, SchedulerName: model.DefaultSchedulerName,
			Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI),
			}}}},
		},
	}
	if g.secondProfile && g.Chance(40) {
		p.Spec.SchedulerName = "second"
	}
	if g.shortGrace {
		grace := draw.Pick(g.Source, int64(0), 0, 1, 10)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	if g.finalizers && g.Chance(25) {
		p.Finalizers = []string{"example.com/hold"}
	}
	if g.ports && g.Chance(40) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: v1.ProtocolTCP}}
	}
	return p
}

func (g *generator) createPreemptor() {
	p := g.pod("p", int32(4+g.Intn(3)), 1+g.Intn(3))
	if g.gates && g.Chance(30) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	g.add(timeline.Step{Create: p})
}

// recreate deletes a pod that was created, and creates it again under its name, as the
// controller of a StatefulSet does.
func (g *generator) recreate() {
	var created []*v1.Pod
	for i := range g.steps {
		if p := g.steps[i].CreatedPod(); p != nil {
			created = append(created, p)
		}
	}
	p := created[g.Intn(min(len(created), draw.MaxIntn))]
	name := model.Key(p)
	g.add(timeline.Step{Delete: "Pod " + name})
	g.add(timeline.Step{End: name})
	g.add(timeline.Step{Create: p})
}

func budget(allowed int) *policyv1.PodDisruptionBudget {
	available := intstr.FromInt32(1)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "budget"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &available, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(allowed)},
	}
}

// steps are the kinds of steps, and how often each is drawn where the timeline has it.
var steps = []struct {
	weight int
	has    func(g *generator) bool
	draw   func(g *generator)
}{
	{20, func(*generator) bool { return true }, (*generator).wait},
	{12, func(g *generator) bool { return g.made < 14 }, (*generator).createPreemptor},
	{6, func(g *generator) bool { return g.made < 14 }, func(g *generator) {
		g.add(timeline.Step{Create: g.pod("o", int32(g.Intn(4)), 1+g.Intn(2))})
	}},
	{8, func(g *generator) bool { return g.recreates }, (*generator).recreate},
	{14, func(*generator) bool { return true }, func(g *generator) { g.add(timeline.Step{Delete: "Pod " + g.anyPod()}) }},
	{8, func(*generator) bool { return true }, func(g *generator) { g.add(timeline.Step{End: g.anyPod()}) }},
	{25, func(g *generator) bool { return g.holds }, (*generator).hold},
	{25, func(g *generator) bool { return len(g.held) > 0 }, (*generator).release},
	{150, func(g *generator) bool { return g.stepwise && len(g.held) > 0 }, (*generator).next},
	{10, func(g *generator) bool { return g.failures }, (*generator).fail},
	{4, func(g *generator) bool { return g.takeovers }, func(g *generator) { g.add(timeline.Step{Takeover: true}) }},
	{12, func(g *generator) bool { return g.nodeChanges }, (*generator).changeNode},
	{6, func(g *generator) bool { return g.nodesGo }, (*generator).nodeGoes},
	{8, func(g *generator) bool { return g.budgets }, func(g *generator) {
		g.change("PodDisruptionBudget default/budget", map[string]any{"status": map[string]any{"disruptionsAllowed": g.Intn(3)}})
	}},
	{10, func(g *generator) bool { return g.gates }, func(g *generator) {
		g.change("Pod "+g.anyPod(), map[string]any{"spec": map[string]any{"schedulingGates": nil}})
	}},
	{10, func(g *generator) bool { return g.changes }, func(g *generator) {
		g.change("Pod "+g.anyPod(), map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": draw.Pick(g.Source, "a", "b")}}})
	}},
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
		return timeline.Place{Name: draw.Pick(g.Source, timeline.Store, timeline.Handle), Kind: draw.Pick(g.Source, "Pod", "Pod", "Pod", "Node")}
	}
	names := []timeline.PlaceName{timeline.Preempt, timeline.Requeue, timeline.Filter, timeline.Evict, timeline.Patch, timeline.Preempted, timeline.Pop, timeline.Stop}
	if g.binding {
		names = append(names, timeline.Bind, timeline.PreBind, timeline.Bind, timeline.PreBind, timeline.Start)
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

func (g *generator) changeNode() {
	name := "Node " + g.nodes[g.Intn(len(g.nodes))]
	if g.Chance(50) {
		g.change(name, map[string]any{"spec": map[string]any{"unschedulable": draw.Pick(g.Source, true, false)}})
		return
	}
	cpus := strconv.Itoa(1 + g.Intn(5))
	g.change(name, map[string]any{"status": map[string]any{"allocatable": map[string]any{"cpu": cpus}, "capacity": map[string]any{"cpu": cpus}}})
}

// nodeGoes deletes a node, and the pods on it as the garbage collector does, or makes a node.
func (g *generator) nodeGoes() {
	if len(g.nodes) < 6 && g.Chance(50) {
		n := node(len(g.nodes), 1+g.Intn(4))
		g.nodes = append(g.nodes, n.Name)
		g.add(timeline.Step{Create: n})
		return
	}
	name := g.nodes[g.Intn(len(g.nodes))]
	g.add(timeline.Step{Delete: "Node " + name})
	for _, p := range g.cluster.Pods {
		if p.Spec.NodeName == name {
			g.add(timeline.Step{Delete: "Pod " + model.Key(p)})
			g.add(timeline.Step{End: model.Key(p)})
		}
	}
}
