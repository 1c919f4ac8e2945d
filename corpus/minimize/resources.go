package minimize

import (
	"math"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/minimize/fields"
	"github.com/preemptcheck/preemptcheck/model"
)

// unitOf is a whole core for CPU, one for the others.
func unitOf(name v1.ResourceName) int64 {
	if name == v1.ResourceCPU {
		return 1000
	}
	return 1
}

// editResource is edit for the lists that hold a resource.
func editResource(c *model.Cluster, name v1.ResourceName, change func(list v1.ResourceList)) *model.Cluster {
	return edit(c, func(_ int, o runtime.Object) (changed bool) {
		for _, list := range resourceLists(o) {
			if _, there := list[name]; there {
				change(list)
				changed = true
			}
		}
		return changed
	})
}

// reach is up to what quantities are reckoned with: so that sums, and thousandths of a
// core, stay within 64 bits.
const reach = math.MaxInt64 / 1000 / 4

// inUnits is a quantity in thousandths of a core, or ones; the reach, if it is beyond.
func inUnits(name v1.ResourceName, q resource.Quantity) int64 {
	if q.CmpInt64(reach) > 0 {
		return reach * unitOf(name)
	}
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

// resourceLists are all in an object, except a node's capacity: see edit.
func resourceLists(o runtime.Object) (lists []v1.ResourceList) {
	_, isNode := o.(*v1.Node)
	fields.Each(o, func(f fields.Field) {
		if f.Value.Type() == reflect.TypeFor[v1.ResourceList]() && !(isNode && f.Path == "status.capacity") {
			lists = append(lists, f.Value.Interface().(v1.ResourceList))
		}
	})
	return lists
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
