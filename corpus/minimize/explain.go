package minimize

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

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
	for _, of := range []func(o runtime.Object) []number{allowanceOf, priorityOf, startTimeOf, quantitiesOf} {
		for i, o := range c.Objects() {
			for k, n := range of(o) {
				for _, by := range []int64{n.unit, -n.unit} {
					nudge := func(o runtime.Object) bool { of(o)[k].set(n.value + by); return true }
					nudged := o.DeepCopyObject()
					nudge(nudged)
					what := fmt.Sprintf("%s: %s %s -> %s", title(o), n.field, n.text, of(nudged)[k].text)
					steps = append(steps, step{what, func(c *model.Cluster) *model.Cluster {
						return editAt(c, i, nudge)
					}})
				}
			}
		}
	}
	return steps
}
