package timelines

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Scenario is a small world of which all orders of events can be gone through: what there is at
// the start, what somebody does, and at which places everything waits until it is let go.
type Scenario struct {
	Name    string
	Cluster *model.Cluster
	// Events happen once each, in any order. Of a group, the next one can happen only when
	// those before it have: what is the same but for its name, or needs what was before.
	Events [][]timeline.Step
	Places []timeline.Place
}

// Orders visits the timelines of a scenario in which at most bound choices are made. A choice is
// the next event of a group, or that one thing goes on at a place. After the last choice nothing
// is held. Visit runs the timeline, and says how much came of its last choice: nothing means that
// nothing waited at the place, and so that it was no choice. It stops when visit fails.
//
// Each order is visited once. Orders of independent choices count as different.
func (s *Scenario) Orders(bound int, visit func(t *timeline.Timeline) (effects int, err error)) error {
	var holds []timeline.Step
	for _, p := range s.Places {
		holds = append(holds, timeline.Step{Hold: &p})
	}
	taken := make([]int, len(s.Events))
	var extend func(before []timeline.Step, left int) error
	try := func(before []timeline.Step, last timeline.Step, left int) error {
		all := append(slices.Clip(before), last)
		effects, err := visit(&timeline.Timeline{Cluster: s.Cluster, Steps: all})
		if err != nil || effects == 0 {
			return err
		}
		return extend(all, left-1)
	}
	extend = func(before []timeline.Step, left int) error {
		if left == 0 {
			return nil
		}
		for i, group := range s.Events {
			if taken[i] == len(group) {
				continue
			}
			taken[i]++
			err := try(before, group[taken[i]-1], left)
			taken[i]--
			if err != nil {
				return err
			}
		}
		for _, p := range s.Places {
			if err := try(before, timeline.Step{Next: &p}, left); err != nil {
				return err
			}
		}
		return nil
	}
	return extend(holds, bound)
}

// Scenarios are small worlds in which a preemption can go wrong: the victim ends by itself, a
// second preemptor comes, the preemptor goes, room becomes free elsewhere.
func Scenarios() []Scenario {
	places := []timeline.Place{
		{Name: timeline.Handle, Kind: "Pod"}, {Name: timeline.Requeue}, {Name: timeline.Preempt}, {Name: timeline.Evict}, {Name: timeline.Preempted},
	}
	create := func(name string, priority int32, cpus int) timeline.Step {
		return timeline.Step{Create: small(name, priority, cpus)}
	}
	world := func(nodes int) *model.Cluster {
		c := &model.Cluster{}
		for i := range nodes {
			c.Nodes = append(c.Nodes, node(i, 1))
			c.Pods = append(c.Pods, running(small(fmt.Sprintf("v%d", i), int32(i), 1), c.Nodes[i].Name))
		}
		return c
	}
	gone := timeline.Step{Delete: "Pod default/v0"}
	return []Scenario{
		{"the victim goes", world(1), [][]timeline.Step{{create("p", 10, 1)}, {gone}}, places},
		{"two preemptors", world(1), [][]timeline.Step{{create("p", 10, 1), create("q", 10, 1)}}, places},
		{"a more important preemptor", world(1), [][]timeline.Step{{create("p", 10, 1)}, {create("q", 20, 1)}}, places},
		{"the preemptor goes", world(1), [][]timeline.Step{{create("p", 10, 1), {Delete: "Pod default/p"}}, {create("o", 5, 1)}}, places},
		{"two nodes", world(2), [][]timeline.Step{{create("p", 10, 1)}, {{Delete: "Pod default/v1"}}}, places},
	}
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
