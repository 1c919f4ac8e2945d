package minimize

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
)

// number is one of the numbers in an object, which may be a copy to set it in.
type number struct {
	field string
	text  string // as it is written
	value int64
	unit  int64 // the distance of plain numbers
	set   func(v int64)
}

// scale is the numbers of one sort in a cluster: what matters of them is mostly
// their order.
type scale struct {
	name        string
	unit, first int64 // first is the lowest of the plain numbers
	of          func(o runtime.Object) []number
	values      []int64  // distinct, ascending
	places      []string // the objects with a number, in order
}

// newScale is the scale of the numbers that of finds.
func newScale(c *model.Cluster, name string, unit, first int64, of func(o runtime.Object) []number) *scale {
	s := &scale{name: name, unit: unit, first: first, of: of}
	for _, o := range c.Objects() {
		for _, n := range of(o) {
			if i, there := slices.BinarySearch(s.values, n.value); !there {
				s.values = slices.Insert(s.values, i, n.value)
			}
			if len(s.places) == 0 || s.places[len(s.places)-1] != title(o) {
				s.places = append(s.places, title(o))
			}
		}
	}
	return s
}

// step puts other numbers in their places.
func (s *scale) step(what string, to func(place string, v int64) int64) step {
	return step{what, func(c *model.Cluster) *model.Cluster {
		return edit(c, func(_ int, o runtime.Object) (changed bool) {
			for _, n := range s.of(o) {
				if v := to(title(o), n.value); v != n.value {
					n.set(v)
					changed = true
				}
			}
			return changed
		})
	}}
}

// steps make the numbers of a scale plain and few: first all at once, then one
// value, then one place. Each makes numbers smaller, or brings them closer to
// first. Gaps are halved, so that a number that matters by itself is found in few
// steps.
func (s *scale) steps() []step {
	var steps []step
	everywhere := func(what string, to func(v int64) int64) {
		steps = append(steps, s.step(s.name+": "+what, func(_ string, v int64) int64 { return to(v) }))
	}
	everywhere("numbered in their order", func(v int64) int64 { return s.first + s.unit*int64(slices.Index(s.values, v)) })
	for i, v := range s.values {
		lower := s.first
		if i > 0 {
			lower = s.values[i-1]
			everywhere(fmt.Sprintf("%s like %s", s.text(v), s.text(lower)), func(w int64) int64 {
				if w == v {
					return lower
				}
				return w
			})
			lower += s.unit
		}
		for gap := v - lower; gap != 0; gap = gap / 2 / s.unit * s.unit {
			everywhere(fmt.Sprintf("%s and above down to %s", s.text(v), s.text(v-gap)), func(w int64) int64 {
				if w >= v {
					return w - gap
				}
				return w
			})
		}
	}
	for _, place := range s.places {
		steps = append(steps, s.step(fmt.Sprintf("%s: the next lower of the %s", place, s.name), func(at string, v int64) int64 {
			if i := slices.Index(s.values, v); at == place && i > 0 {
				return s.values[i-1]
			}
			return v
		}))
	}
	return steps
}

func (s *scale) text(v int64) string {
	if s.first == epoch.Unix() {
		return time.Unix(v, 0).UTC().Format("15:04:05")
	}
	return fmt.Sprint(v)
}

// count is a number of which the API has 32 bits.
func count(field string, value int32, set func(v int32)) number {
	return number{field, fmt.Sprint(value), int64(value), 1, func(v int64) { set(int32(max(math.MinInt32, min(v, math.MaxInt32)))) }}
}

func priorityOf(o runtime.Object) []number {
	if p, ok := o.(*v1.Pod); ok {
		return []number{count("spec.priority", model.Priority(p), func(v int32) { p.Spec.Priority = &v })}
	}
	if at := groupPriority(o); at != nil {
		return []number{count("spec.priority", ptr.Deref(*at, 0), func(v int32) { *at = &v })}
	}
	return nil
}

func allowanceOf(o runtime.Object) []number {
	if b, ok := o.(*policyv1.PodDisruptionBudget); ok {
		return []number{count("status.disruptionsAllowed", b.Status.DisruptionsAllowed, func(v int32) { b.Status.DisruptionsAllowed = v })}
	}
	return nil
}

func limitsOf(o runtime.Object) (counts []number) {
	n, ok := o.(*storagev1.CSINode)
	for i := 0; ok && i < len(n.Spec.Drivers); i++ {
		if a := n.Spec.Drivers[i].Allocatable; a != nil && a.Count != nil {
			counts = append(counts, count("count", *a.Count, func(v int32) { *a.Count = v }))
		}
	}
	return counts
}

func startTimeOf(o runtime.Object) []number {
	p, ok := o.(*v1.Pod)
	if !ok || p.Status.StartTime == nil {
		return nil
	}
	start := p.Status.StartTime
	return []number{{"status.startTime", start.UTC().Format(time.RFC3339), start.Unix(), 60, func(v int64) { p.Status.StartTime = minute(v) }}}
}

