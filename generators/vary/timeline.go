package vary

import (
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Timeline is base with one to four changes, in its steps, its times, or what there is at the start or comes later. It
// expects nothing, and shares no objects with base or donor, of which a step may be. Some have decoys besides.
func Timeline(s draw.Source, base, donor *timeline.Timeline) *timeline.Timeline {
	v := varying(s, base.Cluster, base.Cluster)
	v.live = true
	steps := alone(base.Steps, v.Cluster.Objects())
	for i := range steps {
		if p := steps[i].CreatedPod(); p != nil && !slices.Contains(v.Pods, p) && !slices.Contains(v.later, p) {
			v.later = append(v.later, p)
		}
	}
	for range 1 + draw.Weighted(s, 50, 25, 15, 10) {
		if v.Chance(45) || len(steps) == 0 {
			v.change()
		} else {
			steps = v.changeSteps(steps, donor)
		}
	}
	if v.Chance(25) {
		var nodes []*v1.Node
		for i := range steps {
			if n, is := steps[i].Create.(*v1.Node); is && !slices.Contains(v.Nodes, n) && !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
		addDecoys(v.Cluster, v.later, nodes)
	}
	return &timeline.Timeline{Cluster: v.Cluster, Steps: steps}
}

// alone are copies of steps, without those that only expect something. An object that is created more than once, or that
// there is already, stays one.
func alone(steps []timeline.Step, there []runtime.Object) (copies []timeline.Step) {
	there = slices.Clip(there)
	for _, s := range steps {
		if s.Expect != nil {
			continue
		}
		if s.Create != nil {
			at := slices.IndexFunc(there, func(o runtime.Object) bool { return same(o, s.Create) })
			if at < 0 {
				at, there = len(there), append(there, s.Create.DeepCopyObject())
			}
			s.Create = there[at]
		}
		copies = append(copies, s)
	}
	return copies
}

// same tells whether two objects are of one kind and name.
func same(a, b runtime.Object) bool {
	one, is := a.(metav1.Object)
	other, too := b.(metav1.Object)
	return is && too && reflect.TypeOf(a) == reflect.TypeOf(b) && one.GetNamespace() == other.GetNamespace() && one.GetName() == other.GetName()
}

// changeSteps leaves out a step, moves one, has one be of another length, or adds one.
func (v *varied) changeSteps(steps []timeline.Step, donor *timeline.Timeline) []timeline.Step {
	at := v.Intn(len(steps))
	switch draw.Weighted(v.Source, 30, 20, 20, 15, 15) {
	case 0:
		return slices.Delete(steps, at, at+1)
	case 1:
		moved := steps[at]
		steps = slices.Delete(steps, at, at+1)
		return slices.Insert(steps, v.Intn(len(steps)+1), moved)
	case 2:
		for i := range steps {
			if s := &steps[(at+i)%len(steps)]; s.Wait > 0 {
				s.Wait = min(draw.Pick(v.Source, s.Wait*2, s.Wait/2+1, s.Wait+11*time.Second, 6*time.Minute), timeline.MaxWait)
				break
			}
		}
		return steps
	case 3:
		return slices.Insert(steps, at, timeline.Step{Wait: draw.Pick(v.Source, time.Second, 100*time.Millisecond, 11*time.Second, 6*time.Minute)})
	}
	if other := alone(donor.Steps, nil); len(other) > 0 {
		if added := one(v, other); v.addable(added, steps) {
			return slices.Insert(steps, at, added)
		}
	}
	return steps
}

// addable tells whether a step of one timeline can be one of another one: it depends on no object that may be missing, and
// makes none of a name that is taken. (A step that is about an object that is not there does nothing.)
func (v *varied) addable(s timeline.Step, steps []timeline.Step) bool {
	taken := func(o runtime.Object) bool { return same(o, s.Create) }
	if slices.ContainsFunc(v.Cluster.Objects(), taken) || slices.ContainsFunc(steps, func(other timeline.Step) bool { return other.Create != nil && taken(other.Create) }) {
		return false
	}
	switch o := s.Create.(type) {
	case nil:
		return !strings.Contains(string(s.With), `"requests"`) // a pod may only ask for more or less of what it asks for
	case *v1.Node:
		return true
	case *v1.Pod:
		return !tied(o) && len(o.Spec.Volumes) == 0 && o.Spec.SchedulingGroup == nil && o.Spec.PriorityClassName == ""
	}
	return false
}
