package main

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// World is a small world of which all orders of events can be gone through.
type World struct {
	Name    string
	Cluster *model.Cluster
	// Before comes first, and in no other order.
	Before []timeline.Step
	// Events happen once each, in any order. Of a group, the next one can happen only when those
	// before it have: what is the same but for its name, or needs what was before.
	Events [][]timeline.Step
	// Once are events of which at most one happens, at any time.
	Once []timeline.Step
	// Places are those at which everything waits until it is let go.
	Places []timeline.Place
}

// Worlds are small worlds in which a preemption can go wrong. In the first ones, few places are
// held, so that a choice goes far; in the others, all places are, from some point of a life on.
func Worlds() []World {
	few := []timeline.Place{
		{Name: timeline.Handle, Kind: "Pod"}, {Name: timeline.Requeue}, {Name: timeline.Preempt}, {Name: timeline.Evict}, {Name: timeline.Preempted},
	}
	var all []timeline.Place
	for _, name := range timeline.Places() {
		all = append(all, timeline.Place{Name: name})
	}
	steps := func(s ...timeline.Step) []timeline.Step { return s }
	gone := func(pod string) timeline.Step { return timeline.Step{Delete: "Pod default/" + pod} }
	// decided is where p has chosen its victims, and nothing has been done yet.
	decided := steps(timeline.Step{Hold: &timeline.Place{Name: timeline.Requeue}}, timeline.Step{Hold: &timeline.Place{Name: timeline.Preempt}}, create("p", 10, 1))
	return []World{
		{Name: "the victim goes", Cluster: cluster(1), Events: [][]timeline.Step{{create("p", 10, 1)}, {gone("v0")}}, Places: few},
		{Name: "two preemptors", Cluster: cluster(1), Events: [][]timeline.Step{{create("p", 10, 1), create("q", 10, 1)}}, Places: few},
		{Name: "a more important preemptor", Cluster: cluster(1), Events: [][]timeline.Step{{create("p", 10, 1)}, {create("q", 20, 1)}}, Places: few},
		{Name: "the preemptor goes", Cluster: cluster(1), Events: [][]timeline.Step{{create("p", 10, 1), gone("p")}, {create("o", 5, 1)}}, Places: few},
		{Name: "two nodes", Cluster: cluster(2), Events: [][]timeline.Step{{create("p", 10, 1)}, {gone("v1")}}, Places: few},

		{Name: "from the first event", Cluster: cluster(1), Events: [][]timeline.Step{{create("p", 10, 1)}, {gone("v0")}}, Places: all},
		{Name: "from the decision", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{gone("v0")}, {gone("p"), create("p", 10, 1)}}, Places: all},
		{Name: "two victims", Cluster: twoVictims(), Before: slices.Concat(decided[:2], steps(create("p", 10, 2))), Events: [][]timeline.Step{{gone("v0")}, {gone("v1")}}, Places: all},
		{Name: "a call fails", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{gone("v0")}}, Once: failures(timeline.Patch, timeline.Evict), Places: all},
		{Name: "a takeover", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{gone("v0")}}, Once: steps(timeline.Step{Takeover: true}), Places: all},
		{Name: "a new list", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{gone("v0")}}, Once: steps(timeline.Step{Relist: "Pod"}), Places: all},
		{Name: "time passes", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{gone("v0")}, {{Wait: 11 * time.Second}}}, Places: all},
		{Name: "the node goes", Cluster: cluster(2), Before: decided, Events: [][]timeline.Step{{{Delete: "Node node-0"}}, {gone("v1")}}, Places: all},
		{Name: "another preemptor", Cluster: cluster(1), Before: decided, Events: [][]timeline.Step{{create("q", 20, 1)}}, Places: all},
		{Name: "a budget", Cluster: budgeted(), Events: [][]timeline.Step{{create("p", 10, 1)}, {{
			Change: "PodDisruptionBudget default/budget", With: []byte(`{"status": {"disruptionsAllowed": 1}}`),
		}, {Delete: "PodDisruptionBudget default/budget"}}}, Places: all},
		{Name: "a victim in Permit", Cluster: empty(1), Before: onItsWay(timeline.Permit), Events: [][]timeline.Step{{gone("w")}}, Places: all},
		{Name: "a victim in PreBind", Cluster: empty(1), Before: onItsWay(timeline.PreBind), Events: [][]timeline.Step{{gone("w")}}, Places: all},
		{Name: "a binding fails", Cluster: empty(1), Before: onItsWay(timeline.Bind), Once: append(failures(timeline.Bind), timeline.Step{Takeover: true}), Places: all},
	}
}

