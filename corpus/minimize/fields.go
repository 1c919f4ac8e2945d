package minimize

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/naming"
)

// Fields are found by reflection, so that nothing an object can hold is
// overlooked: what the API server fills in again, or refuses to miss, step.take
// notices.

// field is something in an object that can be left out: a field that is set, an
// element of a list or an entry of a map.
type field struct {
	path  string
	value reflect.Value
	// clear leaves it out. Fields of the same list that were found before are void then.
	clear func()
}

// fieldsOf lists the fields of an object, each before those inside it.
func fieldsOf(object any) []field {
	var all []field
	walk(reflect.ValueOf(object), "", func(f field) {
		if !slices.Contains(identity, f.path) {
			all = append(all, f)
		}
	})
	return all
}

// clearField leaves out the field of a path, and tells whether there is one.
func clearField(object any, path string) bool {
	all := fieldsOf(object)
	i := slices.IndexFunc(all, func(f field) bool { return f.path == path })
	if i >= 0 {
		all[i].clear()
	}
	return i >= 0
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

// walk yields what can be left out of v.
func walk(v reflect.Value, path string, yield func(field)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, yield)
		}
	case reflect.Struct:
		if leaves[v.Type()] || v.Type() == foreign {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || v.Field(i).IsZero() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous { // inlined
				walk(v.Field(i), path, yield)
				continue
			}
			name = strings.TrimPrefix(path+"."+name, ".")
			yield(field{name, v.Field(i), v.Field(i).SetZero})
			walk(v.Field(i), name, yield)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			name := fmt.Sprintf("%s[%d]", path, i)
			yield(field{name, v.Index(i), func() { v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, v.Len()))) }})
			walk(v.Index(i), name, yield)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			yield(field{fmt.Sprintf("%s[%s]", path, key), v.MapIndex(key), func() { v.SetMapIndex(key, reflect.Value{}) }})
		}
	}
}

// fields leave single fields out of single objects, and out of the settings.
func fields(c *model.Cluster) []step {
	var steps []step
	for i, o := range c.Objects() {
		for _, f := range fieldsOf(o) {
			if f.path == "status.startTime" && o.(*v1.Pod).Spec.NodeName != "" {
				continue // see times
			}
			what := fmt.Sprintf("%s: without %s", title(o), f.path)
			clear := func(c *model.Cluster) *model.Cluster {
				return editAt(c, i, func(o runtime.Object) bool { return clearField(o, f.path) })
			}
			steps = append(steps, step{what, clear})
			if _, ok := o.(*v1.Pod); ok && strings.HasPrefix(f.path, "spec.") {
				steps = append(steps, step{what + " and its room", func(c *model.Cluster) *model.Cluster { return withRoom(c, clear(c), i) }})
			}
		}
	}
	steps = append(steps, configured(c)...)
	for _, f := range fieldsOf(&c.Settings) {
		steps = append(steps, step{"settings: without " + f.path, func(c *model.Cluster) *model.Cluster {
			next := shallow(c)
			next.Settings = c.Settings.DeepCopy()
			clearField(&next.Settings, f.path)
			for _, e := range next.Settings.Extenders {
				if e.Name == "" {
					return nil
				}
			}
			prune(&next.Settings)
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
				return reflect.TypeOf(o) == p.kind && clearField(o, p.path)
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
		prune(changed)
		if node, ok := changed.(*v1.Node); ok {
			node.Status.Capacity = nil // admitting makes it the same as allocatable
		}
		return changed
	})
	return next
}

// foreign are objects of kinds that are not Kubernetes' own: what their fields mean is not known.
var foreign = reflect.TypeFor[unstructured.Unstructured]()

// prune makes lists and maps nil that have become empty.
func prune(object any) {
	walk(reflect.ValueOf(object), "", func(f field) {
		if kind := f.value.Kind(); (kind == reflect.Slice || kind == reflect.Map) && f.value.Len() == 0 && f.value.CanSet() {
			f.value.SetZero()
		}
	})
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
