package minimize

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// resourceScale is the scale of the quantities of a resource: whole cores for
// CPU, ones for the others.
func resourceScale(name v1.ResourceName) *scale {
	unit := int64(1)
	if name == v1.ResourceCPU {
		unit = 1000
	}
	return &scale{name: string(name), unit: unit, first: unit, replace: func(c *model.Cluster, to func(string, int64) int64) *model.Cluster {
		return editResource(c, name, func(o runtime.Object, list v1.ResourceList) bool {
			v := inUnits(name, list[name])
			w := to(title(o), v)
			if v == 0 || w == v {
				return false
			}
			list[name] = quantity(name, w)
			return true
		})
	}}
}

// editResource is edit for the lists that hold a resource.
func editResource(c *model.Cluster, name v1.ResourceName, change func(o runtime.Object, list v1.ResourceList) bool) *model.Cluster {
	return edit(c, func(_ int, o runtime.Object) bool {
		changed := false
		for _, list := range resourceLists(o) {
			if _, there := list[name]; there && change(o, list) {
				changed = true
			}
		}
		return changed
	})
}

// inUnits is a quantity in thousandths of a core, or ones.
func inUnits(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func quantity(name v1.ResourceName, v int64) resource.Quantity {
	if name == v1.ResourceCPU {
		return *resource.NewMilliQuantity(v, resource.DecimalSI)
	}
	return *resource.NewQuantity(v, resource.DecimalSI)
}

var resourceList = reflect.TypeFor[v1.ResourceList]()

// resourceLists are all in an object, except a node's capacity: see edit.
func resourceLists(o runtime.Object) []v1.ResourceList {
	var lists []v1.ResourceList
	var find func(v reflect.Value)
	find = func(v reflect.Value) {
		switch {
		case v.Type() == resourceList:
			if !v.IsNil() {
				lists = append(lists, v.Interface().(v1.ResourceList))
			}
		case leaves[v.Type()]:
		case v.Kind() == reflect.Pointer && !v.IsNil():
			find(v.Elem())
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				find(v.Index(i))
			}
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() && !(v.Type() == reflect.TypeFor[v1.NodeStatus]() && v.Type().Field(i).Name == "Capacity") {
					find(v.Field(i))
				}
			}
		}
	}
	find(reflect.ValueOf(o))
	return lists
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
