package vary

import (
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// transplant changes any field of one of the objects, at any depth: it gets the value that another object of its kind
// has there, or none, or a list has one of its values twice. Names stay, and so does which group a pod is of.
func (v *varied) transplant(objects, givers []runtime.Object) {
	o := one(v, objects)
	from := one(v, slices.DeleteFunc(slices.Clone(givers), func(from runtime.Object) bool { return reflect.TypeOf(o) != reflect.TypeOf(from) }))
	fields, others := unstructured(o), unstructured(from)
	if fields == nil || others == nil {
		return
	}
	switch draw.Weighted(v.Source, 55, 25, 20) {
	case 0:
		if path := one(v, paths(others, nil)); path != nil {
			set(fields, path, at(others, path))
		}
	case 1:
		if path := one(v, paths(fields, nil)); path != nil {
			set(fields, path, nil)
		}
	default:
		var lists [][]any
		for _, path := range paths(fields, nil) {
			if list, is := at(fields, path).([]any); is && len(list) > 0 {
				lists = append(lists, path)
			}
		}
		if path := one(v, lists); path != nil {
			list := at(fields, path).([]any)
			set(fields, path, append(slices.Clone(list), runtime.DeepCopyJSONValue(one(v, list))))
		}
	}
	changed := reflect.New(reflect.TypeOf(o).Elem())
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, changed.Interface()) != nil {
		return
	}
	if p, is := changed.Interface().(*v1.Pod); !is || len(p.Spec.Containers) > 0 {
		reflect.ValueOf(o).Elem().Set(changed.Elem())
	}
}

// unstructured are the fields of an object; nil if it has none.
func unstructured(o runtime.Object) map[string]any {
	if o == nil || reflect.ValueOf(o).IsNil() {
		return nil
	}
	if _, is := o.(runtime.Unstructured); is {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil
	}
	return fields
}

// kept are the names of fields that stay as they are.
var kept = []string{"apiVersion", "kind", "metadata", "nodeName", "priority", "priorityClassName", "schedulingGroup", "schedulerName", "uid", "phase", "schedulingGates"}

// keeps tells whether there is a field below that stays as it is.
func keeps(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if slices.Contains(kept, name) || keeps(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, keeps)
	}
	return false
}

// paths lead to the fields and values of lists below some that may change, in order.
func paths(value any, before []any) (all [][]any) {
	add := func(step, value any) {
		path := append(slices.Clip(before), step)
		if !keeps(value) {
			all = append(all, path)
		}
		all = append(all, paths(value, path)...)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sorted(value) {
			if !slices.Contains(kept, name) {
				add(name, value[name])
			}
		}
	case []any:
		for i := range value {
			add(i, value[i])
		}
	}
	return all
}

// at is what a path leads to; nil if it leads nowhere.
func at(value any, path []any) any {
	for _, step := range path {
		switch in := value.(type) {
		case map[string]any:
			value = in[step.(string)]
		case []any:
			value = in[step.(int)]
		default:
			return nil
		}
	}
	return value
}

// set changes what a path leads to, if it leads somewhere here. A value of nil takes it away.
func set(value any, path []any, to any) any {
	step, last := path[0], len(path) == 1
	switch in := value.(type) {
	case map[string]any:
		name, is := step.(string)
		switch {
		case !is:
		case last && to == nil:
			delete(in, name)
		case last:
			in[name] = to
		case in[name] != nil:
			in[name] = set(in[name], path[1:], to)
		}
	case []any:
		i, is := step.(int)
		if !is || len(in) == 0 {
			return in
		}
		i %= len(in)
		switch {
		case last && to == nil:
			return slices.Delete(in, i, i+1)
		case last:
			in[i] = to
		default:
			in[i] = set(in[i], path[1:], to)
		}
		return in
	}
	return value
}
