package minimize

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/model"
)

// Fields are found by reflection, so that nothing an object can hold is
// overlooked: what the API server fills in again, or refuses to miss, step.take
// notices.

// field is something in an object that can be left out: a field that is set, an
// element of a list or an entry of a map.
type field struct {
	path string
	// clear leaves it out of a copy of the object.
	clear func(object reflect.Value)
}

// fieldsOf lists the fields of an object, each before those inside it.
func fieldsOf(object any) []field {
	var all []field
	walk(reflect.ValueOf(object).Elem(), "", func(object reflect.Value) reflect.Value { return object.Elem() }, func(f field) {
		if !slices.Contains(identity, f.path) {
			all = append(all, f)
		}
	})
	return all
}

// identity is what an object is not simpler without: names, where a bound pod
// is, that a node runs pods at all, and what the API server keeps equal to
// something else.
var identity = []string{"kind", "apiVersion", "metadata", "metadata.name", "spec", "spec.nodeName",
	"status", "status.capacity", "status.allocatable", "status.allocatable[pods]"}

// leaves are structs that are values.
var leaves = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity]():  true,
	reflect.TypeFor[metav1.Time]():        true,
	reflect.TypeFor[metav1.MicroTime]():   true,
	reflect.TypeFor[intstr.IntOrString](): true,
}

// walk yields what can be left out of v, which at finds in an object.
func walk(v reflect.Value, path string, at func(reflect.Value) reflect.Value, yield func(field)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			walk(v.Elem(), path, func(o reflect.Value) reflect.Value { return at(o).Elem() }, yield)
		}
	case reflect.Struct:
		if leaves[v.Type()] {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || v.Field(i).IsZero() {
				continue
			}
			inner := func(o reflect.Value) reflect.Value { return at(o).Field(i) }
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous { // inlined
				walk(v.Field(i), path, inner, yield)
				continue
			}
			name = strings.TrimPrefix(path+"."+name, ".")
			yield(field{name, func(o reflect.Value) { inner(o).SetZero() }})
			walk(v.Field(i), name, inner, yield)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			name := fmt.Sprintf("%s[%d]", path, i)
			yield(field{name, func(o reflect.Value) {
				list := at(o)
				list.Set(reflect.AppendSlice(list.Slice(0, i), list.Slice(i+1, list.Len())))
			}})
			walk(v.Index(i), name, func(o reflect.Value) reflect.Value { return at(o).Index(i) }, yield)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			yield(field{fmt.Sprintf("%s[%s]", path, key), func(o reflect.Value) { at(o).SetMapIndex(key, reflect.Value{}) }})
		}
	}
}

// fields leave single fields out of single objects, and out of the settings.
func fields(c *model.Cluster) []step {
	var steps []step
	for i, o := range objects(c) {
		for _, f := range fieldsOf(o) {
			if f.path == "status.startTime" && o.(*v1.Pod).Spec.NodeName != "" {
				continue // see times
			}
			what := fmt.Sprintf("%s: without %s", title(o), f.path)
			clear := func(c *model.Cluster) *model.Cluster {
				return edit(c, func(j int, o runtime.Object) bool {
					if i == j {
						f.clear(reflect.ValueOf(o))
					}
					return i == j
				})
			}
			steps = append(steps, step{what, clear})
			if _, ok := o.(*v1.Pod); ok && strings.HasPrefix(f.path, "spec.") {
				steps = append(steps, step{what + " and its room", func(c *model.Cluster) *model.Cluster { return withRoom(c, clear(c), i) }})
			}
		}
	}
	for _, f := range fieldsOf(&c.Settings) {
		steps = append(steps, step{"settings: without " + f.path, func(c *model.Cluster) *model.Cluster {
			next := shallow(c)
			next.Settings = c.Settings.DeepCopy()
			f.clear(reflect.ValueOf(&next.Settings))
			for _, e := range next.Settings.Extenders {
				if e.Name == "" {
					return nil
				}
			}
			prune(reflect.ValueOf(&next.Settings))
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
	for _, o := range objects(c) {
		for _, f := range fieldsOf(o) {
			if strings.Count(f.path, ".") > 1 || f.path == "status.startTime" {
				continue
			}
			p := place{reflect.TypeOf(o), f.path}
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
				if reflect.TypeOf(o) != p.kind {
					return false
				}
				for _, f := range fieldsOf(o) {
					if f.path == p.path {
						f.clear(reflect.ValueOf(o))
						return true
					}
				}
				return false
			})
		}})
	}
	return steps
}

// edit changes copies of objects: change gets a copy of each, with its place in
// objects(c), and tells whether it changed it.
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
		prune(reflect.ValueOf(changed))
		if node, ok := changed.(*v1.Node); ok {
			node.Status.Capacity = nil // admitting makes it the same as allocatable
		}
		return changed
	})
	return next
}

// prune makes lists and maps nil that have become empty.
func prune(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			prune(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !leaves[v.Type()] {
				prune(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 && v.CanSet() {
			v.SetZero()
		}
		for i := 0; v.Kind() == reflect.Slice && i < v.Len(); i++ {
			prune(v.Index(i))
		}
	}
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
	kind := reflect.TypeOf(o).Elem().Name()
	meta, ok := o.(metav1.Object)
	switch {
	case !ok:
		return kind
	case meta.GetNamespace() == "":
		return kind + " " + meta.GetName()
	}
	return kind + " " + model.Key(meta)
}