// failures are the ways in which the next of some calls fails: before it took effect, or after.
func failures(calls ...timeline.PlaceName) (all []timeline.Step) {
	for _, call := range calls {
		for _, arrives := range []bool{false, true} {
			all = append(all, timeline.Step{Fail: &timeline.Failure{Call: call, Error: "InternalError", Arrives: arrives}})
		}
	}
	return all
}

// onItsWay is where a pod w is on its way to the only node, at a place, as p has been popped, which
// is to preempt it.
func onItsWay(place timeline.PlaceName) []timeline.Step {
	return []timeline.Step{
		{Hold: &timeline.Place{Name: place, Pod: "default/w"}}, create("w", 0, 1),
		{Hold: &timeline.Place{Name: timeline.Filter}}, create("p", 10, 1),
	}
}

func create(name string, priority int32, cpus int) timeline.Step {
	return timeline.Step{Create: small(name, priority, cpus)}
}

// cluster has nodes of one CPU, each with a pod. The first node's is the least important.
func cluster(nodes int) *model.Cluster {
	c := empty(nodes)
	for i, n := range c.Nodes {
		c.Pods = append(c.Pods, running(small(fmt.Sprintf("v%d", i), int32(i), 1), n.Name))
	}
	return c
}

func empty(nodes int) *model.Cluster {
	c := &model.Cluster{}
	for i := range nodes {
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("node-%d", i), 1))
	}
	return c
}

// twoVictims has one node with two pods, of which the first is the less important.
func twoVictims() *model.Cluster {
	c := &model.Cluster{Nodes: []*v1.Node{node("node-0", 2)}}
	for i := range 2 {
		c.Pods = append(c.Pods, running(small(fmt.Sprintf("v%d", i), int32(i), 1), "node-0"))
	}
	return c
}

// budgeted has two nodes. A budget allows no disruption of the less important pod.
func budgeted() *model.Cluster {
	c := cluster(2)
	c.Pods[0].Labels = map[string]string{"app": "a"}
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "budget"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: c.Pods[0].Labels}},
	}}
	return c
}

func node(name string, cpus int64) *v1.Node {
	resources := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), v1.ResourcePods: resource.MustParse("20")}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: resources, Capacity: resources.DeepCopy()}}
}

func small(name string, priority int32, cpus int) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: v1.PodSpec{
			Priority: &priority, SchedulerName: model.DefaultSchedulerName, TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI),
			}}}},
		},
	}
}

func running(p *v1.Pod, node string) *v1.Pod {
	p.Spec.NodeName, p.Status.Phase = node, v1.PodRunning
	p.Status.StartTime = new(metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))
	return p
}

// admit gives all objects of the world the values that the API server fills in.
func (w *World) admit() error {
	return apiserver.Timeline(&timeline.Timeline{Cluster: w.Cluster, Steps: slices.Concat(append(w.Events, w.Before, w.Once)...)})
}

// timeline is the world in which some choices are made. After the last one nothing is held any
// more, place by place, so that what goes on then does not depend on the order of what waits.
func (w *World) timeline(choices []timeline.Step) (t *timeline.Timeline, last int) {
	steps := slices.Clone(w.Before)
	for _, p := range w.Places {
		steps = append(steps, timeline.Step{Hold: &p})
	}
	steps = append(steps, choices...)
	last = len(steps) - 1
	for _, s := range steps[:len(steps)-len(choices)] {
		if s.Hold != nil && !slices.Contains(w.Places, *s.Hold) {
			steps = append(steps, timeline.Step{Release: s.Hold})
		}
	}
	for _, p := range w.Places {
		steps = append(steps, timeline.Step{Release: &p})
	}
	return &timeline.Timeline{Cluster: w.Cluster, Steps: steps}, last
}
