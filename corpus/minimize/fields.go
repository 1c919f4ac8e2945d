package minimize

import (
	"fmt"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/minimize/fields"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/naming"
)

// singleFields leave single fields out of single objects, and out of the settings.
func singleFields(c *model.Cluster) []step {
	var steps []step
	for i, o := range c.Objects() {
		for _, f := range fields.Of(o) {
			if f.Path == "status.startTime" && o.(*v1.Pod).Spec.NodeName != "" {
				continue // see times
			}
			what := fmt.Sprintf("%s: without %s", title(o), f.Path)
			clear := func(c *model.Cluster) *model.Cluster {
				return editAt(c, i, func(o runtime.Object) bool { return fields.Clear(o, f.Path) })
			}
			steps = append(steps, step{what, clear})
			if _, ok := o.(*v1.Pod); ok && strings.HasPrefix(f.Path, "spec.") {
				steps = append(steps, step{what + " and its room", func(c *model.Cluster) *model.Cluster { return withRoom(c, clear(c), i) }})
			}
		}
	}
	steps = append(steps, configured(c)...)
	for _, f := range fields.Of(&c.Settings) {
		steps = append(steps, step{"settings: without " + f.Path, func(c *model.Cluster) *model.Cluster {
			next := shallow(c)
			next.Settings = c.Settings.DeepCopy()
			fields.Clear(&next.Settings, f.Path)
			for _, e := range next.Settings.Extenders {
				if e.Name == "" {
					return nil
				}
			}
			fields.Prune(&next.Settings)
			return next
		}})
	}
	return steps
}

// sharedFields leave a field out of all objects of a kind at once: a dump has
// many that matter in none.
func sharedFields(c *model.Cluster) []step {
	type place struct {
		kind reflect.Type
		path string
	}
	count := map[place]int{}
	var order []place
	for _, o := range c.Objects() {
		for _, f := range fields.Of(o) {
			if strings.Count(f.Path, ".") > 1 || f.Path == "status.startTime" {
				continue
			}
			p := place{reflect.TypeOf(o), f.Path}
			if count[p]++; count[p] == 2 {
				order = append(order, p)
			}
		}
	}
	var steps []step
	for _, p := range order {
		what := fmt.Sprintf("all objects of kind %s: without %s", p.kind.Elem().Name(), p.path)
		steps = append(steps, step{what, func(c *model.Cluster) *model.Cluster {
			return edit(c, func(_ int, o runtime.Object) bool {
				return reflect.TypeOf(o) == p.kind && fields.Clear(o, p.path)
			})
		}})
	}
	return steps
}

// edit changes copies of objects: change gets a copy of each, with its place in
// c.Objects(), and tells whether it changed it.
func edit(c *model.Cluster, change func(i int, o runtime.Object) bool) *model.Cluster {
	next := shallow(c)
	i := 0
	replace(next, func(o runtime.Object) runtime.Object {
		changed := o.DeepCopyObject()
		change := change(i, changed)
		i++
		if !change {
			return o
		}
		fields.Prune(changed)
		if node, ok := changed.(*v1.Node); ok {
			node.Status.Capacity = nil // admitting makes it the same as allocatable
		}
		return changed
	})
	return next
}

// editAt is edit for the object that has that place.
func editAt(c *model.Cluster, place int, change func(o runtime.Object) bool) *model.Cluster {
	return edit(c, func(i int, o runtime.Object) bool { return i == place && change(o) })
}

// editPods is edit for pods only.
func editPods(c *model.Cluster, change func(p *v1.Pod) bool) *model.Cluster {
	return edit(c, func(_ int, o runtime.Object) bool {
		p, ok := o.(*v1.Pod)
		return ok && change(p)
	})
}

// title names an object for people.
func title(o runtime.Object) string {
	kind := naming.KindOf(o)
	meta, ok := o.(metav1.Object)
	switch {
	case !ok:
		return kind
	case meta.GetNamespace() == "":
		return kind + " " + meta.GetName()
	}
	return kind + " " + model.Key(meta)
}
