// Package timelines draws timelines: small clusters in which several pods want to preempt,
// and what happens to them step by step.
//
// Each timeline draws first which kinds of events it has at all, as rare ones would hardly
// meet otherwise (swarm testing, Groce et al., ISSTA 2012).
package timelines

import (
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
	return rapid.Custom(func(t *rapid.T) *timeline.Timeline { return generate(draw.FromRapid(t), nil) })
}

// FromSeed returns the timeline of that number: the same on every machine.
func FromSeed(seed uint64) *timeline.Timeline { return FromSeedWith(seed, nil) }

// FromSeedWith is FromSeed with some feature gates of pod groups that are not drawn: with model.GateWorkload on
// all timelines have groups, and with model.GateComposite on composite ones; off, none has. Other gates are drawn.
func FromSeedWith(seed uint64, gates map[string]bool) *timeline.Timeline {
	return generate(draw.FromSeed(seed), gates)
}

// Ungrouped is FromSeed without pod groups, for schedulers that do not know them.
func Ungrouped(seed uint64) *timeline.Timeline {
	return FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
}

// features are the kinds of events that a timeline has.
type features struct {
	holds, stepwise, skew, failures, takeovers, nodeChanges, nodesGo, budgets, binding, gates, changes,
	finalizers, shortGrace, secondProfile, sync, asyncCalls, ports, waitsBackoff, recreates,
	onTheWay, races, overtakes, taints, never, relists, controllers, fewPods, foreign, longWaits, longGrace, meets, crowds,
	affinity, spread, resizes, touches, classes, selectors, amounts bool
}

func drawFeatures(s draw.Source) features {
	return features{
		holds: s.Chance(75), stepwise: s.Chance(35), skew: s.Chance(60), failures: s.Chance(25), takeovers: s.Chance(16),
		nodeChanges: s.Chance(25), nodesGo: s.Chance(25), budgets: s.Chance(25), binding: s.Chance(20), gates: s.Chance(15),
		changes: s.Chance(20), finalizers: s.Chance(15), shortGrace: s.Chance(60), secondProfile: s.Chance(10),
		sync: s.Chance(10), asyncCalls: s.Chance(10), ports: s.Chance(15),
		waitsBackoff: s.Chance(20), recreates: s.Chance(25),
		onTheWay: s.Chance(40), races: s.Chance(35), overtakes: s.Chance(25), taints: s.Chance(15), never: s.Chance(15),
		relists: s.Chance(28), controllers: s.Chance(25), fewPods: s.Chance(12), foreign: s.Chance(10), longWaits: s.Chance(15), longGrace: s.Chance(12), meets: s.Chance(30), crowds: s.Chance(25),
		affinity: s.Chance(8), spread: s.Chance(8), resizes: s.Chance(12), touches: s.Chance(10), classes: s.Chance(12), selectors: s.Chance(9), amounts: s.Chance(9),
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
	gone    []*v1.Node // nodes to come back under their names
	// resource is what pods ask for besides CPU, if they do.
	resource v1.ResourceName
}

func generate(s draw.Source, gates map[string]bool) *timeline.Timeline {
	last := draw.Apart(s, 0)
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
	if g.amounts {
		g.resource = draw.Pick(s, v1.ResourceMemory, v1.ResourceEphemeralStorage, "example.com/gpu")
	}
	for range 1 + draw.Weighted(s, 45, 30, 15, 10) {
		g.addNode()
	}
	if g.budgets {
		g.cluster.PodDisruptionBudgets = append(g.cluster.PodDisruptionBudgets, budget(s.Intn(3)))
	}
	if g.classes {
		g.cluster.PriorityClasses = append(g.cluster.PriorityClasses, class())
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
	if g.Chance(40) { // after all else, as what it ends in can be foretold best
		g.standstill()
	}
	g.drawGroups(last, gates)
	return &timeline.Timeline{Cluster: g.cluster, Steps: g.steps}
}

func (g *generator) add(s timeline.Step) { g.steps = append(g.steps, s) }

// addNode adds a node to the start, with pods that fill it, or nearly.
func (g *generator) addNode() {
	cpus := 1 + g.Intn(4)
	n := g.node(cpus)
	g.cluster.Nodes = append(g.cluster.Nodes, n)
	ported, there := false, 0
	for left := cpus; left > 0; {
		size := 1 + g.Intn(left)
		left -= size
		if g.Chance(15) {
			continue
		}
		p := g.pod("v", int32(g.Intn(4)), size)
		if ported {
			p.Spec.Containers[0].Ports = nil // a kubelet does not run a second pod of one host port
		}
		ported = ported || len(p.Spec.Containers[0].Ports) > 0
		g.picky(p)
		g.settleOn(p, n)
		p.Status.Phase = v1.PodRunning
		start := metav1.NewTime(time.Date(2024, 1, 1, 0, g.Intn(4), 0, 0, time.UTC))
		p.Status.StartTime = &start
		g.cluster.Pods = append(g.cluster.Pods, p)
		there++
	}
	if g.fewPods {
		n.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(int64(max(1, there+g.Intn(2))), resource.DecimalSI)
	}
}

// node is a further node.
func (g *generator) node(cpus int) *v1.Node {
	name := fmt.Sprintf("node-%d", len(g.nodes))
	g.nodes = append(g.nodes, name)
	resources := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), v1.ResourcePods: resource.MustParse("20")}
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Allocatable: resources, Capacity: resources.DeepCopy()},
	}
	g.furnish(n)
	return n
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
	if g.foreign && g.Chance(25) {
		p.Spec.SchedulerName = "other" // one that is not there
	}
	if g.shortGrace {
		grace := draw.Pick(g.Source, int64(0), 0, 1, 10)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	if g.longGrace && g.Chance(30) {
		grace := draw.Pick(g.Source, int64(60), 400) // longer than till the flush
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	if g.never && g.Chance(30) {
		never := v1.PreemptNever
		p.Spec.PreemptionPolicy = &never
	}
	if g.finalizers && g.Chance(35) {
		p.Finalizers = []string{finalizer}
	}
	if g.classes && priority == class().Value {
		p.Spec.PriorityClassName = class().Name
	}
	g.related(p)
	if g.ports && g.Chance(40) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: v1.ProtocolTCP}}
	}
	return p
}

func (g *generator) createPreemptor() {
	p := g.preemptor()
	g.picky(p)
	g.add(timeline.Step{Create: p})
}

func (g *generator) preemptor() *v1.Pod {
	p := g.pod("p", int32(4+g.Intn(3)), 1+g.Intn(3))
	if g.gates && g.Chance(30) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	return p
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
