// Package fields finds what an object holds that can be left out, and leaves it out.
//
// Fields are found by reflection, so that nothing an object can hold is overlooked. What the API server
// fills in again, or refuses to miss, the caller has to notice.
package fields

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Field is something in an object that can be left out: a field that is set, an
// element of a list or an entry of a map.
type Field struct {
	// Path is where it is, such as spec.containers[0].
	Path  string
	Value reflect.Value
	// clear leaves it out. Fields of the same list that were found before are void then.
	clear func()
}

// Of returns the fields of an object, each before those inside it, but for what it is not simpler without.
func Of(object any) []Field {
	var all []Field
	Each(object, func(f Field) {
		if !slices.Contains(identity, f.Path) {
			all = append(all, f)
		}
	})
	return all
}

// Clear leaves out the field of a path, of those that Of returns, and tells whether there is one.
func Clear(object any, path string) bool {
	all := Of(object)
	i := slices.IndexFunc(all, func(f Field) bool { return f.Path == path })
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

// foreign are objects of kinds that are not Kubernetes' own: what their fields mean is not known.
var foreign = reflect.TypeFor[unstructured.Unstructured]()

// Each yields what can be left out of an object, and what Of passes over, each before what is inside it.
func Each(object any, yield func(Field)) { walk(reflect.ValueOf(object), "", yield) }

// walk yields what can be left out of v.
func walk(v reflect.Value, path string, yield func(Field)) {
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
			yield(Field{name, v.Field(i), v.Field(i).SetZero})
			walk(v.Field(i), name, yield)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			name := fmt.Sprintf("%s[%d]", path, i)
			yield(Field{name, v.Index(i), func() { v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, v.Len()))) }})
			walk(v.Index(i), name, yield)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			yield(Field{fmt.Sprintf("%s[%s]", path, key), v.MapIndex(key), func() { v.SetMapIndex(key, reflect.Value{}) }})
		}
	}
}

// Prune makes lists and maps nil that have become empty.
func Prune(object any) {
	Each(object, func(f Field) {
		if kind := f.Value.Kind(); (kind == reflect.Slice || kind == reflect.Map) && f.Value.Len() == 0 && f.Value.CanSet() {
			f.Value.SetZero()
		}
	})
}
