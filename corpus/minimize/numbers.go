package minimize

import (
	"cmp"
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

	"github.com/preemptcheck/preemptcheck/model"
)

// scale is the numbers of one sort in a cluster: what matters of them is mostly
// their order.
type scale struct {
	name string
	// unit is the distance of plain numbers, first the lowest of them.
	unit, first int64
	values      []int64 // distinct, ascending
	// replace gives the cluster with other numbers. place is the object that
	// holds the number.
	replace func(c *model.Cluster, to func(place string, v int64) int64) *model.Cluster
	// places holds the objects with a number, in order.
	places []string
}

// steps make the numbers of a scale plain and few: first all at once, then one
// value, then one place. Each makes numbers smaller, or brings them closer to
// first. Gaps are halved, so that a number that matters by itself is found in few
// steps.
func (s *scale) steps() []step {
	var steps []step
	add := func(what string, to func(place string, v int64) int64) {
		steps = append(steps, step{what, func(c *model.Cluster) *model.Cluster { return s.replace(c, to) }})
	}
	everywhere := func(what string, to func(v int64) int64) {
		add(s.name+": "+what, func(_ string, v int64) int64 { return to(v) })
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
		add(fmt.Sprintf("%s: the next lower of the %s", place, s.name), func(at string, v int64) int64 {
			if i := slices.Index(s.values, v); at == place && i > 0 {
				return s.values[i-1]
			}
			return v
		})
	}
	return steps
}

func (s *scale) text(v int64) string {
	if s.unit == int64(time.Minute/time.Second) {
		return time.Unix(v, 0).UTC().Format("15:04:05")
	}
	return fmt.Sprint(v)
}

// see adds a number to the scale.
func (s *scale) see(place string, v int64) {
	if i, there := slices.BinarySearch(s.values, v); !there {
		s.values = slices.Insert(s.values, i, v)
	}
	if len(s.places) == 0 || s.places[len(s.places)-1] != place {
		s.places = append(s.places, place)
	}
}

// integers are the steps of a scale whose numbers are where of finds them in a
// copy of an object.
func integers(c *model.Cluster, name string, of func(o runtime.Object) []*int32) []step {
	s := &scale{name: name, unit: 1, replace: func(c *model.Cluster, to func(string, int64) int64) *model.Cluster {
		return edit(c, func(_ int, o runtime.Object) bool {
			changed := false
			for _, n := range of(o) {
				v := *n
				*n = int32(max(math.MinInt32, min(to(title(o), int64(v)), math.MaxInt32)))
				changed = changed || *n != v
			}
			return changed
		})
	}}
	for _, o := range objects(c) {
		for _, n := range of(o.DeepCopyObject()) {
			s.see(title(o), int64(*n))
		}
	}
	return s.steps()
}

// priorities makes them 0, 1, 2 and so on.
func priorities(c *model.Cluster) []step {
	return integers(c, "priorities", func(o runtime.Object) []*int32 {
		if p, ok := o.(*v1.Pod); ok {
			p.Spec.Priority = cmp.Or(p.Spec.Priority, new(int32))
			return []*int32{p.Spec.Priority}
		}
		return nil
	})
}

// epoch is the plainest time. Start times are told apart by minutes after it.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// times makes start times few and plain, with minutes between them. A bound pod
// without one gets one: the scheduler would take the time at which it looks.
// Other times do not matter to a scheduler, except that they are set.
func times(c *model.Cluster) []step {
	s := &scale{name: "start times", unit: 60, first: epoch.Unix(), replace: func(c *model.Cluster, to func(string, int64) int64) *model.Cluster {
		return editPods(c, func(p *v1.Pod) bool {
			if p.Status.StartTime == nil {
				return false
			}
			v := p.Status.StartTime.Unix()
			w := to(title(p), v)
			if w != v {
				p.Status.StartTime = minute(w)
			}
			return w != v
		})
	}}
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
	for _, p := range c.Pods {
		if p.Status.StartTime != nil {
			s.see(title(p), p.Status.StartTime.Unix())
		} else if p.Spec.NodeName != "" {
			steps = append(steps, step{title(p) + ": with a start time", func(c *model.Cluster) *model.Cluster {
				return editPods(c, func(q *v1.Pod) bool {
					if title(q) != title(p) {
						return false
					}
					q.Status.StartTime = minute(epoch.Unix())
					return true
				})
			}})
		}
	}
	return append(steps, s.steps()...)
}