// quantitiesOf are those of all resources, but the ones out of reach.
func quantitiesOf(o runtime.Object) (quantities []number) {
	for _, list := range resourceLists(o) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			if q.CmpInt64(reach) > 0 {
				continue
			}
			quantities = append(quantities, number{string(name), q.String(), inUnits(name, q), unitOf(name), func(v int64) { list[name] = quantity(name, v) }})
		}
	}
	return quantities
}

// fewer makes the numbers of a sort 0, 1, 2 and so on.
func fewer(name string, of func(o runtime.Object) []number) family {
	return func(c *model.Cluster) []step { return newScale(c, name, 1, 0, of).steps() }
}

// epoch is the plainest time. Start times are told apart by minutes after it.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// times makes start times few and plain, with minutes between them. A bound pod
// without one gets one: the scheduler would take the time at which it looks.
// Other times do not matter to a scheduler, except that they are set.
func times(c *model.Cluster) []step {
	steps := []step{{"start times: all set and the same", func(c *model.Cluster) *model.Cluster {
		return editPods(c, func(p *v1.Pod) bool {
			if p.Spec.NodeName != "" {
				p.Status.StartTime = minute(epoch.Unix())
			}
			return p.Spec.NodeName != ""
		})
	}}, {"deletion times: all the same", func(c *model.Cluster) *model.Cluster {
		return editPods(c, func(p *v1.Pod) bool {
			if p.DeletionTimestamp != nil {
				p.DeletionTimestamp = minute(epoch.Add(time.Hour).Unix())
			}
			return p.DeletionTimestamp != nil
		})
	}}}
	for i, o := range c.Objects() {
		if p, ok := o.(*v1.Pod); ok && p.Status.StartTime == nil && p.Spec.NodeName != "" {
			steps = append(steps, step{title(p) + ": with a start time", func(c *model.Cluster) *model.Cluster {
				return editAt(c, i, func(o runtime.Object) bool {
					o.(*v1.Pod).Status.StartTime = minute(epoch.Unix())
					return true
				})
			}})
		}
	}
	return append(steps, newScale(c, "start times", 60, epoch.Unix(), startTimeOf).steps()...)
}

func minute(seconds int64) *metav1.Time {
	t := metav1.Unix(seconds, 0)
	return &metav1.Time{Time: t.UTC()}
}

// quantities makes do with few resources, in small whole numbers.
func quantities(c *model.Cluster) []step {
	names := map[v1.ResourceName]bool{}
	for _, o := range c.Objects() {
		for _, list := range resourceLists(o) {
			for name := range list {
				names[name] = true
			}
		}
	}
	var steps []step
	for _, name := range slices.Sorted(maps.Keys(names)) {
		// Zero is a number of its own, the others begin with one.
		s := newScale(c, string(name), unitOf(name), unitOf(name), func(o runtime.Object) []number {
			return slices.DeleteFunc(quantitiesOf(o), func(n number) bool { return n.field != string(name) || n.value == 0 })
		})
		if name != v1.ResourcePods {
			steps = append(steps, nowhere(name))
		}
		if len(s.values) == 0 { // all are out of reach
			continue
		}
		divisor := int64(0)
		for _, v := range s.values {
			divisor = gcd(divisor, v)
		}
		if divisor > 0 && divisor != s.unit {
			steps = append(steps, s.step(s.name+": divided by what they have in common", func(_ string, v int64) int64 { return v / divisor * s.unit }))
		}
		steps = append(steps, s.step(s.name+": all halved, rounded up", func(_ string, v int64) int64 {
			return (v + 2*s.unit - 1) / (2 * s.unit) * s.unit
		}))
		steps = append(steps, s.steps()...)
		for _, place := range s.places {
			for part := int64(2); len(s.values) > 0 && part <= s.values[len(s.values)-1]/s.unit; part *= 2 {
				steps = append(steps, s.step(fmt.Sprintf("%s: %s less by 1/%d", place, name, part), func(at string, v int64) int64 {
					if at == place {
						v -= v / part / s.unit * s.unit
					}
					return v
				}))
			}
		}
	}
	delete(names, v1.ResourcePods)
	for _, from := range slices.Sorted(maps.Keys(names)) {
		for _, to := range slices.Sorted(maps.Keys(names)) {
			if from != to {
				steps = append(steps, countedAs(from, to))
			}
		}
		if !names[v1.ResourceMemory] {
			steps = append(steps, countedAs(from, v1.ResourceMemory))
		}
	}
	return steps
}

// countedAs makes one resource of two, or another of one: units of from become
// units of to. Memory is the plainest.
func countedAs(from, to v1.ResourceName) step {
	return step{fmt.Sprintf("%s: counted as %s", from, to), func(c *model.Cluster) *model.Cluster {
		return editResource(c, from, func(list v1.ResourceList) {
			v := inUnits(from, list[from]) / unitOf(from) * unitOf(to)
			list[to] = quantity(to, inUnits(to, list[to])+v)
			delete(list, from)
		})
	}}
}

// nowhere leaves a resource out of all objects.
func nowhere(name v1.ResourceName) step {
	return step{"no " + string(name) + " anywhere", func(c *model.Cluster) *model.Cluster {
		return editResource(c, name, func(list v1.ResourceList) { delete(list, name) })
	}}
}
