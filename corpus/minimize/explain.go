package minimize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// explain tells what each step that was not taken leads to, now that everything
// is looked at and not only the property in question, and finds the nearest
// cluster on which nothing is found: one number away, else one field, else one
// object.
func (m *minimiser) explain() {
	nudged := following(m.c, []family{nudges}, place{})
	inOrder(m, nudged, m.everything, func(p place, c *model.Cluster, a answer) bool {
		if a.becomes == Agrees {
			m.result.Neighbour = &Neighbour{p.what, c}
		}
		return a.becomes != Agrees
	})
	var agreeing []*Need
	for i := range m.result.Needs {
		if n := &m.result.Needs[i]; n.Becomes == Agrees {
			n.Becomes = gone
			agreeing = append(agreeing, n)
		}
	}
	inOrder(m, func(yield func(*Need, func() *model.Cluster) bool) {
		for _, n := range agreeing {
			if !yield(n, func() *model.Cluster { return n.cluster }) {
				return
			}
		}
	}, m.everything, func(n *Need, _ *model.Cluster, a answer) bool {
		n.Becomes = a.becomes
		return true
	})
	for _, removed := range []bool{false, true} {
		for _, n := range m.result.Needs {
			isRemoval := strings.HasPrefix(n.Step, without)
			if m.result.Neighbour == nil && n.Becomes == Agrees && removed == isRemoval {
				m.result.Neighbour = &Neighbour{n.Step, n.cluster}
			}
		}
	}
}

// nudges change one number by one, the least edit there is.
func nudges(c *model.Cluster) []step {
	var steps []step
	add := func(o runtime.Object, what string, from, to any, change func(o runtime.Object)) {
		steps = append(steps, step{fmt.Sprintf("%s: %s %v -> %v", title(o), what, from, to), func(c *model.Cluster) *model.Cluster {
			return edit(c, func(_ int, other runtime.Object) bool {
				if title(o) == title(other) {
					change(other)
				}
				return title(o) == title(other)
			})
		}})
	}
	for _, b := range c.PodDisruptionBudgets {
		for _, by := range []int32{1, -1} {
			allowed := b.Status.DisruptionsAllowed
			add(b, "status.disruptionsAllowed", allowed, allowed+by, func(o runtime.Object) {
				o.(*policyv1.PodDisruptionBudget).Status.DisruptionsAllowed += by
			})
		}
	}
	for _, p := range pods(c) {
		for _, by := range []int32{1, -1} {
			priority := model.Priority(p) + by
			add(p, "spec.priority", priority-by, priority, func(o runtime.Object) { o.(*v1.Pod).Spec.Priority = &priority })
		}
	}
	for _, p := range c.Pods {
		if start := p.Status.StartTime; start != nil {
			for _, by := range []time.Duration{time.Minute, -time.Minute} {
				to := start.Add(by)
				add(p, "status.startTime", start.Format(time.RFC3339), to.UTC().Format(time.RFC3339), func(o runtime.Object) {
					o.(*v1.Pod).Status.StartTime = minute(to.Unix())
				})
			}
		}
	}
	for _, o := range objects(c) {
		for i, list := range resourceLists(o) {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				for _, by := range []int64{1, -1} {
					from := list[name]
					to := quantity(name, inUnits(name, from)+by*resourceScale(name).unit)
					add(o, string(name), from.String(), to.String(), func(o runtime.Object) { resourceLists(o)[i][name] = to })
				}
			}
		}
	}
	return steps
}