func minute(seconds int64) *metav1.Time {
	t := metav1.Unix(seconds, 0)
	return &metav1.Time{Time: t.UTC()}
}

// allowances makes the disruptions that budgets allow fewer.
func allowances(c *model.Cluster) []step {
	return integers(c, "disruptions allowed", func(o runtime.Object) []*int32 {
		if b, ok := o.(*policyv1.PodDisruptionBudget); ok {
			return []*int32{&b.Status.DisruptionsAllowed}
		}
		return nil
	})
}

// limits makes the volumes that nodes can attach fewer.
func limits(c *model.Cluster) []step {
	return integers(c, "volumes to attach", func(o runtime.Object) (counts []*int32) {
		n, ok := o.(*storagev1.CSINode)
		for i := 0; ok && i < len(n.Spec.Drivers); i++ {
			if a := n.Spec.Drivers[i].Allocatable; a != nil && a.Count != nil {
				counts = append(counts, a.Count)
			}
		}
		return counts
	})
}

// quantities makes do with few resources, in small whole numbers.
func quantities(c *model.Cluster) []step {
	scales := map[v1.ResourceName]*scale{}
	for _, o := range objects(c) {
		for _, list := range resourceLists(o) {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				if scales[name] == nil {
					scales[name] = resourceScale(name)
				}
				scales[name].see(title(o), inUnits(name, list[name]))
			}
		}
	}
	var steps []step
	for _, name := range slices.Sorted(maps.Keys(scales)) {
		s := scales[name]
		if name != v1.ResourcePods {
			steps = append(steps, nowhere(name))
		}
		divisor := int64(0)
		for _, v := range s.values {
			divisor = gcd(divisor, v)
		}
		if divisor > 0 && divisor != s.unit {
			steps = append(steps, step{s.name + ": divided by what they have in common", func(c *model.Cluster) *model.Cluster {
				return s.replace(c, func(_ string, v int64) int64 { return v / divisor * s.unit })
			}})
		}
		steps = append(steps, step{s.name + ": all halved, rounded up", func(c *model.Cluster) *model.Cluster {
			return s.replace(c, func(_ string, v int64) int64 { return (v + 2*s.unit - 1) / (2 * s.unit) * s.unit })
		}})
		// Zero is a number of its own, the others begin with one.
		s.values = slices.DeleteFunc(s.values, func(v int64) bool { return v <= 0 })
		steps = append(steps, s.steps()...)
		for _, place := range s.places {
			for part := int64(2); len(s.values) > 0 && part <= s.values[len(s.values)-1]/s.unit; part *= 2 {
				what := fmt.Sprintf("%s: %s less by 1/%d", place, name, part)
				steps = append(steps, step{what, func(c *model.Cluster) *model.Cluster {
					return s.replace(c, func(at string, v int64) int64 {
						if at == place {
							v -= v / part / s.unit * s.unit
						}
						return v
					})
				}})
			}
		}
	}
	delete(scales, v1.ResourcePods)
	for _, from := range slices.Sorted(maps.Keys(scales)) {
		for _, to := range slices.Sorted(maps.Keys(scales)) {
			if from != to {
				steps = append(steps, countedAs(from, to))
			}
		}
		if scales[v1.ResourceMemory] == nil {
			steps = append(steps, countedAs(from, v1.ResourceMemory))
		}
	}
	return steps
}

// countedAs makes one resource of two, or another of one: units of from become
// units of to. Memory is the plainest.
func countedAs(from, to v1.ResourceName) step {
	return step{fmt.Sprintf("%s: counted as %s", from, to), func(c *model.Cluster) *model.Cluster {
		return editResource(c, from, func(_ runtime.Object, list v1.ResourceList) bool {
			v := inUnits(from, list[from]) / resourceScale(from).unit * resourceScale(to).unit
			list[to] = quantity(to, inUnits(to, list[to])+v)
			delete(list, from)
			return true
		})
	}}
}

// nowhere leaves a resource out of all objects.
func nowhere(name v1.ResourceName) step {
	return step{"no " + string(name) + " anywhere", func(c *model.Cluster) *model.Cluster {
		return editResource(c, name, func(_ runtime.Object, list v1.ResourceList) bool {
			delete(list, name)
			return true
		})
	}}
}
